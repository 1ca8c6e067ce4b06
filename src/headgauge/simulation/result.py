"""What a simulation found: its tables, and how to keep and show them."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from headgauge.runs import SIMULATION, Manifest, load_run
from headgauge.shown import Shown

SOURCE = "attention dynamics after arXiv 2510.22026"


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Shown):
    """`tables` has the frames of `results.dynamics_schema` by name; some may be empty."""

    manifest: Manifest
    tables: dict[str, pl.DataFrame]
    folder: Path | None = None

    @staticmethod
    def load(folder: str | Path) -> "Simulation":
        """A finished simulation from its folder; nothing is computed again."""
        run = load_run(folder, SIMULATION)
        return Simulation(run.manifest, run.tables, run.folder)

    @staticmethod
    def is_in(folder: str | Path) -> bool:
        return SIMULATION.is_in(folder)

    def caption(self) -> str:
        """What was simulated, in a line for a figure or the head of a page."""
        chosen = self.manifest["settings"]
        seeds = chosen["seeds"]
        return (
            f"n = {chosen['tokens']}, d = {chosen['dim']}, β = {chosen['beta']:g}, "
            f"t up to {chosen['horizon']:g}, {seeds} seed{'s' if seeds > 1 else ''}"
        )

    def figure_words(self) -> str:
        """What every figure stands on; each says the n, β and seeds of its own table."""
        chosen = self.manifest["settings"]
        return f"{SOURCE}; equal angles: n = {chosen['tokens']}, β = {chosen['beta']:g}"

    def __repr__(self) -> str:
        return f"<simulation: {self.caption()}>"
