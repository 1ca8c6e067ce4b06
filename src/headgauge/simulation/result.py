"""What a simulation found: its tables, and how to keep and show them."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from headgauge.errors import InputError
from headgauge.runs.manifest import Manifest
from headgauge.runs.simulation_folder import has_simulation, load_simulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SOURCE = "attention dynamics after arXiv 2510.22026"


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """`tables` has the frames of `results.dynamics_schema` by name; some may be empty."""

    manifest: Manifest
    tables: dict[str, pl.DataFrame]
    folder: Path | None = None

    @staticmethod
    def load(folder: str | Path) -> "Simulation":
        """A finished simulation from its folder; nothing is computed again."""
        return Simulation(*load_simulation(folder), Path(folder))

    @staticmethod
    def is_in(folder: str | Path) -> bool:
        return has_simulation(folder)

    def caption(self) -> str:
        """What was simulated, in a line for a figure or the head of a page."""
        chosen = self.manifest["settings"]
        seeds = chosen["seeds"]
        return (
            f"n = {chosen['tokens']}, d = {chosen['dim']}, β = {chosen['beta']:g}, "
            f"t up to {chosen['horizon']:g}, {seeds} seed{'s' if seeds > 1 else ''}"
        )

    def draw(self) -> list[Path]:
        """The page, the figures and the animation, into the folder; the page first."""
        from headgauge.report.dynamics import dynamics_figures, sphere_animation
        from headgauge.report.page import page, write_page

        if self.folder is None:
            raise InputError("this simulation has no folder to draw into: run it with one")
        drawn = [write_page(self.folder, page(self))]
        drawn += dynamics_figures(self.tables, self._figure_words(), self.folder)
        if len(self.tables["sphere"]):
            drawn.append(sphere_animation(self.tables["sphere"], _SOURCE, self.folder))
        return drawn

    def plot(self, name: str = "dynamics") -> "Figure":
        """One figure, as matplotlib has them, by the name of its file in figures/: "dynamics", the
        overview, "gamma", "swarms", "phase", "rates", "collapse" or "sphere", its end."""
        from headgauge.report import plots

        return plots.draw(plots.simulation_figures(self.tables, self._figure_words()), name)

    def _figure_words(self) -> str:
        # Figures say the n, β and seeds of their tables; the table of rates has none.
        chosen = self.manifest["settings"]
        return f"{_SOURCE}; equal angles: n = {chosen['tokens']}, β = {chosen['beta']:g}"

    def __repr__(self) -> str:
        return f"<simulation: {self.caption()}>"
