"""Figure 3, and what discussion and guidelines make of it: what heads separate; and the run time.

Guidelines are tested as far as a model that is not trained further can test them.
"""

from itertools import pairwise

from headgauge.paper import limits
from headgauge.paper.choices import COLD_RULES, LENGTH_AWARE
from headgauge.paper.verdicts.evidence import (
    Evidence,
    Interval,
    Row,
    Seen,
    above,
    below,
    both,
    claim,
    either,
    enough,
    reach,
    told,
    within,
    word,
)
from headgauge.registry.published import HEADS_TOGETHER, PLATEAU, RUN_TIME, SEPARABLE, SETTLED
from headgauge.runs.paper_schema import UNTESTABLE
from headgauge.theory.normalization.coverage import multi_head_coverage


@claim(
    "separability settles at .70–.85",
    "Fig. 3",
    "N_s/N falls up to N ≈ 16, then stays between .70 and .85.",
    ".70 to .85",
)
def separability_settles(evidence: Evidence) -> Seen | None:
    """Falls to N = 16, and every mean from there to 100 is in .70 to .85."""
    curve = evidence.curve("fig3", "separability")
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
    bound, found = evidence.curves("fig3", "separability_printed_upper", "separability")
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


@claim(
    "3 heads at .8 cover 99 %",
    "Discussion",
    "Three heads with separability .8 cover 99 % of the top N.",
    "99 %",
)
def three_heads_cover(evidence: Evidence) -> Seen | None:
    """Three heads of a layer, asked for the same tokens, separate `COVERED` of them together."""
    three = evidence.row("coverage", heads=HEADS_TOGETHER)
    if three is None:
        return None
    low, high = reach(three, "covered")
    interval = "" if low == high else f" ({low:.3f} to {high:.3f})"
    return Seen(
        f"1 − .2³ = {multi_head_coverage(SEPARABLE, HEADS_TOGETHER):.3f}; with the p = "
        f"{three['separable']:.2f} of one head {three['formula']:.3f}",
        verdict=word(
            within((low, high), (limits.COVERED, 1.0)), three["rows"] >= limits.COVERAGE_ROWS
        ),
        corrected=f"measured {three['covered']:.3f}{interval} of {three['top_n']} tokens that all "
        f"heads of a layer are asked for; {three['independent']:.3f} if heads were independent",
        comment="Heads of a layer miss the same tokens, and select different ones when left alone.",
    )


@claim(
    "entropy and N_s/N are early signs",
    "Guideline 2",
    "A rising entropy or a drop in N_s/N shows that a head has saturated.",
    "entropy up, N_s/N down",
)
def signs_of_saturation(evidence: Evidence) -> Seen | None:
    """Over heads, a larger share of the largest entropy goes with a smaller N_s/N."""
    rows = {row["sign"]: row for row in evidence.rows("signs") if row["correlation"] is not None}
    entropy = rows.pop("entropy_share", None)
    if entropy is None:
        return None
    shares = evidence.curve("fig3", "separability")
    others = ", ".join(f"{s.replace('_', ' ')} {row['correlation']:.2f}" for s, row in rows.items())
    return Seen(
        f"rank correlation of entropy and N_s/N over {entropy['heads']} heads: "
        f"{told(entropy, 2, 'correlation')}" + (f"; others with N_s/N: {others}" if others else ""),
        verdict=word(
            below(reach(entropy, "correlation"), limits.SIGN),
            bool(shares) and enough(shares[max(shares)]),
        ),
        comment="Whether they come early needs training, which is not done here: tested is whether "
        "they are signs of the same thing over the heads of one model.",
    )


@claim(
    "length-aware rules restore separability",
    "Guideline 2",
    "More heads or a length-aware rule can restore separability.",
    "restores separability",
)
def length_aware_restores(evidence: Evidence) -> Seen | None:
    """SSMax that equals softmax at n = 256 raises N_s/N at the longest L by `RESTORES`."""
    gain = evidence.row("gains", measure="separability", rule=LENGTH_AWARE)
    own, aware, full = (
        evidence.row("fig3", measure="separability", rule=rule, top_n=SETTLED)
        for rule in ("model", LENGTH_AWARE, "ssmax")
    )
    if gain is None or own is None or aware is None:
        return None
    two = evidence.row("coverage", heads=2)
    return Seen(
        f"N_s/N at N = {SETTLED}, L = {own['length']}: {own['mean']:.3f}, with SSMax that "
        f"equals softmax at n = 256 {aware['mean']:.3f}, a change of {told(gain, 3, 'change')}"
        + (f"; with s = 1 {full['mean']:.3f}" if full else "")
        + (f"; two heads cover {two['covered']:.2f}" if two else ""),
        verdict=word(above(reach(gain, "change"), limits.RESTORES), enough(gain)),
        comment="On the same logits, without training. s = 1 multiplies the logits by log n: that "
        "is a sharper softmax at every length, not one that follows it.",
    )


@claim(
    "T < .1 raises Jacobians, not separability",
    "Guideline 3",
    "Lowering T below .1 increases Jacobian norms without increasing separability.",
    "Jacobians rise, separability does not",
)
def cold_is_no_gain(evidence: Evidence) -> Seen | None:
    """From T = .1 to .01 the Jacobian norm rises by `RISES`, N_s/N by no more than `UNMOVED`."""
    gain, norm = (
        evidence.row("gains", measure=measure, rule=COLD_RULES[1])
        for measure in ("separability", "jacobian")
    )
    own, warm, cold = (
        evidence.row("fig3", measure="separability", rule=rule, top_n=SETTLED)
        for rule in ("model", *COLD_RULES)
    )
    if gain is None or norm is None or warm is None or cold is None:
        return None
    rises = above(reach(norm, "change"), limits.RISES)
    return Seen(
        f"from T = .1 to .01 the exact norm, in the mean over heads, is {told(norm, 2, 'change')} "
        f"times as large; N_s/N at N = {SETTLED} goes from {warm['mean']:.3f} to "
        f"{cold['mean']:.3f}, by {told(gain, 3, 'change')}"
        + (f" ({own['mean']:.3f} at the model's own T)" if own else ""),
        verdict=word(
            both(rises, below(reach(gain, "change"), limits.UNMOVED)),
            enough(gain) and norm["rows"] >= limits.ROWS,
        ),
        comment="T multiplies the model's own temperature. The mean norm over rows tends to a "
        "constant as T falls: 1/T is the bound of a tie.",
    )


@claim(
    "run time",
    "Table 1",
    f"Algorithms 1 to 5 take {RUN_TIME} on a 10-core laptop.",
    RUN_TIME,
)
def run_time(evidence: Evidence) -> Seen:
    """Another machine, another model: no verdict on a time."""
    return Seen(
        "see the timing table",
        verdict=UNTESTABLE,
        comment="Another machine and model. timing.json has our time of each algorithm and the "
        "literal loop's, measured on a sample in the same run.",
    )
