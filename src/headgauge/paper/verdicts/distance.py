"""Figures 2a and 2b: the distance, its expectation, its bound."""

import math

from headgauge.paper import limits
from headgauge.paper.evidence import Curve, Evidence, Interval, Seen, both, claim, word


@claim("distance grows with L", "Fig. 2a", "linear")
def distance_grows(evidence: Evidence) -> Seen:
    """At N = 5 the true distance grows roughly linearly in L."""
    curve = evidence.curve("fig2a", "distance")
    found = curve.growth()
    return Seen(
        f"{found.in_words()}; {curve.at_longest()}",
        verdict=word(found.interval.within(*limits.LINEAR), judged=curve.last.enough()),
        comment="Linear growth means that s does not shrink: in the regime of Lemma 1, where "
        "weights vanish like 1/L, the distance would be bounded.",
    )


@claim("expectation grows with L", "Fig. 2a", "linear")
def expectation_grows(evidence: Evidence) -> Seen:
    """At N = 5 the expected distance grows roughly linearly in L."""
    curves = evidence.curves("fig2a", "expected_printed", "expected_appendix", "expected_upper")
    printed, corrected, upper = curves
    found = printed.growth(), corrected.growth()
    linear = [each.interval.within(*limits.LINEAR) for each in found]
    return Seen(
        f"{found[0].in_words()}; {printed.at_longest()}",
        verdict=word(*linear, judged=printed.last.enough()),
        corrected=f"{found[1].in_words()}; {corrected.at_longest(2)} (eq. 24); its upper side "
        f"{upper.power()}{f'; {upper.at_longest(1)}' if upper else ''}",
        comment="The true expectation is at most (N + 1) max‖x‖ at any length; the printed "
        "expression grows like (L − N)‖x̄‖.",
    )


@claim("bound is safe, conservative", "Fig. 2a", "above, conservative")
def bound_is_safe(evidence: Evidence) -> Seen:
    """The bound of Theorem 1.1 lies safely above the distance.

    In the means over heads: safe is never below the distance, conservative well above it.
    """
    bound, upper, distance = evidence.curves("fig2a", "bound_printed", "bound_upper", "distance")
    ratios = bound.over(distance)
    longest = max(ratios, default=0)
    wide = bound[longest].reach().over(distance[longest].reach())
    safe = min(ratios.values()) >= 1 - 1e-6
    return Seen(
        f"{ratios[longest]:.2f} × the distance at L = {longest}",
        verdict=word(both(safe, wide.above(limits.CONSERVATIVE)), judged=distance.last.enough()),
        corrected=_sandwich(upper, distance),
        comment="Theorem 1.1 is true for the top N; the two-sided sandwich costs less and is "
        "tighter.",
    )


def _sandwich(upper: Curve, distance: Curve) -> str:
    """How far the corrected sandwich is above the distance, at the last place of a figure."""
    ratios = upper.over(distance)
    return f"sandwich: {ratios[max(ratios)]:.3f} × the distance" if ratios else "not measured"


@claim("distance levels off", "Fig. 2b", "plateau beyond N ≈ 20")
def distance_levels_off(evidence: Evidence) -> Seen:
    """At the longest L the distance levels off beyond N ≈ 20.

    A plateau: after N = 20 the distance moves by less than `LEVELLED` of its earlier rise. A band
    that windows share moves the whole curve: its ends are compared with each other.
    """
    curve = evidence.curve("fig2b", "distance")
    there = [curve[n] for n in (1, 20, 100)]
    share = moved(*(row["mean"] for row in there))
    shares = [share, *(moved(*(row.reach()[side] for row in there)) for side in (0, 1))]
    level = Interval(min(shares), max(shares)).below(limits.LEVELLED)
    return Seen(
        ", ".join(row.in_words() for row in there) + " at N = 1, 20, 100",
        verdict=word(level, judged=curve.last.enough()),
        comment=f"After N = 20 it moves by {share:.0%} of its rise before. For larger N it falls "
        "to 0 at N = L, because fewer tokens are left to be summed over.",
    )


def moved(one: float, twenty: float, hundred: float) -> float:
    """How far the distance goes from N = 20 to 100, as a share of its rise from 1 to 20."""
    return abs(hundred - twenty) / (twenty - one) if twenty > one else math.inf


@claim("expectation converges", "Fig. 2b", "converge")
def expectation_converges(evidence: Evidence) -> Seen:
    """True and expected distance converge towards N = 100.

    Converged: within `CONVERGED` of the distance at N = 100, and closer than at N = 5.
    """
    distance = evidence.curve("fig2b", "distance")
    shown, holds = [], []
    for curve in evidence.curves("fig2b", "expected_printed", "expected_appendix"):
        early, late = (curve[n]["mean"] / distance[n]["mean"] for n in (5, 100))
        shown.append(f"E/d̃ = {early:.2g} at N = 5, {late:.2g} at N = 100")
        ends = Interval(*map(math.log, curve[100].reach().over(distance[100].reach())))
        near = ends.within(-limits.CONVERGED, limits.CONVERGED)
        holds.append(both(abs(math.log(late)) < abs(math.log(early)), near))
    return Seen(
        shown[0],
        verdict=word(*holds, judged=distance.last.enough()),
        corrected=f"{shown[1]} (eq. 24)",
        comment="A random subset misses the few heavy tokens: its true expectation stays far below "
        "the distance of the top N until N is near L.",
    )


@claim("bound tightens", "Fig. 2b", "tightens")
def bound_tightens(evidence: Evidence) -> Seen:
    """The upper bound tightens as N grows towards 100."""
    bound, upper, distance = evidence.curves("fig2b", "bound_printed", "bound_upper", "distance")
    changes = []
    for side in (0, 1):
        early, late = (bound[n].reach()[side] / distance[n].reach()[side] for n in (20, 100))
        changes.append(late / early)
    ratios = {n: each for n, each in bound.over(distance).items() if n in (1, 20, 100)}
    changes.append(ratios[100] / ratios[20])
    tight = Interval(min(changes), max(changes)).below(limits.TIGHTER)
    shown = ", ".join(f"{each:.2f}" for each in ratios.values())
    loose = "The printed bound loosens with N, as the selected vectors cancel; nothing collapses."
    return Seen(
        f"bound/d̃ = {shown} at N = {', '.join(map(str, ratios))}",
        verdict=word(tight, judged=distance.last.enough()),
        corrected=_sandwich(upper, distance),
        comment="" if tight else loose,
    )
