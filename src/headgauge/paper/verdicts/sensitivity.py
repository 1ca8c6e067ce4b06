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
    Interval,
    Seen,
    absent,
    both,
    log_slope,
    power,
    reach,
    slope_reach,
    within,
    word,
)

# (logits, direction) of SensitivityFigureRow, and what the reading is called.
READINGS = {
    ("scaled", "random"): "scaled logits",
    ("scaled", "random over all keys"): "v over all L keys",
    ("raw", "random"): "raw logits",
}

Curves = dict[float, dict[float, dict[str, Any]]]  # rows by ε and T
Found = TypeVar("Found")


def sensitivity_follows(evidence: Evidence) -> Seen:
    """1/T: the log–log slope over T up to .1 is within `FOLLOWS`, for the smallest ε."""
    slopes = _by_reading(evidence, _cold_slope)
    worst = _cold_slope(curves_of(evidence.frames["fig4"], "scaled", "worst"))
    judged = slopes.get(evidence.reading)
    if judged is None:
        return absent("sensitivity follows 1/T", "Fig. 4", "1/T")
    return Seen(
        claim="sensitivity follows 1/T",
        where="Fig. 4",
        statement="For T below .1 the curves follow 1/T.",
        paper="1/T",
        printed=_told(slopes, evidence, lambda found: power(*found, of="T")),
        corrected="no curve" if worst is None else f"worst direction: {power(*worst, of='T')}",
        verdict=word(within(judged[1], limits.FOLLOWS), _enough(evidence)),
        comment="1/T is the worst case, reached at ties; a mean over all rows tends to a constant. "
        + _uncertainty(evidence),
    )


def sensitivity_drops(evidence: Evidence) -> Seen:
    """From T = 1 on all ε agree within `COLLAPSE`, and down to T = 1 g drops by `DROP`.

    How far it falls beyond T = 1 is told and not counted: it is 1/T, up to whatever T one chooses.
    """
    found = _by_reading(evidence, _spread_and_drop)
    judged = found.get(evidence.reading)
    if judged is None:
        return absent("curves collapse at T ≥ 1", "Fig. 4", "collapse, drop by 100")
    spread, drop, _ = judged
    collapses = spread <= limits.COLLAPSE
    return Seen(
        claim="curves collapse at T ≥ 1",
        where="Fig. 4",
        statement="At T ≥ 1 all curves collapse and drop by two orders of magnitude.",
        paper="collapse; a factor of 100",
        printed=_told(
            found,
            evidence,
            lambda each: (
                f"within {each[0]:.0%}, {math.sqrt(each[1][0] * each[1][1]):.0f} times "
                f"lower at T = 1 than at its largest, {each[2]:.0f} times from there on"
            ),
        ),
        corrected="same",
        verdict=word(both(collapses, within(drop, (limits.DROP, math.inf))), _enough(evidence)),
        comment="The text does not say from where it drops. What follows T = 1 is no finding: g "
        "falls like 1/T there, as far as the grid goes.",
    )


def smaller_steps_larger(evidence: Evidence) -> Seen:
    """At every T below .1, g grows as ε shrinks; undecided where intervals overlap."""
    found = _by_reading(evidence, _in_the_cold)
    judged = found.get(evidence.reading)
    if judged is None:
        return absent("smaller ε, larger g", "Fig. 4", "larger g")
    return Seen(
        claim="smaller ε, larger g",
        where="Fig. 4",
        statement="Smaller perturbations give larger g.",
        paper="larger g for smaller ε",
        printed="at the lowest T, ε rising: "
        + _told(
            found,
            evidence,
            lambda rows: (
                f"{', '.join(format(row['maximum'], '.3g') for row in rows[0])}, in this "
                f"order at {sum(map(_falls, rows))} of {len(rows)} T"
            ),
        ),
        corrected="same",
        verdict=word(
            both(*(_apart(before, after) for row in judged for before, after in pairwise(row))),
            _enough(evidence),
        ),
        comment="g is at most √2/ε, so the longest step is always lowest; two small steps need not "
        "differ.",
    )


def bound_is_near(evidence: Evidence) -> Seen:
    """Near: for some T below .1, g is between half the printed bound and the bound."""
    fig4 = evidence.frames["fig4"]
    printed = dict(fig4.filter(direction="printed bound").select("temperature", "maximum").rows())
    exact = {
        t: row["maximum"] for t, row in curves_of(fig4, "scaled", "exact").get(0.0, {}).items()
    }
    nearest = _by_reading(evidence, lambda curves: _shares(curves, printed))
    judged = nearest.get(evidence.reading)
    if judged is None or not exact:
        return absent("close to the bound for T < .1", "Fig. 4", "close to the limit")
    broken = [t for t in exact if exact[t] > printed[t]]
    answers = [within(each, limits.NEAR) for each in judged]
    near = True if True in answers else None if None in answers else False
    return Seen(
        claim="close to the bound for T < .1",
        where="Fig. 4",
        statement="For T below .1 the model works close to the bound min{1/(4T), √2}.",
        paper="close to the limit",
        printed=_told(
            nearest,
            evidence,
            lambda shares: f"at most {max(math.sqrt(a * b) for a, b in shares):.0%}",
        ),
        corrected=f"the exact Jacobian norm exceeds the printed bound at {len(broken)} of "
        f"{len(exact)} temperatures and reaches {max(exact[t] * 2 * t for t in exact):.0%} of "
        "1/(2T)",
        verdict=word(near, _enough(evidence)),
        comment="The printed bound is false: 1/(2T) is sharp, and √2 caps the change of the "
        "weights, not its rate.",
    )


