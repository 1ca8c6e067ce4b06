"""Figure 4: the sensitivity, in one reading of Algorithm 5.

The paper leaves open whether logits are scaled and which keys v is over. Which of the three
readings is judged is chosen on the text for choosing, as the vectors are; the numbers of all three
stand in the row. g is the largest head's mean over the rows drawn, with the interval of that mean.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import TypeVar

from headgauge.paper import limits
from headgauge.paper.evidence import (
    NO_CURVE,
    Curve,
    Evidence,
    Growth,
    Interval,
    NotMeasuredError,
    Row,
    Seen,
    both,
    claim,
    word,
)
from headgauge.registry.published import COLD, DROP, WARM

# (logits, direction) of SensitivityFigureRow, and what the reading is called.
READINGS = {
    ("scaled", "random"): "scaled logits",
    ("scaled", "random over all keys"): "v over all L keys",
    ("raw", "random"): "raw logits",
}

Curves = dict[float, Curve]  # by ε, the smallest first
Found = TypeVar("Found")


def _curves(evidence: Evidence, logits: str, direction: str) -> Curves:
    """The largest head's rows by ε and temperature; ε = 0 is the limit."""
    found = evidence.frames["fig4"].filter(logits=logits, direction=direction)
    curves: Curves = {}
    for row in found.sort("epsilon", "temperature", nulls_last=False).iter_rows(named=True):
        curves.setdefault(row["epsilon"] or 0.0, Curve())[row["temperature"]] = Row(row)
    return curves


def _smallest(curves: Curves) -> Curve:
    """Of the smallest ε."""
    return next(iter(curves.values()), Curve())


def _by_reading(
    evidence: Evidence, look: Callable[[Curves], Found], say: Callable[[Found], str]
) -> tuple[Found, str]:
    """What the judged reading shows, and all of them in words, the judged one first."""
    looked = {}
    for reading in sorted(READINGS, key=lambda reading: reading != evidence.reading):
        with suppress(NotMeasuredError):
            looked[reading] = look(_curves(evidence, *reading))
    if evidence.reading not in looked:
        raise NotMeasuredError
    said = [f"{say(found)} ({READINGS[reading]})" for reading, found in looked.items()]
    return looked[evidence.reading], "; ".join(said)


def _enough(evidence: Evidence) -> bool:
    logits, direction = evidence.reading
    rows = [row["rows"] for row in evidence.rows("fig4", logits=logits, direction=direction)]
    return min((each for each in rows if each is not None), default=0) >= limits.ROWS


@claim("sensitivity follows 1/T", "Fig. 4", "1/T")
def sensitivity_follows(evidence: Evidence) -> Seen:
    """For T below .1 the curves follow 1/T."""
    judged, shown = _by_reading(evidence, _cold_growth, lambda found: found.in_words("T"))
    worst = NO_CURVE
    with suppress(NotMeasuredError):
        growth = _cold_growth(_curves(evidence, "scaled", "worst"))
        worst = f"worst direction: {growth.in_words('T')}"
    row = next(iter(_smallest(_curves(evidence, *evidence.reading)).values()))
    ends = (
        f"At T = {row['temperature']:g} a few rows near a tie decide: g = {row['maximum']:.2g}, "
        f"95 % {row['low']:.2g} to {row['high']:.2g} from {row['rows']} rows."
        if row["low"] is not None
        else ""
    )
    return Seen(
        shown,
        verdict=word(judged.interval.within(*limits.FOLLOWS), judged=_enough(evidence)),
        corrected=worst,
        comment="1/T is the worst case, reached at ties; a mean over all rows tends to a constant. "
        + ends,
    )


def _cold_growth(curves: Curves) -> Growth:
    cold = {t: row for t, row in _smallest(curves).items() if t <= COLD}
    return Curve(cold).growth("maximum")


@claim("curves collapse at T ≥ 1", "Fig. 4", "collapse; a factor of 100")
def sensitivity_drops(evidence: Evidence) -> Seen:
    """At T ≥ 1 all curves collapse and drop by two orders of magnitude.

    From T = 1 on all ε agree within `COLLAPSE`, and down to T = 1 g drops by 100. How far it falls
    beyond T = 1 is told and not counted: it is 1/T, up to whatever T one chooses.
    """

    def say(found: tuple[float, Interval, float]) -> str:
        spread, (low, high), beyond = found
        return (
            f"within {spread:.0%}, {math.sqrt(low * high):.0f} times lower at T = 1 than at its "
            f"largest, {beyond:.0f} times from there on"
        )

    judged, shown = _by_reading(evidence, _spread_and_drop, say)
    holds = both(judged[0] <= limits.COLLAPSE, judged[1].above(DROP))
    return Seen(
        shown,
        verdict=word(holds, judged=_enough(evidence)),
        comment="The text does not say from where it drops. What follows T = 1 is no finding: g "
        "falls like 1/T there, as far as the grid goes.",
    )


