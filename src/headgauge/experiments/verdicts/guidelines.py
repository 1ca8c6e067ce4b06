"""The paper's guidelines, as far as a model that is not trained further can test them."""

from headgauge.experiments import limits
from headgauge.experiments.choices import COLD, LENGTH_AWARE
from headgauge.experiments.verdicts.evidence import (
    Curve,
    Evidence,
    Seen,
    absent,
    below,
    both,
    rows_of,
    within,
    word,
)
from headgauge.experiments.verdicts.sensitivity import curves_of

_N = 16


def cold_is_no_gain(evidence: Evidence) -> Seen:
    """From T = .1 to .01 the Jacobian norm rises by `RISES`, N_s/N by no more than `UNMOVED`."""
    name = "T < .1 raises Jacobians, not separability"
    warm, cold = (evidence.curve("fig3", "separability", "top_n", rule) for rule in COLD)
    own = evidence.curve("fig3", "separability", "top_n")
    exact = curves_of(evidence.frames["fig4"], "scaled", "exact").get(0.0, {})
    if _N not in warm or _N not in cold or not {0.01, 0.1} <= exact.keys():
        return absent(name, "Guideline 3", "Jacobians rise, separability does not")
    gain = cold[_N]["mean"] - warm[_N]["mean"]
    ratios = {of: exact[0.01][of] / exact[0.1][of] for of in ("mean", "maximum")}
    rises = ratios["mean"] >= limits.RISES
    return Seen(
        claim=name,
        where="Guideline 3",
        statement="Lowering T below .1 increases Jacobian norms without increasing separability.",
        paper="Jacobians rise, separability does not",
        printed=f"from T = .1 to .01 the exact norm is {ratios['mean']:.2f} times as large in the "
        f"mean over heads, {ratios['maximum']:.2f} times in the largest; N_s/N at N = {_N} goes "
        f"from {warm[_N]['mean']:.3f} to {cold[_N]['mean']:.3f} ({_at(own)} at the model's own T)",
        corrected="same",
        verdict=word(
            both(rises, gain <= limits.UNMOVED),
            rows_of(warm) >= limits.ROWS and (exact[0.1]["rows"] or 0) >= limits.ROWS,
        ),
        comment="T multiplies the model's own temperature. The mean norm over rows tends to a "
        "constant as T falls: 1/T is the bound of a tie.",
    )


def _at(curve: Curve) -> str:
    return f"{curve[_N]['mean']:.3f}" if _N in curve else "not measured"


def signs_of_saturation(evidence: Evidence) -> Seen:
    """Over heads, a larger share of the largest entropy goes with a smaller N_s/N."""
    name = "entropy and N_s/N are early signs"
    found = evidence.frames["signs"].filter(sign="entropy_share")
    if found.is_empty() or found["correlation"][0] is None:
        return absent(name, "Guideline 2", "entropy up, N_s/N down")
    shares = evidence.curve("fig3", "separability", "top_n")
    rows = {row["sign"]: row for row in evidence.frames["signs"].iter_rows(named=True)}
    row = rows["entropy_share"]
    ends = (row["low"], row["high"])
    others = ", ".join(
        f"{sign.replace('_', ' ')} {each['correlation']:.2f}"
        for sign, each in rows.items()
        if sign != "entropy_share" and each["correlation"] is not None
    )
    return Seen(
        claim=name,
        where="Guideline 2",
        statement="A rising entropy or a drop in N_s/N shows that a head has saturated.",
        paper="entropy up, N_s/N down",
        printed=f"rank correlation of entropy and N_s/N over {row['heads']} heads: "
        f"{row['correlation']:.2f} ({ends[0]:.2f} to {ends[1]:.2f})",
        corrected=f"others with N_s/N: {others}" if others else "same",
        verdict=word(below(ends, limits.SIGN), rows_of(shares) >= limits.ROWS),
        comment="Whether they come early needs training, which is not done here: tested is whether "
        "they are signs of the same thing over the heads of one model.",
    )


def length_aware_restores(evidence: Evidence) -> Seen:
    """SSMax that equals softmax at n = 256 raises N_s/N at the longest L by `RESTORES`."""
    name = "length-aware rules restore separability"
    curves = {
        rule: evidence.curve("fig3", "separability", "top_n", rule)
        for rule in ("model", LENGTH_AWARE, "ssmax")
    }
    own, other, full = curves.values()
    if _N not in own or _N not in other:
        return absent(name, "Guideline 2", "restores separability")
    gain = other[_N]["mean"] - own[_N]["mean"]
    heads = {row["heads"]: row for row in evidence.frames["coverage"].iter_rows(named=True)}
    more = f"; two heads cover {heads[2]['covered']:.2f}" if 2 in heads else ""
    longest = own[_N]["length"]
    return Seen(
        claim=name,
        where="Guideline 2",
        statement="More heads or a length-aware rule can restore separability.",
        paper="restores separability",
        printed=f"N_s/N at N = {_N}, L = {longest}: {own[_N]['mean']:.3f}, with SSMax that equals "
        f"softmax at n = 256 {other[_N]['mean']:.3f}"
        + (f"; with s = 1 {full[_N]['mean']:.3f}" if _N in full else "")
        + more,
        corrected="same",
        verdict=word(within((gain, gain), (limits.RESTORES, 1.0)), rows_of(other) >= limits.ROWS),
        comment="On the same logits, without training. s = 1 multiplies the logits by log n: that "
        "is a sharper softmax at every length, not one that follows it.",
    )
