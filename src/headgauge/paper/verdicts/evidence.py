"""What the judges look at on one text, how they decide, and the words they use."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from headgauge.paper import limits
from headgauge.runs.paper_schema import (
    FEW_ROWS,
    NOT_REPRODUCED,
    PRINTED_ONLY,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
)

Curve = Mapping[Any, Mapping[str, Any]]
Interval = tuple[float, float]


@dataclass(frozen=True)
class Seen:
    """A claim on one text: what the paper says, what was measured, and the word for it."""

    claim: str
    where: str
    statement: str
    paper: str
    printed: str
    corrected: str
    verdict: str
    comment: str = ""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The frames of one text, the choice that was measured in full, the reading of Algorithm 5."""

    frames: dict[str, pl.DataFrame]
    choice: dict[str, str]
    reading: tuple[str, str] = ("scaled", "random")

    def curve(
        self, figure: str, measure: str, along: str, rule: str = "model"
    ) -> dict[int, dict[str, Any]]:
        """A measure's rows by L or N, under the model's own rule unless another is named."""
        found = self.frames[figure].filter(measure=measure, rule=rule)
        found = found.filter(**{k: v for k, v in self.choice.items() if k in found.columns})
        return {row[along]: row for row in found.sort(along).iter_rows(named=True)}

    def tighter(self, figure: str, along: str) -> str:
        """How far the corrected sandwich is above the distance, at the last place of a figure."""
        upper, distance = (self.curve(figure, name, along) for name in ("bound_upper", "distance"))
        last = max(upper.keys() & distance.keys(), default=None)
        if last is None:
            return "not measured"
        return f"sandwich: {upper[last]['mean'] / distance[last]['mean']:.3f} × the distance"


Judge = Callable[[Evidence], Seen]


def told(row: Mapping[str, Any], digits: int = 0, name: str = "mean") -> str:
    """A number with its interval, where there is one."""
    if row["low"] is None:
        return f"{row[name]:.{digits}f}"
    return f"{row[name]:.{digits}f} ({row['low']:.{digits}f} to {row['high']:.{digits}f})"


def at_longest(curve: Curve, digits: int = 0) -> str:
    """The value at the longest L, in words."""
    return f"{told(curve[max(curve)], digits)} at L = {max(curve)}"


def reach(row: Mapping[str, Any], name: str = "mean") -> Interval:
    """A mean's interval; the mean alone where there is none."""
    low, high = row["low"], row["high"]
    return (row[name], row[name]) if low is None or high is None else (low, high)


def ratio(above: Interval, below: Interval) -> Interval:
    """The widest interval of a ratio; both are positive."""
    return above[0] / below[1], above[1] / below[0]


def log_slope(curve: Curve, of: str = "mean") -> float | None:
    """The least-squares slope of log mean over log place; None with fewer than two points."""
    there = [(place, row[of]) for place, row in curve.items() if row[of]]
    return _slope(there) if len(there) > 1 else None


def slope_reach(curve: Curve, of: str = "mean") -> Interval | None:
    """The slopes that the intervals of the points allow, tilted from one end to the other."""
    there = {place: reach(row, of) for place, row in curve.items() if row[of]}
    if len(there) < 2:
        return None
    middle = math.exp(sum(map(math.log, there)) / len(there))
    tilted = [
        _slope([(place, ends[side != (place > middle)]) for place, ends in there.items()])
        for side in (True, False)
    ]
    return min(tilted), max(tilted)


def _slope(points: Iterable[tuple[int | float, float]]) -> float:
    places, values = np.log(np.array(list(points), np.float64)).T
    return float(np.polyfit(places, values, 1)[0])


def within(interval: Interval, ends: Interval) -> bool | None:
    """Whether an interval lies within two limits; None if it reaches over one of them."""
    if ends[0] <= interval[0] and interval[1] <= ends[1]:
        return True
    return False if interval[1] < ends[0] or ends[1] < interval[0] else None


def below(interval: Interval, limit: float) -> bool | None:
    """Whether an interval lies below a limit."""
    return within(interval, (-math.inf, limit))


def both(*answers: bool | None) -> bool | None:
    """And: a no decides, else what is undecided."""
    if False in answers:
        return False
    return None if None in answers else True


def word(holds: bool | None, judged: bool = True) -> str:
    """The word for a claim that was looked at under one formula."""
    if not judged:
        return FEW_ROWS
    return UNDECIDED if holds is None else REPRODUCED if holds else NOT_REPRODUCED


def either(printed: bool | None, corrected: bool | None, judged: bool = True) -> str:
    """The word for a claim that was looked at under two formulas."""
    if not judged:
        return FEW_ROWS
    if corrected:
        return REPRODUCED
    if printed is None or corrected is None:
        return UNDECIDED
    return PRINTED_ONLY if printed else NOT_REPRODUCED


def enough(curve: Curve, rows: int = limits.ROWS) -> bool:
    """Whether the last place of a curve has rows and windows enough to be judged by."""
    if not curve:
        return False
    last = curve[max(curve)]
    return (last["rows"] or 0) >= rows and (last["windows"] or 0) >= limits.WINDOWS


def absent(claim: str, where: str, paper: str) -> Seen:
    """A claim that this run cannot speak of."""
    return Seen(
        claim=claim,
        where=where,
        statement=claim,
        paper=paper,
        printed="not measured",
        corrected="not measured",
        verdict=UNTESTABLE,
        comment="The run has too few N, lengths or temperatures for it.",
    )


def power(slope: float | None, interval: Interval | None = None, of: str = "L") -> str:
    """A growth in words."""
    if slope is None:
        return "no curve"
    wide = interval is not None and interval[1] - interval[0] >= 0.005
    ends = f" ({interval[0]:.2f} to {interval[1]:.2f})" if wide and interval is not None else ""
    return f"{of}^{round(slope, 2) + 0.0:.2f}{ends}"  # + 0.0: no "-0.00"
