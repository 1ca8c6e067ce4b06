"""What is looked at on one text, how it is decided, and the words for it."""

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

Row = Mapping[str, Any]
Curve = Mapping[Any, Row]
Interval = tuple[float, float]
Growth = tuple[float, Interval]  # an exponent, and those that the points' intervals allow
_OVER_LENGTH = ("vanishing", "fig2a")


@dataclass(frozen=True, eq=False)
class Evidence:
    """The frames of one text, the choice that was measured in full, the reading of Algorithm 5."""

    frames: dict[str, pl.DataFrame]
    choice: dict[str, str]
    reading: tuple[str, str] = ("scaled", "random")

    def rows(self, figure: str, **where: Any) -> list[dict[str, Any]]:
        """A figure's rows, of the choice where it has several."""
        frame = self.frames[figure]
        own = {name: value for name, value in self.choice.items() if name in frame.columns}
        return frame.filter(pl.lit(True), **own, **where).to_dicts()

    def row(self, figure: str, **where: Any) -> dict[str, Any] | None:
        return next(iter(self.rows(figure, **where)), None)

    def others(self, figure: str) -> list[dict[str, Any]]:
        """The rows of the other choices."""
        own = self.rows(figure)
        return [row for row in self.frames[figure].to_dicts() if row not in own]

    def curve(self, figure: str, measure: str, rule: str = "model") -> dict[int, dict[str, Any]]:
        """A measure's rows by L or N, under the model's own rule unless another is named."""
        along = "length" if figure in _OVER_LENGTH else "top_n"
        found = {row[along]: row for row in self.rows(figure, measure=measure, rule=rule)}
        return dict(sorted(found.items()))

    def curves(self, figure: str, *measures: str) -> list[dict[int, dict[str, Any]]]:
        return [self.curve(figure, measure) for measure in measures]


@dataclass(frozen=True)
class Seen:
    """A claim on one text: our numbers under both formulas, and the word for them."""

    printed: str
    verdict: str
    corrected: str = "same"
    comment: str = ""


UNSEEN = Seen(
    "not measured",
    UNTESTABLE,
    "not measured",
    "The run has too few N, lengths or temperatures for it.",
)
Look = Callable[[Evidence], Seen | None]


@dataclass(frozen=True)
class Claim:
    """What the paper says where, its number, and how a text is asked; None: it cannot tell."""

    claim: str
    where: str
    statement: str
    paper: str
    look: Look

    def __call__(self, evidence: Evidence) -> Seen:
        return self.look(evidence) or UNSEEN


def claim(claim: str, where: str, statement: str, paper: str) -> Callable[[Look], Claim]:
    """The claim that a function looks at."""
    return lambda look: Claim(claim, where, statement, paper, look)


def told(row: Row, digits: int = 0, name: str = "mean") -> str:
    """A number with its interval, where there is one."""
    if row["low"] is None:
        return f"{row[name]:.{digits}f}"
    return f"{row[name]:.{digits}f} ({row['low']:.{digits}f} to {row['high']:.{digits}f})"


def at_longest(curve: Curve, digits: int = 0) -> str:
    """The value at the longest L, in words."""
    return f"{told(curve[max(curve)], digits)} at L = {max(curve)}"


def reach(row: Row, name: str = "mean") -> Interval:
    """A mean's interval; the mean alone where there is none."""
    low, high = row["low"], row["high"]
    return (row[name], row[name]) if low is None or high is None else (low, high)


def ratio(above: Interval, below: Interval) -> Interval:
    """The widest interval of a ratio; both are positive."""
    return above[0] / below[1], above[1] / below[0]


def growth(curve: Curve, of: str = "mean") -> Growth | None:
    """The least-squares slope of log mean over log place, and the slopes that the intervals of the
    points allow, tilted from one end to the other; None with fewer than two points."""
    there = {place: row for place, row in curve.items() if row[of]}
    if len(there) < 2:
        return None
    middle = math.exp(sum(map(math.log, there)) / len(there))
    tilted = [
        _slope((place, reach(row, of)[side != (place > middle)]) for place, row in there.items())
        for side in (True, False)
    ]
    return _slope((place, row[of]) for place, row in there.items()), (min(tilted), max(tilted))


def _slope(points: Iterable[tuple[int | float, float]]) -> float:
    places, values = np.log(np.array(list(points), np.float64)).T
    return float(np.polyfit(places, values, 1)[0])


def power(found: Growth | None, of: str = "L", ends: bool = True) -> str:
    """A growth in words."""
    if found is None:
        return "no curve"
    slope, (low, high) = found
    wide = f" ({low:.2f} to {high:.2f})" if ends and high - low >= 0.005 else ""
    return f"{of}^{round(slope, 2) + 0.0:.2f}{wide}"  # + 0.0: no "-0.00"


def within(interval: Interval, ends: Interval) -> bool | None:
    """Whether an interval lies within two limits; None if it reaches over one of them."""
    if ends[0] <= interval[0] and interval[1] <= ends[1]:
        return True
    return False if interval[1] < ends[0] or ends[1] < interval[0] else None


def below(interval: Interval, limit: float) -> bool | None:
    return within(interval, (-math.inf, limit))


def above(interval: Interval, limit: float) -> bool | None:
    return within(interval, (limit, math.inf))


def both(*answers: bool | None) -> bool | None:
    """And: a no decides, else what is undecided."""
    if False in answers:
        return False
    return None if None in answers else True


def word(holds: bool | None, judged: bool = True) -> str:
    """The word for a claim that was looked at under one formula."""
    return either(holds, holds, judged)


def either(printed: bool | None, corrected: bool | None, judged: bool = True) -> str:
    """The word for a claim that was looked at under two formulas."""
    if not judged:
        return FEW_ROWS
    if corrected:
        return REPRODUCED
    if printed is None or corrected is None:
        return UNDECIDED
    return PRINTED_ONLY if printed else NOT_REPRODUCED


def enough(row: Row, rows: int = limits.ROWS) -> bool:
    """Whether a number has rows and windows enough to be judged by."""
    return (row["rows"] or 0) >= rows and (row["windows"] or 0) >= limits.WINDOWS
