"""Figures 2a and 2b: the distance, its expectation, its bound."""

import math

from headgauge.paper import limits
from headgauge.paper.verdicts.evidence import (
    Curve,
    Evidence,
    Seen,
    above,
    at_longest,
    below,
    both,
    claim,
    either,
    enough,
    growth,
    power,
    ratio,
    reach,
    told,
    within,
    word,
)


@claim(
    "distance grows with L",
    "Fig. 2a",
    "At N = 5 the true distance grows roughly linearly in L.",
    "linear",
)
def distance_grows(evidence: Evidence) -> Seen | None:
    """Linear: the slope of log d̃ over log L is within `LINEAR`."""
    curve = evidence.curve("fig2a", "distance")
    found = growth(curve)
    return found and Seen(
        f"{power(found)}; {at_longest(curve)}",
        verdict=word(within(found[1], limits.LINEAR), enough(curve[max(curve)])),
        comment="Linear growth means that s does not shrink: in the regime of Lemma 1, where "
        "weights vanish like 1/L, the distance would be bounded.",
    )


@claim(
    "expectation grows with L",
    "Fig. 2a",
    "At N = 5 the expected distance grows roughly linearly in L.",
    "linear",
)
def expectation_grows(evidence: Evidence) -> Seen | None:
    """The same of the expectation, under both formulas."""
    printed, corrected, upper = evidence.curves(
        "fig2a", "expected_printed", "expected_appendix", "expected_upper"
    )
    found = [growth(printed), growth(corrected)]
    if None in found:
        return None
    return Seen(
        f"{power(found[0])}; {at_longest(printed)}",
        verdict=either(
            *(each and within(each[1], limits.LINEAR) for each in found),
            judged=enough(printed[max(printed)]),
        ),
        corrected=f"{power(found[1])}; {at_longest(corrected, 2)} (eq. 24); its upper side "
        f"{power(growth(upper))}{f'; {at_longest(upper, 1)}' if upper else ''}",
        comment="The true expectation is at most (N + 1) max‖x‖ at any length; the printed "
        "expression grows like (L − N)‖x̄‖.",
    )


@claim(
    "bound is safe, conservative",
    "Fig. 2a",
    "The bound of Theorem 1.1 lies safely above the distance.",
    "above, conservative",
)
def bound_is_safe(evidence: Evidence) -> Seen | None:
    """In the means over heads: safe is never below the distance, conservative well above it."""
    measures = ("bound_printed", "bound_upper", "distance")
    bound, upper, distance = evidence.curves("fig2a", *measures)
    ratios = _over(bound, distance)
    if not ratios:
        return None
    longest = max(ratios)
    safe = min(ratios.values()) >= 1 - 1e-6
    wide = ratio(reach(bound[longest]), reach(distance[longest]))
    return Seen(
        f"{ratios[longest]:.2f} × the distance at L = {longest}",
        verdict=word(both(safe, above(wide, limits.CONSERVATIVE)), enough(distance[max(distance)])),
        corrected=_sandwich(upper, distance),
        comment="Theorem 1.1 is true for the top N; the two-sided sandwich costs less and is "
        "tighter.",
    )


def _over(curve: Curve, distance: Curve) -> dict[int, float]:
    """The ratios of the means, where both are."""
    return {at: row["mean"] / distance[at]["mean"] for at, row in curve.items() if at in distance}


def _sandwich(upper: Curve, distance: Curve) -> str:
    """How far the corrected sandwich is above the distance, at the last place of a figure."""
    ratios = _over(upper, distance)
    return f"sandwich: {ratios[max(ratios)]:.3f} × the distance" if ratios else "not measured"


@claim(
    "distance levels off",
    "Fig. 2b",
    "At the longest L the distance levels off beyond N ≈ 20.",
    "plateau beyond N ≈ 20",
)
def distance_levels_off(evidence: Evidence) -> Seen | None:
    """A plateau: after N = 20 the distance moves by less than `LEVELLED` of its earlier rise.

    A band that windows share moves the whole curve: its ends are compared with each other.
    """
    curve = evidence.curve("fig2b", "distance")
    if not {1, 20, 100} <= curve.keys():
        return None
    share = moved(*(curve[n]["mean"] for n in (1, 20, 100)))
    ends = [moved(*(reach(curve[n])[side] for n in (1, 20, 100))) for side in (0, 1)]
    return Seen(
        ", ".join(told(curve[n]) for n in (1, 20, 100)) + " at N = 1, 20, 100",
        verdict=word(
            below((min(share, *ends), max(share, *ends)), limits.LEVELLED),
            enough(curve[max(curve)]),
        ),
        comment=f"After N = 20 it moves by {share:.0%} of its rise before. For larger N it falls "
        "to 0 at N = L, because fewer tokens are left to be summed over.",
    )


def moved(one: float, twenty: float, hundred: float) -> float:
    """How far the distance goes from N = 20 to 100, as a share of its rise from 1 to 20."""
    return abs(hundred - twenty) / (twenty - one) if twenty > one else math.inf


@claim(
    "expectation converges",
    "Fig. 2b",
    "True and expected distance converge towards N = 100.",
    "converge",
)
def expectation_converges(evidence: Evidence) -> Seen | None:
    """Converged: within `CONVERGED` of the distance at N = 100, and closer than at N = 5."""
    distance = evidence.curve("fig2b", "distance")
    shown, holds = [], []
    for form in ("printed", "appendix"):
        curve = evidence.curve("fig2b", f"expected_{form}")
        ratios = _over(curve, distance)
        if not {5, 100} <= ratios.keys():
            return None
        early, late = ratios[5], ratios[100]
        shown.append(f"E/d̃ = {early:.2g} at N = 5, {late:.2g} at N = 100")
        low, high = map(math.log, ratio(reach(curve[100]), reach(distance[100])))
        near = within((low, high), (-limits.CONVERGED, limits.CONVERGED))
        holds.append(both(abs(math.log(late)) < abs(math.log(early)), near))
    return Seen(
        shown[0],
        verdict=either(*holds, judged=enough(distance[max(distance)])),
        corrected=f"{shown[1]} (eq. 24)",
        comment="A random subset misses the few heavy tokens: its true expectation stays far below "
        "the distance of the top N until N is near L.",
    )


@claim("bound tightens", "Fig. 2b", "The upper bound tightens as N grows towards 100.", "tightens")
def bound_tightens(evidence: Evidence) -> Seen | None:
    """Tightens: bound over distance is smaller at N = 100 than at N = 20."""
    measures = ("bound_printed", "bound_upper", "distance")
    bound, upper, distance = evidence.curves("fig2b", *measures)
    ratios = {n: each for n, each in _over(bound, distance).items() if n in (1, 20, 100)}
    if not {20, 100} <= ratios.keys():
        return None
    ends = [
        [reach(bound[n])[side] / reach(distance[n])[side] for n in (20, 100)] for side in (0, 1)
    ]
    change = [late / early for early, late in ends] + [ratios[100] / ratios[20]]
    tight = below((min(change), max(change)), limits.TIGHTER)
    shown = ", ".join(f"{each:.2f}" for each in ratios.values())
    loose = "The printed bound loosens with N, as the selected vectors cancel; nothing collapses."
    return Seen(
        f"bound/d̃ = {shown} at N = {', '.join(map(str, ratios))}",
        verdict=word(tight, enough(distance[max(distance)])),
        corrected=_sandwich(upper, distance),
        comment="" if tight else loose,
    )


CLAIMS = (
    distance_grows,
    expectation_grows,
    bound_is_safe,
    distance_levels_off,
    expectation_converges,
    bound_tightens,
)
