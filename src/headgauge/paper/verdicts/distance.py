"""Figures 2a and 2b: the distance, its expectation, its bound."""

import math

from headgauge.paper import limits
from headgauge.paper.verdicts.evidence import (
    Curve,
    Evidence,
    Interval,
    Seen,
    absent,
    at_longest,
    below,
    both,
    either,
    enough,
    log_slope,
    power,
    ratio,
    reach,
    slope_reach,
    told,
    within,
    word,
)


def distance_grows(evidence: Evidence) -> Seen:
    """Linear: the slope of log d̃ over log L is within `LINEAR`."""
    curve = evidence.curve("fig2a", "distance", "length")
    slope, ends = log_slope(curve), slope_reach(curve)
    if slope is None or ends is None:
        return absent("distance grows with L", "Fig. 2a", "linear")
    return Seen(
        claim="distance grows with L",
        where="Fig. 2a",
        statement="At N = 5 the true distance grows roughly linearly in L.",
        paper="linear",
        printed=f"{power(slope, ends)}; {at_longest(curve)}",
        corrected="same",
        verdict=word(within(ends, limits.LINEAR), enough(curve)),
        comment="Linear growth means that s does not shrink: in the regime of Lemma 1, where "
        "weights vanish like 1/L, the distance would be bounded.",
    )


def expectation_grows(evidence: Evidence) -> Seen:
    """The same of the expectation, under both formulas."""
    forms = ("printed", "appendix", "upper")
    curves = {form: evidence.curve("fig2a", f"expected_{form}", "length") for form in forms}
    slopes = {form: log_slope(curve) for form, curve in curves.items()}
    ends = {form: slope_reach(curve) for form, curve in curves.items()}
    printed, corrected = ends["printed"], ends["appendix"]
    if printed is None or corrected is None:
        return absent("expectation grows with L", "Fig. 2a", "linear")
    by = [within(each, limits.LINEAR) for each in (printed, corrected)]
    upper = curves["upper"]
    return Seen(
        claim="expectation grows with L",
        where="Fig. 2a",
        statement="At N = 5 the expected distance grows roughly linearly in L.",
        paper="linear",
        printed=f"{power(slopes['printed'], printed)}; {at_longest(curves['printed'])}",
        corrected=f"{power(slopes['appendix'], corrected)}; {at_longest(curves['appendix'], 2)} "
        f"(eq. 24); its upper side {power(slopes['upper'], ends['upper'])}"
        + (f"; {at_longest(upper, 1)}" if upper else ""),
        verdict=either(*by, judged=enough(curves["printed"])),
        comment="The true expectation is at most (N + 1) max‖x‖ at any length; the printed "
        "expression grows like (L − N)‖x̄‖.",
    )


def bound_is_safe(evidence: Evidence) -> Seen:
    """In the means over heads: safe is never below the distance, conservative well above it."""
    bound, distance = (
        evidence.curve("fig2a", name, "length") for name in ("bound_printed", "distance")
    )
    ratios = {at: bound[at]["mean"] / distance[at]["mean"] for at in distance if at in bound}
    if not ratios:
        return absent("bound is safe, conservative", "Fig. 2a", "above, conservative")
    longest = max(ratios)
    safe = min(ratios.values()) >= 1 - 1e-6
    wide = ratio(reach(bound[longest]), reach(distance[longest]))
    return Seen(
        claim="bound is safe, conservative",
        where="Fig. 2a",
        statement="The bound of Theorem 1.1 lies safely above the distance.",
        paper="above, conservative",
        printed=f"{ratios[longest]:.2f} × the distance at L = {longest}",
        corrected=evidence.tighter("fig2a", "length"),
        verdict=word(
            both(safe, within(wide, (limits.CONSERVATIVE, math.inf))),
            enough(distance),
        ),
        comment="Theorem 1.1 is true for the top N; the two-sided sandwich costs less and is "
        "tighter.",
    )


