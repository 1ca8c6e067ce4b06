"""What a simulation found: its tables, and how to keep and show them."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from headgauge.registry import names
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

    def stands(self) -> list[str]:
        """What was let go, and from where: said before any number."""
        chosen = self.manifest["settings"]
        matrices = names.listed([names.WEIGHTS[each] for each in chosen["weights"]])
        sees = "those before it" if chosen["causal"] else "all"
        return [
            f"swarms: tokens drawn evenly from the sphere, {matrices}, {chosen['rule']}, each sees "
            f"{sees}; equal angles: as many tokens, every pair at one angle, solved exactly"
        ]

    def finding(self) -> str:
        """Which schemes collapsed and when, which did not, and what to do, in a paragraph."""
        collapse, horizon = self.tables["collapse"], self.manifest["settings"]["horizon"]
        if collapse.is_empty():
            return "No swarms were simulated, so nothing is said of collapse."
        found = []
        for (weights,), own in collapse.group_by("weights", maintain_order=True):
            found.append(f"with {names.WEIGHTS[str(weights)]}, {_collapsed(own)}")
        return (
            f"Until t = {horizon:g}, {'; '.join(found)}. The longer a scheme keeps its tokens "
            "apart, the more layers have something to tell apart; headgauge scan --depth shows "
            "where the layers of a model stand."
        )

    def figure_words(self) -> str:
        """What every figure stands on; each says the n, β and seeds of its own table."""
        chosen = self.manifest["settings"]
        return f"{SOURCE}; equal angles: n = {chosen['tokens']}, β = {chosen['beta']:g}"

    def __repr__(self) -> str:
        return f"<simulation: {self.caption()}>"


def _collapsed(rows: pl.DataFrame) -> str:
    """The schemes that all, some and none of the seeds of collapsed under, the soonest first."""
    parts: dict[str, list[str]] = {"collapsed": [], "did in part": [], "did not": []}
    for row in rows.sort("time", nulls_last=True, maintain_order=True).iter_rows(named=True):
        title, share = names.scheme(row["scheme"]).title, row["collapsed"]
        if share == 1:
            parts["collapsed"].append(f"{title} (t = {row['time']:.3g})")
        elif share > 0:
            parts["did in part"].append(f"{title} ({100 * share:.0f} % of the seeds)")
        else:
            parts["did not"].append(title)
    return ", ".join(
        f"{names.listed(schemes)} {what}" for what, schemes in parts.items() if schemes
    )
