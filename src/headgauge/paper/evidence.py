"""What is looked at on one text, how it is decided, and the words for it."""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from headgauge.paper import limits
from headgauge.runs import paper_schema as words

NO_CURVE = "no curve"


class Interval(NamedTuple):
    low: float
    high: float

    def within(self, low: float, high: float) -> bool | None:
        """Whether it lies within two limits; None if it reaches over one of them."""
        if low <= self.low and self.high <= high:
            return True
        return False if self.high < low or high < self.low else None

    def below(self, limit: float) -> bool | None:
        return self.within(-math.inf, limit)

    def above(self, limit: float) -> bool | None:
        return self.within(limit, math.inf)

    def over(self, other: "Interval") -> "Interval":
        """The widest interval of a ratio; both are positive."""
        return Interval(self.low / other.high, self.high / other.low)


class Row(dict[str, Any]):
    """A row of a figure's table."""

    def in_words(self, digits: int = 0, name: str = "mean") -> str:
        """A number with its interval, where there is one."""
        number, low, high = (self[each] for each in (name, "low", "high"))
        ends = "" if low is None else f" ({low:.{digits}f} to {high:.{digits}f})"
        return f"{number:.{digits}f}{ends}"

    def reach(self, name: str = "mean") -> Interval:
        """A number's interval; the number alone where there is none."""
        low, high = self["low"], self["high"]
        return Interval(*([self[name]] * 2 if low is None or high is None else (low, high)))

    def enough(self, rows: int = limits.ROWS) -> bool:
        """Whether a number has rows and windows enough to be judged by."""
        return (self["rows"] or 0) >= rows and (self["windows"] or 0) >= limits.WINDOWS


class Growth(NamedTuple):
    """An exponent, and those that the points' intervals allow."""

    exponent: float
    interval: Interval

    def in_words(self, of: str = "L", ends: bool = True) -> str:
        low, high = self.interval
        wide = f" ({low:.2f} to {high:.2f})" if ends and high - low >= 0.005 else ""
        return f"{of}^{round(self.exponent, 2) + 0.0:.2f}{wide}"  # + 0.0: no "-0.00"


class NotMeasuredError(Exception):
    """A number that a claim is about is not there."""


class Curve(dict[Any, Row]):
    """A measure's rows by L, N or T, the smallest first; or a place's, by what they are about."""

    def __missing__(self, place: Any) -> Any:
        raise NotMeasuredError

    @property
    def last(self) -> Row:
        return self[max(self, default=None)]

    def at_longest(self, digits: int = 0) -> str:
        """The value at the longest L, in words."""
        return f"{self.last.in_words(digits)} at L = {max(self)}"

    def over(self, other: "Curve") -> dict[int, float]:
        """The ratios of the means, where both are."""
        return {at: row["mean"] / other[at]["mean"] for at, row in self.items() if at in other}

    def growth(self, of: str = "mean") -> Growth:
        """The least-squares slope of log mean over log place, and the slopes that the intervals of
        the points allow, tilted from one end to the other. One point has none."""
        there = {place: row for place, row in self.items() if row[of]}
        # A rule may give weights below zero, which have no power of L.
        if len(there) < 2 or min(row.reach(of).low for row in there.values()) <= 0:
            raise NotMeasuredError
        middle = math.exp(sum(map(math.log, there)) / len(there))
        tilted = [
            _slope({at: row.reach(of)[side != (at > middle)] for at, row in there.items()})
            for side in (True, False)
        ]
        slope = _slope({place: row[of] for place, row in there.items()})
        return Growth(slope, Interval(min(tilted), max(tilted)))

    def power(self, ends: bool = True) -> str:
        """The growth in words, if there is one."""
        try:
            return self.growth().in_words(ends=ends)
        except NotMeasuredError:
            return NO_CURVE


def _slope(points: Mapping[float, float]) -> float:
    places, values = np.log(np.array(list(points.items()), np.float64)).T
    return float(np.polyfit(places, values, 1)[0])


@dataclass(frozen=True, eq=False)
class Evidence:
    """The frames of one text, the choice that was measured in full, the reading of Algorithm 5."""

    frames: dict[str, pl.DataFrame]
    choice: dict[str, str]
    reading: tuple[str, str] = ("scaled", "random")

    def rows(self, figure: str, **where: Any) -> list[Row]:
        """A figure's rows, of the choice where it has several."""
        frame = self.frames[figure]
        own = {name: value for name, value in self.choice.items() if name in frame.columns}
        return list(map(Row, frame.filter(pl.lit(True), **own, **where).to_dicts()))

    def row(self, figure: str, **where: Any) -> Row:
        """The first of them."""
        if not (found := self.rows(figure, **where)):
            raise NotMeasuredError
        return found[0]

    def others(self, figure: str) -> list[dict[str, Any]]:
        """The rows of the other choices."""
        own = self.rows(figure)
        return [row for row in self.frames[figure].to_dicts() if row not in own]

    def curve(self, figure: str, measure: str, rule: str = "model") -> Curve:
        """A measure's rows by L or N, under the model's own rule unless another is named."""
        along = "length" if figure in ("vanishing", "fig2a") else "top_n"
        found = {row[along]: row for row in self.rows(figure, measure=measure, rule=rule)}
        return Curve(sorted(found.items()))

    def curves(self, figure: str, *measures: str) -> list[Curve]:
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
    words.UNTESTABLE,
    "not measured",
    "The run has too few N, lengths or temperatures for it.",
)
Look = Callable[[Evidence], Seen]


@dataclass(frozen=True)
class Claim:
    """What the paper says where, its number, and how a text is asked.

    A claim is `free` where neither the vectors and keys nor the reading of Algorithm 5 play a part.
    """

    claim: str
    where: str
    paper: str
    statement: str
    look: Look
    free: bool = False

    def __call__(self, evidence: Evidence) -> Seen:
        try:
            return self.look(evidence)
        except NotMeasuredError:
            return UNSEEN


def claim(name: str, where: str, paper: str, free: bool = False) -> Callable[[Look], Claim]:
    """The claim that a function looks at; its docstring begins with the statement."""

    def of(look: Look) -> Claim:
        statement, *_ = (inspect.getdoc(look) or "").split("\n\n")
        return Claim(name, where, paper, statement.replace("\n", " "), look, free)

    return of


def both(*answers: bool | None) -> bool | None:
    """And: a no decides, else what is undecided."""
    if False in answers:
        return False
    return None if None in answers else True


def word(*holds: bool | None, judged: bool = True) -> str:
    """The word for a claim, looked at under one formula, or under the printed and the corrected."""
    printed, corrected = holds[0], holds[-1]
    if not judged:
        return words.FEW_ROWS
    if corrected:
        return words.REPRODUCED
    if printed is None or corrected is None:
        return words.UNDECIDED
    return words.PRINTED_ONLY if printed else words.NOT_REPRODUCED
