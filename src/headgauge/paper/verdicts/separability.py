"""Figure 3: how many of the selected tokens heads separate, and its upper bound."""

from itertools import pairwise

from headgauge.paper import limits
from headgauge.paper.evidence import (
    Curve,
    Evidence,
    Interval,
    NotMeasuredError,
    Seen,
    both,
    claim,
    word,
)
from headgauge.registry.published import PLATEAU, SETTLED


@claim("separability settles at .70–.85", "Fig. 3", ".70 to .85")
def separability_settles(evidence: Evidence) -> Seen:
    """N_s/N falls up to N ≈ 16, then stays between .70 and .85."""
    curve = evidence.curve("fig3", "separability")
    early = [row["mean"] for n, row in curve.items() if n <= SETTLED]
    late = Curve((n, row) for n, row in curve.items() if n >= SETTLED)
    falls = len(early) > 1 and all(b < a for a, b in pairwise(early))
    settles = both(*(row.reach().within(*PLATEAU) for row in late.values()))
    choices = evidence.frames["choices"]
    ends = choices["plateau_low"], choices["plateau_high"]
    inside = choices.filter(ends[0] >= PLATEAU[0], ends[1] <= PLATEAU[1])
    which = ["/".join(names) for names in inside.select("vectors", "scale", "keys").rows()]
    low, high = ends[0].min(), ends[1].max()
    between = "no numbers" if low is None or high is None else f"{low:.2f} and {high:.2f}"
    means, last = [row["mean"] for row in late.values()], late.last
    shown = f"{min(means):.2f} to {max(means):.2f} for N = {SETTLED} to {last['top_n']}"
    if last["low"] is not None:
        shown += (
            f" (at N = {last['top_n']}: {last['mean']:.3f}, 95 % {last['low']:.3f} to "
            f"{last['high']:.3f})"
        )
    return Seen(
        shown,
        verdict=word(both(falls, settles), judged=last.enough()),
        corrected="same (a measurement, not a bound)",
        comment=f"In the band: {', '.join(which) or 'no choice'}; all {len(choices)} choices lie "
        f"between {between}. No bound implies it.",
    )


@claim("upper bound tracks the maxima", "Fig. 3", "tracks closely")
def upper_bound_tracks(evidence: Evidence) -> Seen:
    """Theorem 2's upper bound tracks the empirical maxima closely.

    Tracks: within `TRACKS` of the largest head's mean at every N. At best it is reproduced with the
    printed formula alone: the bound is false, and what is true needs vectors that no model has.
    """
    bound, found = evidence.curves("fig3", "separability_printed_upper", "separability")
    gaps = {n: bound[n]["mean"] - row["maximum"] for n, row in found.items() if n in bound}
    if not gaps:
        raise NotMeasuredError
    widest = max(gaps, key=lambda n: abs(gaps[n]))
    broken = ", ".join(str(n) for n, gap in gaps.items() if gap < 0)
    near = []
    for n in gaps:  # with the bands of both: a head's moves like the mean's, at least
        (low, high), (least, most) = bound[n].reach(), found[n].reach()
        above = found[n]["maximum"] - found[n]["mean"]
        reaches = Interval(low - most - above, high - least - above)
        near.append(reaches.within(-limits.TRACKS, limits.TRACKS))
    return Seen(
        f"within {abs(gaps[widest]):.3f} (at N = {widest}); "
        + (f"the maximum exceeds it at N = {broken}" if broken else "above"),
        verdict=word(both(*near), False, judged=found.last.enough()),
        corrected="no bound without independent, uniform vectors",
        comment="The bound is false (N = 1 always violates it), and with the paper's radius it can "
        "never fall below .939: it is near any maximum that is near 1.",
    )