JUDGES = (sensitivity_follows, sensitivity_drops, smaller_steps_larger, bound_is_near)


def curves_of(fig4: pl.DataFrame, logits: str, direction: str) -> Curves:
    """The largest head's rows by ε and temperature; ε = 0 is the limit."""
    found = fig4.filter(logits=logits, direction=direction)
    curves: Curves = {}
    for row in found.iter_rows(named=True):
        curves.setdefault(row["epsilon"] or 0.0, {})[row["temperature"]] = row
    return {epsilon: dict(sorted(curves[epsilon].items())) for epsilon in sorted(curves)}


def _by_reading(
    evidence: Evidence, look: Callable[[Curves], Found | None]
) -> dict[tuple[str, str], Found]:
    found = {reading: look(curves_of(evidence.frames["fig4"], *reading)) for reading in READINGS}
    return {reading: value for reading, value in found.items() if value is not None}


def _told(
    found: dict[tuple[str, str], Found], evidence: Evidence, say: Callable[[Found], str]
) -> str:
    """The judged reading first."""
    order = sorted(found, key=lambda reading: reading != evidence.reading)
    return "; ".join(f"{say(found[reading])} ({READINGS[reading]})" for reading in order)


def _enough(evidence: Evidence) -> bool:
    logits, direction = evidence.reading
    rows = evidence.frames["fig4"].filter(logits=logits, direction=direction)["rows"]
    return min(rows.drop_nulls(), default=0) >= limits.ROWS


def _cold_slope(curves: Curves) -> tuple[float | None, Interval] | None:
    smallest = next(iter(curves.values()), {})
    cold = {t: row for t, row in smallest.items() if t <= limits.COLD}
    ends = slope_reach(cold, "maximum")
    return None if ends is None else (log_slope(cold, "maximum"), ends)


def _spread_and_drop(curves: Curves) -> tuple[float, Interval, float] | None:
    """How far the ε part from T = 1 on, the drop to T = 1, and the one after it."""
    smallest = next(iter(curves.values()), {})
    warm = [t for t in smallest if t >= limits.WARM]
    if len(curves) < 2 or not warm:
        return None
    at = [[curve[t]["maximum"] for curve in curves.values()] for t in warm]
    spread = max(max(values) / min(values) for values in at) - 1
    top = max(smallest.values(), key=lambda row: row["maximum"])
    one, last = smallest[min(warm)], smallest[max(warm)]
    (low, high), (below_one, above_one) = reach(top, "maximum"), reach(one, "maximum")
    return spread, (low / above_one, high / below_one), one["maximum"] / last["maximum"]


def _in_the_cold(curves: Curves) -> list[list[dict[str, Any]]] | None:
    """The rows by rising ε, at every T below .1, the lowest first."""
    cold = [t for t in next(iter(curves.values()), {}) if t < limits.COLD]
    if len(curves) < 2 or not cold:
        return None
    return [[curve[t] for curve in curves.values()] for t in cold]


def _falls(rows: list[dict[str, Any]]) -> bool:
    return all(after["maximum"] < before["maximum"] for before, after in pairwise(rows))


def _apart(before: dict[str, Any], after: dict[str, Any]) -> bool | None:
    """Whether g falls from one step to the next: their intervals, not only their means."""
    first, second = reach(before, "maximum"), reach(after, "maximum")
    if second[1] < first[0]:
        return True
    return False if first[1] <= second[0] else None


def _shares(curves: Curves, printed: dict[float, float]) -> list[Interval] | None:
    """g over the printed bound at every T below .1, with its interval."""
    smallest = next(iter(curves.values()), {})
    cold = [t for t in smallest if t < limits.COLD and t in printed]
    found = [reach(smallest[t], "maximum") for t in cold]
    shares = [(a / printed[t], b / printed[t]) for t, (a, b) in zip(cold, found, strict=True)]
    return shares or None


def _uncertainty(evidence: Evidence) -> str:
    """How sure the judged reading's g is at the lowest T."""
    curves = curves_of(evidence.frames["fig4"], *evidence.reading)
    smallest = next(iter(curves.values()), {})
    row = next(iter(smallest.values()), None)
    if row is None or row["low"] is None:
        return ""
    return (
        f"At T = {row['temperature']:g} a few rows near a tie decide: g = {row['maximum']:.2g}, "
        f"95 % {row['low']:.2g} to {row['high']:.2g} from {row['rows']} rows."
    )
