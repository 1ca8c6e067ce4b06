"""Discussion, guidelines and Table 1: what heads separate together, what rules change; run time.

Guidelines are tested as far as a model that is not trained further can test them.
"""

from headgauge.paper import limits
from headgauge.paper.choices import COLD_RULES, LENGTH_AWARE
from headgauge.paper.evidence import Curve, Evidence, Seen, both, claim, word
from headgauge.registry.published import HEADS_TOGETHER, RUN_TIME, SEPARABLE, SETTLED
from headgauge.runs.paper_schema import UNTESTABLE
from headgauge.theory.normalization.coverage import multi_head_coverage


@claim("3 heads at .8 cover 99 %", "Discussion", "99 %")
def three_heads_cover(evidence: Evidence) -> Seen:
    """Three heads with separability .8 cover 99 % of the top N."""
    three = evidence.row("coverage", heads=HEADS_TOGETHER)
    covered = three.reach("covered")
    ends = "" if covered.low == covered.high else f" ({covered.low:.3f} to {covered.high:.3f})"
    holds = covered.within(limits.COVERED, 1.0)
    return Seen(
        f"1 − .2³ = {multi_head_coverage(SEPARABLE, HEADS_TOGETHER):.3f}; with the p = "
        f"{three['separable']:.2f} of one head {three['formula']:.3f}",
        verdict=word(holds, judged=three["rows"] >= limits.COVERAGE_ROWS),
        corrected=f"measured {three['covered']:.3f}{ends} of {three['top_n']} tokens that all "
        f"heads of a layer are asked for; {three['independent']:.3f} if heads were independent",
        comment="Heads of a layer miss the same tokens, and select different ones when left alone.",
    )


@claim("entropy and N_s/N are early signs", "Guideline 2", "entropy up, N_s/N down")
def signs_of_saturation(evidence: Evidence) -> Seen:
    """A rising entropy or a drop in N_s/N shows that a head has saturated."""
    signs = [row for row in evidence.rows("signs") if row["correlation"] is not None]
    rows = Curve((row["sign"], row) for row in signs)
    entropy = rows["entropy_share"]
    shares = evidence.curve("fig3", "separability")
    others = ", ".join(
        f"{sign.replace('_', ' ')} {row['correlation']:.2f}"
        for sign, row in rows.items()
        if row is not entropy
    )
    falls = entropy.reach("correlation").below(limits.SIGN)
    return Seen(
        f"rank correlation of entropy and N_s/N over {entropy['heads']} heads: "
        f"{entropy.in_words(2, 'correlation')}"
        + (f"; others with N_s/N: {others}" if others else ""),
        verdict=word(falls, judged=bool(shares) and shares.last.enough()),
        comment="Whether they come early needs training, which is not done here: tested is whether "
        "they are signs of the same thing over the heads of one model.",
    )


@claim("length-aware rules restore separability", "Guideline 2", "restores separability")
def length_aware_restores(evidence: Evidence) -> Seen:
    """More heads or a length-aware rule can restore separability."""
    gain = evidence.row("gains", measure="separability", rule=LENGTH_AWARE)
    settled = _settled(evidence)
    own, aware, full = settled["model"], settled[LENGTH_AWARE], settled.get("ssmax")
    two = evidence.rows("coverage", heads=2)
    return Seen(
        f"N_s/N at N = {SETTLED}, L = {own['length']}: {own['mean']:.3f}, with SSMax that "
        f"equals softmax at n = 256 {aware['mean']:.3f}, a change of {gain.in_words(3, 'change')}"
        + (f"; with s = 1 {full['mean']:.3f}" if full else "")
        + (f"; two heads cover {two[0]['covered']:.2f}" if two else ""),
        verdict=word(gain.reach("change").above(limits.RESTORES), judged=gain.enough()),
        comment="On the same logits, without training. s = 1 multiplies the logits by log n: that "
        "is a sharper softmax at every length, not one that follows it.",
    )


def _settled(evidence: Evidence) -> Curve:
    """Figure 3 by rule, at the N from which it is said to have settled."""
    rows = evidence.rows("fig3", measure="separability", top_n=SETTLED)
    return Curve((row["rule"], row) for row in rows)


@claim(
    "T < .1 raises Jacobians, not separability",
    "Guideline 3",
    "Jacobians rise, separability does not",
)
def cold_is_no_gain(evidence: Evidence) -> Seen:
    """Lowering T below .1 increases Jacobian norms without increasing separability."""
    gain, norm = (
        evidence.row("gains", measure=measure, rule=COLD_RULES[1])
        for measure in ("separability", "jacobian")
    )
    settled = _settled(evidence)
    warm, cold = (settled[rule] for rule in COLD_RULES)
    own = settled.get("model")
    rises = norm.reach("change").above(limits.RISES)
    stays = gain.reach("change").below(limits.UNMOVED)
    return Seen(
        "from T = .1 to .01 the exact norm, in the mean over heads, is "
        f"{norm.in_words(2, 'change')} times as large; N_s/N at N = {SETTLED} goes from "
        f"{warm['mean']:.3f} to {cold['mean']:.3f}, by {gain.in_words(3, 'change')}"
        + (f" ({own['mean']:.3f} at the model's own T)" if own else ""),
        verdict=word(both(rises, stays), judged=gain.enough() and norm["rows"] >= limits.ROWS),
        comment="T multiplies the model's own temperature. The mean norm over rows tends to a "
        "constant as T falls: 1/T is the bound of a tie.",
    )


@claim("run time", "Table 1", RUN_TIME, free=True)
def run_time(evidence: Evidence) -> Seen:
    """Algorithms 1 to 5 take 18 h 13 min on a 10-core laptop."""
    return Seen(
        "see the timing table",
        verdict=UNTESTABLE,
        comment="Another machine and model. timing.json has our time of each algorithm and the "
        "literal loop's, measured on a sample in the same run.",
    )
