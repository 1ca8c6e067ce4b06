"""Figure 4: the sensitivity, in one reading of Algorithm 5.

The paper leaves open whether logits are scaled and which keys v is over. Which of the three
readings is judged is chosen on the text for choosing, as the vectors are; the numbers of all three
stand in the row. g is the largest head's mean over the rows drawn, with the interval of that mean.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeVar

import polars as pl

from headgauge.paper import limits
from headgauge.paper.verdicts.evidence import (
    Evidence,
    Growth,
    Interval,
    Row,
    Seen,
    above,
    both,
    claim,
    growth,
    power,
    ratio,
    reach,
    within,
    word,
)
from headgauge.registry.published import COLD, DROP, WARM

# (logits, direction) of SensitivityFigureRow, and what the reading is called.
READINGS = {
    ("scaled", "random"): "scaled logits",
    ("scaled", "random over all keys"): "v over all L keys",
    ("raw", "random"): "raw logits",
}

Curves = dict[float, dict[float, dict[str, Any]]]  # rows by ε and T, the smallest first
Found = TypeVar("Found")


def curves_of(fig4: pl.DataFrame, logits: str, direction: str) -> Curves:
    """The largest head's rows by ε and temperature; ε = 0 is the limit."""
    found = fig4.filter(logits=logits, direction=direction)
    curves: Curves = {}
    for row in found.sort("epsilon", "temperature", nulls_last=False).iter_rows(named=True):
        curves.setdefault(row["epsilon"] or 0.0, {})[row["temperature"]] = row
    return curves


def _smallest(curves: Curves) -> dict[float, dict[str, Any]]:
    """Of the smallest ε."""
    return next(iter(curves.values()), {})


def _by_reading(
    evidence: Evidence, look: Callable[[Curves], Found | None]
) -> tuple[Found | None, dict[str, Found]]:
    """What the judged reading shows, and all of them by their names, the judged one first."""
    order = sorted(READINGS, key=lambda reading: reading != evidence.reading)
    looked = {each: look(curves_of(evidence.frames["fig4"], *each)) for each in order}
    named = {READINGS[each]: found for each, found in looked.items() if found is not None}
    return looked[evidence.reading], named


def _told(found: dict[str, Found], say: Callable[[Found], str]) -> str:
    return "; ".join(f"{say(value)} ({name})" for name, value in found.items())


def _enough(evidence: Evidence) -> bool:
    logits, direction = evidence.reading
    rows = [row["rows"] for row in evidence.rows("fig4", logits=logits, direction=direction)]
    return min((each for each in rows if each is not None), default=0) >= limits.ROWS


@claim("sensitivity follows 1/T", "Fig. 4", "For T below .1 the curves follow 1/T.", "1/T")
def sensitivity_follows(evidence: Evidence) -> Seen | None:
    """1/T: the log–log slope over T up to .1 is within `FOLLOWS`, for the smallest ε."""
    judged, slopes = _by_reading(evidence, _cold_growth)
    worst = _cold_growth(curves_of(evidence.frames["fig4"], "scaled", "worst"))
    return judged and Seen(
        _told(slopes, lambda found: power(found, of="T")),
        verdict=word(within(judged[1], limits.FOLLOWS), _enough(evidence)),
        corrected="no curve" if worst is None else f"worst direction: {power(worst, of='T')}",
        comment="1/T is the worst case, reached at ties; a mean over all rows tends to a constant. "
        + _uncertainty(evidence),
    )


def _cold_growth(curves: Curves) -> Growth | None:
    return growth({t: row for t, row in _smallest(curves).items() if t <= COLD}, "maximum")


def _uncertainty(evidence: Evidence) -> str:
    """How sure the judged reading's g is at the lowest T."""
    curves = curves_of(evidence.frames["fig4"], *evidence.reading)
    row = next(iter(_smallest(curves).values()))
    if row["low"] is None:
        return ""
    return (
        f"At T = {row['temperature']:g} a few rows near a tie decide: g = {row['maximum']:.2g}, "
        f"95 % {row['low']:.2g} to {row['high']:.2g} from {row['rows']} rows."
    )


@claim(
    "curves collapse at T ≥ 1",
    "Fig. 4",
    "At T ≥ 1 all curves collapse and drop by two orders of magnitude.",
    "collapse; a factor of 100",
)
def sensitivity_drops(evidence: Evidence) -> Seen | None:
    """From T = 1 on all ε agree within `COLLAPSE`, and down to T = 1 g drops by 100.

    How far it falls beyond T = 1 is told and not counted: it is 1/T, up to whatever T one chooses.
    """
    judged, found = _by_reading(evidence, _spread_and_drop)
    if judged is None:
        return None
    spread, drop, _ = judged

    def say(each: tuple[float, Interval, float]) -> str:
        spread, (low, high), beyond = each
        return (
            f"within {spread:.0%}, {math.sqrt(low * high):.0f} times lower at T = 1 than at its "
            f"largest, {beyond:.0f} times from there on"
        )

    return Seen(
        _told(found, say),
        verdict=word(both(spread <= limits.COLLAPSE, above(drop, DROP)), _enough(evidence)),
        comment="The text does not say from where it drops. What follows T = 1 is no finding: g "
        "falls like 1/T there, as far as the grid goes.",
    )


