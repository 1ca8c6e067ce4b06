"""Figure 3: separability and Theorem 2's upper bound."""

from itertools import pairwise
from typing import Any

import polars as pl

from headgauge.paper import limits
from headgauge.paper.verdicts.evidence import (
    Evidence,
    Interval,
    Seen,
    absent,
    both,
    either,
    enough,
    reach,
    within,
    word,
)


def separability_settles(evidence: Evidence) -> Seen:
    """Falls to N = 16, and every mean from there to 100 is in .70 to .85."""
    curve = evidence.curve("fig3", "separability", "top_n")
    early = [curve[n]["mean"] for n in sorted(curve) if n <= limits.SETTLED]
    late = {n: curve[n] for n in sorted(curve) if n >= limits.SETTLED}
    if not late:
        return absent("separability settles at .70–.85", "Fig. 3", ".70 to .85")
    falls = len(early) > 1 and all(b < a for a, b in pairwise(early))
    settles = both(*(within(reach(row), limits.BAND) for row in late.values()))
    choices = evidence.frames["choices"]
    low, high = limits.BAND
    which = [
        f"{row['vectors']}/{row['scale']}/{row['keys']}"
        for row in choices.iter_rows(named=True)
        if row["plateau_low"] is not None
        and low <= row["plateau_low"] <= row["plateau_high"] <= high
    ]
    means = [row["mean"] for row in late.values()]
    told = f"{min(means):.2f} to {max(means):.2f} for N = {limits.SETTLED} to {max(curve)}"
    told += _interval(curve[max(curve)])
    return Seen(
        claim="separability settles at .70–.85",
        where="Fig. 3",
        statement="N_s/N falls up to N ≈ 16, then stays between .70 and .85.",
        paper=".70 to .85",
        printed=told,
        corrected="same (a measurement, not a bound)",
        verdict=word(both(falls, settles), enough(curve)),
        comment=f"In the band: {', '.join(which) or 'no choice'}; all {len(choices)} choices lie "
        f"between {_range(choices)}. No bound implies it.",
    )


def upper_bound_tracks(evidence: Evidence) -> Seen:
    """Tracks: within `TRACKS` of the largest head's mean at every N.

    At best it is reproduced with the printed formula alone: the bound is false, and what is true
    needs vectors that no model has.
    """
    bound = evidence.curve("fig3", "separability_printed_upper", "top_n")
    found = evidence.curve("fig3", "separability", "top_n")
    there = sorted(bound.keys() & found.keys())
    if not there:
        return absent("upper bound tracks the maxima", "Fig. 3", "tracks closely")
    gaps = {n: bound[n]["mean"] - found[n]["maximum"] for n in there}
    widest = max(there, key=lambda n: abs(gaps[n]))
    broken = [n for n in there if gaps[n] < 0]
    near = both(
        *(within(_gap_reach(bound[n], found[n]), (-limits.TRACKS, limits.TRACKS)) for n in there)
    )
    return Seen(
        claim="upper bound tracks the maxima",
        where="Fig. 3",
        statement="Theorem 2's upper bound tracks the empirical maxima closely.",
        paper="tracks closely",
        printed=f"within {abs(gaps[widest]):.3f} (at N = {widest}); "
        + (f"the maximum exceeds it at N = {', '.join(map(str, broken))}" if broken else "above"),
        corrected="no bound without independent, uniform vectors",
        verdict=either(near, False, judged=enough(found)),
        comment="The bound is false (N = 1 always violates it), and with the paper's radius it can "
        "never fall below .939: it is near any maximum that is near 1.",
    )


def _gap_reach(bound: dict[str, Any], found: dict[str, Any]) -> Interval:
    """Bound less largest head, with the bands of both: a head's moves like the mean's, at least."""
    (low, high), (below, above) = reach(bound), reach(found)
    gap = found["maximum"] - found["mean"]
    return low - above - gap, high - below - gap


def _interval(row: dict[str, Any]) -> str:
    if row["low"] is None:
        return ""
    return (
        f" (at N = {row['top_n']}: {row['mean']:.3f}, 95 % {row['low']:.3f} to {row['high']:.3f})"
    )


def _range(choices: pl.DataFrame) -> str:
    low, high = choices["plateau_low"].min(), choices["plateau_high"].max()
    return "no numbers" if low is None or high is None else f"{low:.2f} and {high:.2f}"
