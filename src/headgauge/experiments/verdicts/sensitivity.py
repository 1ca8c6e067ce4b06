"""Figure 4: the sensitivity, for each reading of Algorithm 5.

A claim counts as reproduced if one reading shows it; the row names them all.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

import polars as pl

from headgauge.experiments.verdicts.evidence import Evidence, absent, log_slope, word
from headgauge.results.paper_schema import PaperVerdictRow

# (logits, direction) of SensitivityFigureRow, and what the reading is called.
READINGS = {
    ("scaled", "random"): "scaled logits",
    ("scaled", "random over all keys"): "v over all L keys",
    ("raw", "random"): "raw logits",
}

Curves = dict[float, dict[float, float]]  # g by ε and T
Found = TypeVar("Found")


def sensitivity_follows(evidence: Evidence) -> PaperVerdictRow:
    """1/T: a log–log slope within .25 of −1 over T from .01 to .1, for the smallest ε."""
    slopes = _by_reading(evidence, _cold_slope)
    worst = _cold_slope(curves_of(evidence.frames["fig4"], "scaled", "worst"))
    if not slopes:
        return absent("sensitivity follows 1/T", "Fig. 4", "1/T")
    told = "; ".join(f"T^{slope:.2f} ({reading})" for reading, slope in slopes.items())
    return PaperVerdictRow(
        claim="sensitivity follows 1/T",
        where="Fig. 4",
        statement="For T below .1 the curves follow 1/T.",
        paper="1/T",
        printed=told,
        corrected="no curve" if worst is None else f"worst direction: T^{worst:.2f}",
        verdict=word(any(abs(slope + 1) <= 0.25 for slope in slopes.values())),
        comment="1/T is the worst case, reached at ties; a mean over all rows tends to a constant. "
        + _uncertainty(evidence),
    )


def sensitivity_drops(evidence: Evidence) -> PaperVerdictRow:
    """From T = 1 on all ε agree to 10 %, and g drops 100 times: to T = 1, or from there on."""
    found = _by_reading(evidence, _spread_and_drop)
    if not found:
        return absent("curves collapse at T ≥ 1", "Fig. 4", "collapse, drop by 100")
    told = "; ".join(
        f"within {spread:.0%}, {before:.0f} times lower at T = 1, {after:.0f} times from there on "
        f"({reading})"
        for reading, (spread, before, after) in found.items()
    )
    return PaperVerdictRow(
        claim="curves collapse at T ≥ 1",
        where="Fig. 4",
        statement="At T ≥ 1 all curves collapse and drop by two orders of magnitude.",
        paper="collapse; a factor of 100",
        printed=told,
        corrected="same",
        verdict=word(any(spread <= 0.1 and max(drops) >= 100 for spread, *drops in found.values())),
        comment="The text does not say from where it drops: to T = 1, or from T = 1 on.",
    )


def smaller_steps_larger(evidence: Evidence) -> PaperVerdictRow:
    """At every T below .1, g grows as ε shrinks."""
    found = _by_reading(evidence, _in_the_cold)
    if not found:
        return absent("smaller ε, larger g", "Fig. 4", "larger g")
    told = "; ".join(
        f"{', '.join(f'{g:.3g}' for g in rows[0])}, in this order at "
        f"{sum(map(_falls, rows))} of {len(rows)} T ({reading})"
        for reading, rows in found.items()
    )
    return PaperVerdictRow(
        claim="smaller ε, larger g",
        where="Fig. 4",
        statement="Smaller perturbations give larger g.",
        paper="larger g for smaller ε",
        printed=f"at the lowest T, ε rising: {told}",
        corrected="same",
        verdict=word(any(all(map(_falls, rows)) for rows in found.values())),
        comment="g is at most √2/ε, so the longest step is always lowest; two small steps need not "
        "differ.",
    )


def bound_is_near(evidence: Evidence) -> PaperVerdictRow:
    """Near: for some T below .1, g is between half the printed bound and the bound."""
    fig4 = evidence.frames["fig4"]
    printed = dict(fig4.filter(direction="printed bound").select("temperature", "maximum").rows())
    exact = curves_of(fig4, "scaled", "exact").get(0.0, {})
    nearest = _by_reading(evidence, lambda curves: _nearest(curves, printed))
    if not nearest or not exact:
        return absent("close to the bound for T < .1", "Fig. 4", "close to the limit")
    broken = [t for t in exact if exact[t] > printed[t]]
    told = "; ".join(f"at most {share:.0%} ({reading})" for reading, share in nearest.items())
    return PaperVerdictRow(
        claim="close to the bound for T < .1",
        where="Fig. 4",
        statement="For T below .1 the model works close to the bound min{1/(4T), √2}.",
        paper="close to the limit",
        printed=told,
        corrected=f"the exact Jacobian norm exceeds the printed bound at {len(broken)} of "
        f"{len(exact)} temperatures and reaches {max(exact[t] * 2 * t for t in exact):.0%} of "
        "1/(2T)",
        verdict=word(any(0.5 <= share <= 1 for share in nearest.values())),
        comment="The printed bound is false: 1/(2T) is sharp, and √2 caps the change of the "
        "weights, not its rate.",
    )


def curves_of(fig4: pl.DataFrame, logits: str, direction: str) -> Curves:
    """g by ε and temperature; ε = 0 is the limit."""
    found = fig4.filter(logits=logits, direction=direction).fill_null(0.0)
    curves: Curves = {}
    for epsilon, temperature, g in found.select("epsilon", "temperature", "maximum").rows():
        curves.setdefault(epsilon, {})[temperature] = g
    return {epsilon: curves[epsilon] for epsilon in sorted(curves)}


def _by_reading(evidence: Evidence, look: Callable[[Curves], Found | None]) -> dict[str, Found]:
    found = {
        name: look(curves_of(evidence.frames["fig4"], *reading))
        for reading, name in READINGS.items()
    }
    return {name: value for name, value in found.items() if value is not None}


def _cold_slope(curves: Curves) -> float | None:
    smallest = next(iter(curves.values()), {})
    return log_slope({t: {"mean": g} for t, g in smallest.items() if t <= 0.1})


def _spread_and_drop(curves: Curves) -> tuple[float, float, float] | None:
    warm = [t for t in next(iter(curves.values()), {}) if t >= 1]
    if len(curves) < 2 or not warm:
        return None
    at = [[curve[t] for curve in curves.values()] for t in warm]
    spread = max(max(values) / min(values) for values in at) - 1
    smallest = next(iter(curves.values()))
    at_one = smallest[min(warm)]
    return spread, max(smallest.values()) / at_one, at_one / smallest[max(warm)]


def _in_the_cold(curves: Curves) -> list[list[float]] | None:
    """g by rising ε, at every T below .1, the lowest first."""
    cold = sorted(t for t in next(iter(curves.values()), {}) if t < 0.1)
    if len(curves) < 2 or not cold:
        return None
    return [[curve[t] for curve in curves.values()] for t in cold]


def _falls(values: list[float]) -> bool:
    return all(after < before for before, after in pairwise(values))


def _nearest(curves: Curves, printed: dict[float, float]) -> float | None:
    smallest = next(iter(curves.values()), {})
    shares = [g / printed[t] for t, g in smallest.items() if t < 0.1 and t in printed]
    return max(shares, default=None)


def _uncertainty(evidence: Evidence) -> str:
    """How sure the first reading's g is at the lowest T."""
    rows = evidence.frames["fig4"].filter(logits="scaled", direction="random")
    rows = rows.sort("temperature", "epsilon").drop_nulls(["low", "high"])
    if rows.is_empty():
        return ""
    row = rows.row(0, named=True)
    return (
        f"At T = {row['temperature']:g} a few rows near a tie decide: g = {row['maximum']:.2g}, "
        f"95 % {row['low']:.2g} to {row['high']:.2g} from {row['rows']} rows."
    )