def distance_levels_off(evidence: Evidence) -> Seen:
    """A plateau: after N = 20 the distance moves by less than `PLATEAU` of its earlier rise."""
    curve = evidence.curve("fig2b", "distance", "top_n")
    if not {1, 20, 100} <= curve.keys():
        return absent("distance levels off", "Fig. 2b", "plateau beyond N ≈ 20")
    share, ends = moved(*(curve[n]["mean"] for n in (1, 20, 100))), _moved_reach(curve)
    return Seen(
        claim="distance levels off",
        where="Fig. 2b",
        statement="At the longest L the distance levels off beyond N ≈ 20.",
        paper="plateau beyond N ≈ 20",
        printed=", ".join(told(curve[n]) for n in (1, 20, 100)) + " at N = 1, 20, 100",
        corrected="same",
        verdict=word(below(ends, limits.PLATEAU), enough(curve)),
        comment=f"After N = 20 it moves by {share:.0%} of its rise before. For larger N it falls "
        "to 0 at N = L, because fewer tokens are left to be summed over.",
    )


def moved(one: float, twenty: float, hundred: float) -> float:
    """How far the distance goes from N = 20 to 100, as a share of its rise from 1 to 20."""
    return abs(hundred - twenty) / (twenty - one) if twenty > one else math.inf


def _moved_reach(curve: Curve) -> Interval:
    """A band that windows share moves the whole curve: its middle is what is compared."""
    ends = [moved(*(reach(curve[n])[side] for n in (1, 20, 100))) for side in (0, 1)]
    ends.append(moved(*(curve[n]["mean"] for n in (1, 20, 100))))
    return min(ends), max(ends)


def expectation_converges(evidence: Evidence) -> Seen:
    """Converged: within `CONVERGED` of the distance at N = 100, and closer than at N = 5."""
    distance = evidence.curve("fig2b", "distance", "top_n")
    ratios_told, holds = [], []
    for form in ("printed", "appendix"):
        curve = evidence.curve("fig2b", f"expected_{form}", "top_n")
        if not {5, 100} <= curve.keys() & distance.keys():
            return absent("expectation converges", "Fig. 2b", "converge towards N = 100")
        ratios = [curve[n]["mean"] / distance[n]["mean"] for n in (5, 100)]
        ratios_told.append(f"E/d̃ = {ratios[0]:.2g} at N = 5, {ratios[1]:.2g} at N = 100")
        gaps = [abs(math.log(each)) for each in ratios]
        ends = tuple(map(math.log, ratio(reach(curve[100]), reach(distance[100]))))
        near = within((ends[0], ends[1]), (-limits.CONVERGED, limits.CONVERGED))
        holds.append(both(gaps[1] < gaps[0], near))
    return Seen(
        claim="expectation converges",
        where="Fig. 2b",
        statement="True and expected distance converge towards N = 100.",
        paper="converge",
        printed=ratios_told[0],
        corrected=f"{ratios_told[1]} (eq. 24)",
        verdict=either(*holds, judged=enough(distance)),
        comment="A random subset misses the few heavy tokens: its true expectation stays far below "
        "the distance of the top N until N is near L.",
    )


def bound_tightens(evidence: Evidence) -> Seen:
    """Tightens: bound over distance is smaller at N = 100 than at N = 20."""
    bound, distance = (
        evidence.curve("fig2b", name, "top_n") for name in ("bound_printed", "distance")
    )
    if not {20, 100} <= bound.keys() & distance.keys():
        return absent("bound tightens", "Fig. 2b", "tightens towards N = 100")
    ratios = {n: bound[n]["mean"] / distance[n]["mean"] for n in (1, 20, 100) if n in bound}
    ends = [
        [reach(bound[n])[side] / reach(distance[n])[side] for n in (20, 100)] for side in (0, 1)
    ]
    change = [late / early for early, late in ends] + [ratios[100] / ratios[20]]
    tight = below((min(change), max(change)), limits.TIGHTER)
    shown = ", ".join(f"{each:.2f}" for each in ratios.values())
    return Seen(
        claim="bound tightens",
        where="Fig. 2b",
        statement="The upper bound tightens as N grows towards 100.",
        paper="tightens",
        printed=f"bound/d̃ = {shown} at N = {', '.join(map(str, ratios))}",
        corrected=evidence.tighter("fig2b", "top_n"),
        verdict=word(tight, enough(distance)),
        comment=""
        if tight
        else "The printed bound loosens with N, as the selected vectors cancel; nothing collapses.",
    )
