"""Figures 2a, 2b and 3: the distance, its expectation, its bound; separability and its bound."""

import math
from itertools import pairwise

from headgauge.paper import limits
from headgauge.paper.verdicts.evidence import (
    Evidence,
    Interval,
    Row,
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
from headgauge.registry.published import PLATEAU, SETTLED


@claim(
    "distance grows with L",
    "Fig. 2a",
    "At N = 5 the true distance grows roughly linearly in L.",
    "linear",
)
def distance_grows(evidence: Evidence) -> Seen | None:
    """Linear: the slope of log d̃ over log L is within `LINEAR`."""
    curve = evidence.curve("fig2a", "distance", "length")
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
    printed, corrected, upper = (
        evidence.curve("fig2a", f"expected_{form}", "length")
        for form in ("printed", "appendix", "upper")
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
    bound, distance = (
        evidence.curve("fig2a", name, "length") for name in ("bound_printed", "distance")
    )
    ratios = {at: bound[at]["mean"] / distance[at]["mean"] for at in distance if at in bound}
    if not ratios:
        return None
    longest = max(ratios)
    safe = min(ratios.values()) >= 1 - 1e-6
    wide = ratio(reach(bound[longest]), reach(distance[longest]))
    return Seen(
        f"{ratios[longest]:.2f} × the distance at L = {longest}",
        verdict=word(both(safe, above(wide, limits.CONSERVATIVE)), enough(distance[max(distance)])),
        corrected=_sandwich(evidence, "fig2a", "length"),
        comment="Theorem 1.1 is true for the top N; the two-sided sandwich costs less and is "
        "tighter.",
    )


def _sandwich(evidence: Evidence, figure: str, along: str) -> str:
    """How far the corrected sandwich is above the distance, at the last place of a figure."""
    upper, distance = (evidence.curve(figure, name, along) for name in ("bound_upper", "distance"))
    last = max(upper.keys() & distance.keys(), default=None)
    if last is None:
        return "not measured"
    return f"sandwich: {upper[last]['mean'] / distance[last]['mean']:.3f} × the distance"


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
    curve = evidence.curve("fig2b", "distance", "top_n")
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
    distance = evidence.curve("fig2b", "distance", "top_n")
    shown, holds = [], []
    for form in ("printed", "appendix"):
        curve = evidence.curve("fig2b", f"expected_{form}", "top_n")
        if not {5, 100} <= curve.keys() & distance.keys():
            return None
        early, late = (curve[n]["mean"] / distance[n]["mean"] for n in (5, 100))
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
    bound, distance = (
        evidence.curve("fig2b", name, "top_n") for name in ("bound_printed", "distance")
    )
    if not {20, 100} <= bound.keys() & distance.keys():
        return None
    ratios = {n: bound[n]["mean"] / distance[n]["mean"] for n in (1, 20, 100) if n in bound}
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
        corrected=_sandwich(evidence, "fig2b", "top_n"),
        comment="" if tight else loose,
    )


@claim(
    "separability settles at .70–.85",
    "Fig. 3",
    "N_s/N falls up to N ≈ 16, then stays between .70 and .85.",
    ".70 to .85",
)
def separability_settles(evidence: Evidence) -> Seen | None:
    """Falls to N = 16, and every mean from there to 100 is in .70 to .85."""
    curve = evidence.curve("fig3", "separability", "top_n")
    early = [row["mean"] for n, row in curve.items() if n <= SETTLED]
    late = [row for n, row in curve.items() if n >= SETTLED]
    if not late:
        return None
    falls = len(early) > 1 and all(b < a for a, b in pairwise(early))
    settles = both(*(within(reach(row), PLATEAU) for row in late))
    choices = evidence.frames["choices"]
    inside = choices.filter(
        choices["plateau_low"] >= PLATEAU[0], choices["plateau_high"] <= PLATEAU[1]
    )
    which = ["/".join(names) for names in inside.select("vectors", "scale", "keys").rows()]
    low, high = choices["plateau_low"].min(), choices["plateau_high"].max()
    between = "no numbers" if low is None or high is None else f"{low:.2f} and {high:.2f}"
    means, last = [row["mean"] for row in late], late[-1]
    shown = f"{min(means):.2f} to {max(means):.2f} for N = {SETTLED} to {last['top_n']}"
    if last["low"] is not None:
        shown += (
            f" (at N = {last['top_n']}: {last['mean']:.3f}, 95 % {last['low']:.3f} to "
            f"{last['high']:.3f})"
        )
    return Seen(
        shown,
        verdict=word(both(falls, settles), enough(last)),
        corrected="same (a measurement, not a bound)",
        comment=f"In the band: {', '.join(which) or 'no choice'}; all {len(choices)} choices lie "
        f"between {between}. No bound implies it.",
    )


@claim(
    "upper bound tracks the maxima",
    "Fig. 3",
    "Theorem 2's upper bound tracks the empirical maxima closely.",
    "tracks closely",
)
def upper_bound_tracks(evidence: Evidence) -> Seen | None:
    """Tracks: within `TRACKS` of the largest head's mean at every N.

    At best it is reproduced with the printed formula alone: the bound is false, and what is true
    needs vectors that no model has.
    """
    bound, found = (
        evidence.curve("fig3", name, "top_n")
        for name in ("separability_printed_upper", "separability")
    )
    gaps = {n: bound[n]["mean"] - row["maximum"] for n, row in found.items() if n in bound}
    if not gaps:
        return None
    widest = max(gaps, key=lambda n: abs(gaps[n]))
    broken = ", ".join(str(n) for n, gap in gaps.items() if gap < 0)
    near = [_gap_reach(bound[n], found[n]) for n in gaps]
    return Seen(
        f"within {abs(gaps[widest]):.3f} (at N = {widest}); "
        + (f"the maximum exceeds it at N = {broken}" if broken else "above"),
        verdict=either(
            both(*(within(each, (-limits.TRACKS, limits.TRACKS)) for each in near)),
            False,
            judged=enough(found[max(found)]),
        ),
        corrected="no bound without independent, uniform vectors",
        comment="The bound is false (N = 1 always violates it), and with the paper's radius it can "
        "never fall below .939: it is near any maximum that is near 1.",
    )


def _gap_reach(bound: Row, found: Row) -> Interval:
    """Bound less largest head, with the bands of both: a head's moves like the mean's, at least."""
    (low, high), (least, most) = reach(bound), reach(found)
    gap = found["maximum"] - found["mean"]
    return low - most - gap, high - least - gap


CLAIMS = (
    distance_grows,
    expectation_grows,
    bound_is_safe,
    distance_levels_off,
    expectation_converges,
    bound_tightens,
)
