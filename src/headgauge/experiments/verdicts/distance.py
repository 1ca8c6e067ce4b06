"""Figures 2a and 2b: the distance, its expectation, its bound."""

import math

from headgauge.experiments.verdicts.evidence import (
    Evidence,
    absent,
    at_longest,
    either,
    log_slope,
    power,
    told,
    word,
)
from headgauge.results.paper_schema import PaperVerdictRow


def distance_grows(evidence: Evidence) -> PaperVerdictRow:
    """Linear: the slope of log d̃ over log L is within .15 of 1."""
    curve = evidence.curve("fig2a", "distance", "length")
    slope = log_slope(curve)
    if slope is None:
        return absent("distance grows with L", "Fig. 2a", "linear")
    return PaperVerdictRow(
        claim="distance grows with L",
        where="Fig. 2a",
        statement="At N = 5 the true distance grows roughly linearly in L.",
        paper="linear",
        printed=f"{power(slope)}; {at_longest(curve)}",
        corrected="same",
        verdict=word(abs(slope - 1) <= 0.15),
        comment="Linear growth means that s does not shrink: in the regime of Lemma 1, where "
        "weights vanish like 1/L, the distance would be bounded.",
    )


def expectation_grows(evidence: Evidence) -> PaperVerdictRow:
    """The same of the expectation, under both formulas."""
    curves = {
        form: evidence.curve("fig2a", f"expected_{form}", "length")
        for form in ("printed", "appendix", "upper")
    }
    printed, corrected, upper = (log_slope(curve) for curve in curves.values())
    if printed is None or corrected is None:
        return absent("expectation grows with L", "Fig. 2a", "linear")
    by = [abs(each - 1) <= 0.15 for each in (printed, corrected)]
    return PaperVerdictRow(
        claim="expectation grows with L",
        where="Fig. 2a",
        statement="At N = 5 the expected distance grows roughly linearly in L.",
        paper="linear",
        printed=f"{power(printed)}; {at_longest(curves['printed'])}",
        corrected=f"{power(corrected)}; {at_longest(curves['appendix'], 2)} (eq. 24); its upper "
        f"side {power(upper)}; {at_longest(curves['upper'], 1)}",
        verdict=either(*by),
        comment="The true expectation is at most (N + 1) max‖x‖ at any length; the printed "
        "expression grows like (L − N)‖x̄‖.",
    )


def bound_is_safe(evidence: Evidence) -> PaperVerdictRow:
    """In the means over heads: safe is never below the distance, conservative 10 % above it."""
    bound, distance = (
        evidence.curve("fig2a", name, "length") for name in ("bound_printed", "distance")
    )
    ratios = {at: bound[at]["mean"] / distance[at]["mean"] for at in distance if at in bound}
    if not ratios:
        return absent("bound is safe, conservative", "Fig. 2a", "above, conservative")
    longest = max(ratios)
    safe = min(ratios.values()) >= 1 - 1e-6
    return PaperVerdictRow(
        claim="bound is safe, conservative",
        where="Fig. 2a",
        statement="The bound of Theorem 1.1 lies safely above the distance.",
        paper="above, conservative",
        printed=f"{ratios[longest]:.2f} × the distance at L = {longest}",
        corrected=evidence.tighter("fig2a", "length"),
        verdict=word(safe and ratios[longest] >= 1.1),
        comment="Theorem 1.1 is true for the top N; the two-sided sandwich costs less and is "
        "tighter.",
    )


def distance_levels_off(evidence: Evidence) -> PaperVerdictRow:
    """A plateau: after N = 20 the distance moves by less than 15 % of its earlier rise."""
    curve = evidence.curve("fig2b", "distance", "top_n")
    if not {1, 20, 100} <= curve.keys():
        return absent("distance levels off", "Fig. 2b", "plateau beyond N ≈ 20")
    one, twenty, hundred = (curve[n]["mean"] for n in (1, 20, 100))
    share = abs(hundred - twenty) / (twenty - one) if twenty > one else math.inf
    return PaperVerdictRow(
        claim="distance levels off",
        where="Fig. 2b",
        statement="At the longest L the distance levels off beyond N ≈ 20.",
        paper="plateau beyond N ≈ 20",
        printed=", ".join(told(curve[n]) for n in (1, 20, 100)) + " at N = 1, 20, 100",
        corrected="same",
        verdict=word(share < 0.15),
        comment=f"After N = 20 it moves by {share:.0%} of its rise before. For larger N it falls "
        "to 0 at N = L, because fewer tokens are left to be summed over.",
    )


def expectation_converges(evidence: Evidence) -> PaperVerdictRow:
    """Converged: within 10 % of the distance at N = 100, and closer than at N = 5."""
    distance = evidence.curve("fig2b", "distance", "top_n")
    ratios_told, holds = [], []
    for form in ("printed", "appendix"):
        curve = evidence.curve("fig2b", f"expected_{form}", "top_n")
        if not {5, 100} <= curve.keys():
            return absent("expectation converges", "Fig. 2b", "converge towards N = 100")
        ratios = [curve[n]["mean"] / distance[n]["mean"] for n in (5, 100)]
        ratios_told.append(f"E/d̃ = {ratios[0]:.2g} at N = 5, {ratios[1]:.2g} at N = 100")
        gaps = [abs(math.log(ratio)) for ratio in ratios]
        holds.append(gaps[1] < 0.1 and gaps[1] < gaps[0])
    return PaperVerdictRow(
        claim="expectation converges",
        where="Fig. 2b",
        statement="True and expected distance converge towards N = 100.",
        paper="converge",
        printed=ratios_told[0],
        corrected=f"{ratios_told[1]} (eq. 24)",
        verdict=either(*holds),
        comment="A random subset misses the few heavy tokens: its true expectation stays far below "
        "the distance of the top N until N is near L.",
    )


def bound_tightens(evidence: Evidence) -> PaperVerdictRow:
    """Tightens: bound over distance is smaller at N = 100 than at N = 20."""
    bound, distance = (
        evidence.curve("fig2b", name, "top_n") for name in ("bound_printed", "distance")
    )
    if not {20, 100} <= bound.keys() & distance.keys():
        return absent("bound tightens", "Fig. 2b", "tightens towards N = 100")
    ratios = {n: bound[n]["mean"] / distance[n]["mean"] for n in (1, 20, 100) if n in bound}
    tight = ratios[100] < 0.98 * ratios[20]
    shown = ", ".join(f"{ratio:.2f}" for ratio in ratios.values())
    return PaperVerdictRow(
        claim="bound tightens",
        where="Fig. 2b",
        statement="The upper bound tightens as N grows towards 100.",
        paper="tightens",
        printed=f"bound/d̃ = {shown} at N = {', '.join(map(str, ratios))}",
        corrected=evidence.tighter("fig2b", "top_n"),
        verdict=word(tight),
        comment=""
        if tight
        else "The printed bound loosens with N, as the selected vectors cancel; nothing collapses.",
    )
