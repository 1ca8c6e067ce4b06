"""Figure 3: separability and Theorem 2's upper bound."""

from itertools import pairwise
from typing import Any

import polars as pl

from headgauge.experiments.choice_table import BAND, SETTLED, named
from headgauge.experiments.verdicts.evidence import Evidence, absent, word
from headgauge.results.paper_schema import NOT_REPRODUCED, PRINTED_ONLY, PaperVerdictRow


def separability_settles(evidence: Evidence) -> PaperVerdictRow:
    """Falls to N = 16, and every mean from there to 100 is in .70 to .85."""
    curve = evidence.curve("fig3", "separability", "top_n")
    early = [curve[n]["mean"] for n in sorted(curve) if n <= SETTLED]
    late = [curve[n]["mean"] for n in sorted(curve) if n >= SETTLED]
    if not late:
        return absent("separability settles at .70–.85", "Fig. 3", ".70 to .85")
    falls = len(early) > 1 and all(b < a for a, b in pairwise(early))
    settles = BAND[0] <= min(late) <= max(late) <= BAND[1]
    choices = evidence.frames["choices"]
    which = [
        named(row)
        for row in choices.iter_rows(named=True)
        if row["plateau_low"] is not None
        and BAND[0] <= row["plateau_low"] <= row["plateau_high"] <= BAND[1]
    ]
    told = f"{min(late):.2f} to {max(late):.2f} for N = {SETTLED} to {max(curve)}"
    told += _interval(curve[max(curve)])
    return PaperVerdictRow(
        claim="separability settles at .70–.85",
        where="Fig. 3",
        statement="N_s/N falls up to N ≈ 16, then stays between .70 and .85.",
        paper=".70 to .85",
        printed=told,
        corrected="same (a measurement, not a bound)",
        verdict=word(falls and settles),
        comment=f"In the band: {', '.join(which) or 'no choice'}; all {len(choices)} choices lie "
        f"between {_range(choices)}. It is a property of the vectors, not a law: no bound implies "
        "it.",
    )


def upper_bound_tracks(evidence: Evidence) -> PaperVerdictRow:
    """Tracks: within .05 of the largest head's mean at every N."""
    bound = evidence.curve("fig3", "separability_printed_upper", "top_n")
    found = evidence.curve("fig3", "separability", "top_n")
    both = sorted(bound.keys() & found.keys())
    if not both:
        return absent("upper bound tracks the maxima", "Fig. 3", "tracks closely")
    gaps = {n: bound[n]["mean"] - found[n]["maximum"] for n in both}
    widest = max(both, key=lambda n: abs(gaps[n]))
    broken = [n for n in both if gaps[n] < 0]
    tracks = abs(gaps[widest]) <= 0.05
    return PaperVerdictRow(
        claim="upper bound tracks the maxima",
        where="Fig. 3",
        statement="Theorem 2's upper bound tracks the empirical maxima closely.",
        paper="tracks closely",
        printed=f"within {abs(gaps[widest]):.3f} (at N = {widest}); "
        + (f"the maximum exceeds it at N = {', '.join(map(str, broken))}" if broken else "above"),
        corrected="no bound without independent, uniform vectors",
        verdict=PRINTED_ONLY if tracks else NOT_REPRODUCED,
        comment="The bound is false (N = 1 always violates it), and with the paper's radius it can "
        "never fall below .939: it is near any maximum that is near 1.",
    )


def _interval(row: dict[str, Any]) -> str:
    if row["low"] is None:
        return ""
    return (
        f" (at N = {row['top_n']}: {row['mean']:.3f}, 95 % {row['low']:.3f} to {row['high']:.3f})"
    )


def _range(choices: pl.DataFrame) -> str:
    low, high = choices["plateau_low"].min(), choices["plateau_high"].max()
    return "no numbers" if low is None or high is None else f"{low:.2f} and {high:.2f}"