def _spread_and_drop(curves: Curves) -> tuple[float, Interval, float]:
    """How far the ε part from T = 1 on, the drop to T = 1, and the one after it."""
    smallest = _smallest(curves)
    warm = [t for t in smallest if t >= WARM]
    if len(curves) < 2 or not warm:
        raise NotMeasuredError
    at = [[curve[t]["maximum"] for curve in curves.values()] for t in warm]
    spread = max(max(values) / min(values) for values in at) - 1
    top = max(smallest.values(), key=lambda row: row["maximum"])
    one, last = smallest[warm[0]], smallest[warm[-1]]
    drop = top.reach("maximum").over(one.reach("maximum"))
    return spread, drop, one["maximum"] / last["maximum"]


@claim("smaller ε, larger g", "Fig. 4", "larger g for smaller ε")
def smaller_steps_larger(evidence: Evidence) -> Seen:
    """Smaller perturbations give larger g."""

    def say(rows: list[list[Row]]) -> str:
        values = [[row["maximum"] for row in at] for at in rows]
        falls = sum(all(b < a for a, b in pairwise(at)) for at in values)
        lowest = ", ".join(f"{value:.3g}" for value in values[0])
        return f"{lowest}, in this order at {falls} of {len(rows)} T"

    judged, shown = _by_reading(evidence, _in_the_cold, say)
    holds = both(*(_falls(*pair) for at in judged for pair in pairwise(at)))
    return Seen(
        f"at the lowest T, ε rising: {shown}",
        verdict=word(holds, judged=_enough(evidence)),
        comment="g is at most √2/ε, so the longest step is always lowest; two small steps need not "
        "differ.",
    )


def _in_the_cold(curves: Curves) -> list[list[Row]]:
    """The rows by rising ε, at every T below .1, the lowest first."""
    cold = [t for t in _smallest(curves) if t < COLD]
    if len(curves) < 2 or not cold:
        raise NotMeasuredError
    return [[curve[t] for curve in curves.values()] for t in cold]


def _falls(before: Row, after: Row) -> bool | None:
    """Whether g falls from one step to the next: their intervals, not only their means."""
    first, second = before.reach("maximum"), after.reach("maximum")
    if second.high < first.low:
        return True
    return False if first.high <= second.low else None


@claim("close to the bound for T < .1", "Fig. 4", "close to the limit")
def bound_is_near(evidence: Evidence) -> Seen:
    """For T below .1 the model works close to the bound min{1/(4T), √2}.

    Near: for some T below .1, g is between half the printed bound and the bound.
    """
    printed, exact = (
        _smallest(_curves(evidence, "scaled", name)) for name in ("printed bound", "exact")
    )

    def shares(curves: Curves) -> list[Interval]:
        """g over the printed bound at every T below .1, with its interval."""
        cold = {t: row for t, row in _smallest(curves).items() if t < COLD and t in printed}
        if not cold:
            raise NotMeasuredError
        return [row.reach("maximum").over(printed[t].reach("maximum")) for t, row in cold.items()]

    judged, shown = _by_reading(
        evidence, shares, lambda each: f"at most {max(math.sqrt(a * b) for a, b in each):.0%}"
    )
    if not exact:
        raise NotMeasuredError
    broken = sum(row["maximum"] > printed[t]["maximum"] for t, row in exact.items())
    most = max(row["maximum"] * 2 * t for t, row in exact.items())
    answers = [each.within(*limits.NEAR) for each in judged]
    near = True if True in answers else None if None in answers else False
    return Seen(
        shown,
        verdict=word(near, judged=_enough(evidence)),
        corrected=f"the exact Jacobian norm exceeds the printed bound at {broken} of {len(exact)} "
        f"temperatures and reaches {most:.0%} of 1/(2T)",
        comment="The printed bound is false: 1/(2T) is sharp, and √2 caps the change of the "
        "weights, not its rate.",
    )