def _spread_and_drop(curves: Curves) -> tuple[float, Interval, float] | None:
    """How far the ε part from T = 1 on, the drop to T = 1, and the one after it."""
    smallest = _smallest(curves)
    warm = [t for t in smallest if t >= WARM]
    if len(curves) < 2 or not warm:
        return None
    at = [[curve[t]["maximum"] for curve in curves.values()] for t in warm]
    spread = max(max(values) / min(values) for values in at) - 1
    top = max(smallest.values(), key=lambda row: row["maximum"])
    one, last = smallest[warm[0]], smallest[warm[-1]]
    drop = ratio(reach(top, "maximum"), reach(one, "maximum"))
    return spread, drop, one["maximum"] / last["maximum"]


@claim(
    "smaller ε, larger g",
    "Fig. 4",
    "Smaller perturbations give larger g.",
    "larger g for smaller ε",
)
def smaller_steps_larger(evidence: Evidence) -> Seen | None:
    """At every T below .1, g grows as ε shrinks; undecided where intervals overlap."""
    judged, found = _by_reading(evidence, _in_the_cold)
    if judged is None:
        return None

    def say(rows: list[list[Row]]) -> str:
        values = [[row["maximum"] for row in at] for at in rows]
        falls = sum(all(b < a for a, b in pairwise(at)) for at in values)
        lowest = ", ".join(f"{value:.3g}" for value in values[0])
        return f"{lowest}, in this order at {falls} of {len(rows)} T"

    return Seen(
        f"at the lowest T, ε rising: {_told(found, say)}",
        verdict=word(
            both(*(_falls(*pair) for at in judged for pair in pairwise(at))), _enough(evidence)
        ),
        comment="g is at most √2/ε, so the longest step is always lowest; two small steps need not "
        "differ.",
    )


def _in_the_cold(curves: Curves) -> list[list[Row]] | None:
    """The rows by rising ε, at every T below .1, the lowest first."""
    cold = [t for t in _smallest(curves) if t < COLD]
    if len(curves) < 2 or not cold:
        return None
    return [[curve[t] for curve in curves.values()] for t in cold]


def _falls(before: Row, after: Row) -> bool | None:
    """Whether g falls from one step to the next: their intervals, not only their means."""
    first, second = reach(before, "maximum"), reach(after, "maximum")
    if second[1] < first[0]:
        return True
    return False if first[1] <= second[0] else None


@claim(
    "close to the bound for T < .1",
    "Fig. 4",
    "For T below .1 the model works close to the bound min{1/(4T), √2}.",
    "close to the limit",
)
def bound_is_near(evidence: Evidence) -> Seen | None:
    """Near: for some T below .1, g is between half the printed bound and the bound."""
    fig4 = evidence.frames["fig4"]
    printed, exact = (
        {t: row["maximum"] for t, row in _smallest(curves_of(fig4, "scaled", name)).items()}
        for name in ("printed bound", "exact")
    )

    def shares(curves: Curves) -> list[Interval] | None:
        """g over the printed bound at every T below .1, with its interval."""
        cold = {t: row for t, row in _smallest(curves).items() if t < COLD and t in printed}
        return [ratio(reach(row, "maximum"), (printed[t],) * 2) for t, row in cold.items()] or None

    judged, nearest = _by_reading(evidence, shares)
    if judged is None or not exact:
        return None
    broken = sum(exact[t] > printed[t] for t in exact)
    answers = [within(each, limits.NEAR) for each in judged]
    near = True if True in answers else None if None in answers else False
    return Seen(
        _told(nearest, lambda each: f"at most {max(math.sqrt(a * b) for a, b in each):.0%}"),
        verdict=word(near, _enough(evidence)),
        corrected=f"the exact Jacobian norm exceeds the printed bound at {broken} of {len(exact)} "
        f"temperatures and reaches {max(exact[t] * 2 * t for t in exact):.0%} of 1/(2T)",
        comment="The printed bound is false: 1/(2T) is sharp, and √2 caps the change of the "
        "weights, not its rate.",
    )


CLAIMS = (sensitivity_follows, sensitivity_drops, smaller_steps_larger, bound_is_near)
