"""What the judges look at, and the words they use."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from headgauge.results.paper_schema import (
    NOT_REPRODUCED,
    PRINTED_ONLY,
    REPRODUCED,
    UNTESTABLE,
    PaperVerdictRow,
)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The frames of a reproduction, and the choice that was measured in full."""

    frames: dict[str, pl.DataFrame]
    choice: dict[str, str]

    def curve(self, figure: str, measure: str, along: str) -> dict[int, dict[str, Any]]:
        """A measure's rows by L or N, under the model's own rule."""
        found = self.frames[figure].filter(measure=measure, rule="model", **self.choice)
        return {row[along]: row for row in found.sort(along).iter_rows(named=True)}

    def tighter(self, figure: str, along: str) -> str:
        """How far the corrected sandwich is above the distance, at the last place of a figure."""
        upper, distance = (self.curve(figure, name, along) for name in ("bound_upper", "distance"))
        last = max(upper.keys() & distance.keys(), default=None)
        if last is None:
            return "not measured"
        return f"sandwich: {upper[last]['mean'] / distance[last]['mean']:.3f} × the distance"


def told(row: dict[str, Any], digits: int = 0) -> str:
    """A mean with its interval, where there is one."""
    if row["low"] is None:
        return f"{row['mean']:.{digits}f}"
    return f"{row['mean']:.{digits}f} ({row['low']:.{digits}f} to {row['high']:.{digits}f})"


def at_longest(curve: dict[int, dict[str, Any]], digits: int = 0) -> str:
    """The value at the longest L, in words."""
    return f"{told(curve[max(curve)], digits)} at L = {max(curve)}"


Judge = Callable[[Evidence], PaperVerdictRow]


def log_slope(curve: dict[int, dict[str, Any]] | dict[float, dict[str, Any]]) -> float | None:
    """The least-squares slope of log mean over log place; None with fewer than two points."""
    there = [(place, row["mean"]) for place, row in curve.items() if row["mean"]]
    if len(there) < 2:
        return None
    places, means = np.log(np.array(there, np.float64)).T
    return float(np.polyfit(places, means, 1)[0])


def word(holds: bool) -> str:
    """Reproduced or not, where there is one formula."""
    return REPRODUCED if holds else NOT_REPRODUCED


def either(printed: bool, corrected: bool) -> str:
    """The word for a claim that was looked at under two formulas."""
    if corrected:
        return REPRODUCED
    return PRINTED_ONLY if printed else NOT_REPRODUCED


def absent(claim: str, where: str, paper: str) -> PaperVerdictRow:
    """A claim that this run cannot speak of."""
    return PaperVerdictRow(
        claim=claim,
        where=where,
        statement=claim,
        paper=paper,
        printed="not measured",
        corrected="not measured",
        verdict=UNTESTABLE,
        comment="The run has too few N, lengths or temperatures for it.",
    )


def power(slope: float | None) -> str:
    """A growth in words."""
    return "no curve" if slope is None else f"L^{slope:.2f}"
