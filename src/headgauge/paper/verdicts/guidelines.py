"""The paper's guidelines, as far as a model that is not trained further can test them."""

import math
from typing import Any

from headgauge.paper import limits
from headgauge.paper.choices import COLD, LENGTH_AWARE
from headgauge.paper.gains import JACOBIAN, SEPARABILITY
from headgauge.paper.verdicts.evidence import (
    Evidence,
    Seen,
    absent,
    below,
    both,
    enough,
    reach,
    told,
    within,
    word,
)


def cold_is_no_gain(evidence: Evidence) -> Seen:
    """From T = .1 to .01 the Jacobian norm rises by `RISES`, N_s/N by no more than `UNMOVED`."""
    name = "T < .1 raises Jacobians, not separability"
    gain, norm = _gain(evidence, SEPARABILITY, COLD[1]), _gain(evidence, JACOBIAN, COLD[1])
    warm, cold = (evidence.curve("fig3", "separability", "top_n", rule) for rule in COLD)
    if gain is None or norm is None or gain["top_n"] not in warm.keys() & cold.keys():
        return absent(name, "Guideline 3", "Jacobians rise, separability does not")
    n = gain["top_n"]
    rises = within(reach(norm, "change"), (limits.RISES, math.inf))
    own = evidence.curve("fig3", "separability", "top_n")
    return Seen(
        claim=name,
        where="Guideline 3",
        statement="Lowering T below .1 increases Jacobian norms without increasing separability.",
        paper="Jacobians rise, separability does not",
        printed=f"from T = .1 to .01 the exact norm, in the mean over heads, is "
        f"{told(norm, 2, 'change')} times as large; N_s/N at N = {n} goes from "
        f"{warm[n]['mean']:.3f} to {cold[n]['mean']:.3f}, by {told(gain, 3, 'change')}"
        + (f" ({own[n]['mean']:.3f} at the model's own T)" if n in own else ""),
        corrected="same",
        verdict=word(
            both(rises, below(reach(gain, "change"), limits.UNMOVED)),
            _enough(gain) and norm["rows"] >= limits.ROWS,
        ),
        comment="T multiplies the model's own temperature. The mean norm over rows tends to a "
        "constant as T falls: 1/T is the bound of a tie.",
    )


def _gain(evidence: Evidence, measure: str, rule: str) -> dict[str, Any] | None:
    found = evidence.frames["gains"].filter(measure=measure, rule=rule)
    return None if found.is_empty() else found.row(0, named=True)


def _enough(gain: dict[str, Any]) -> bool:
    return gain["rows"] >= limits.ROWS and gain["windows"] >= limits.WINDOWS


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
        f"{row['correlation']:.2f} ({ends[0]:.2f} to {ends[1]:.2f})"
        + (f"; others with N_s/N: {others}" if others else ""),
        corrected="same",
        verdict=word(below(ends, limits.SIGN), enough(shares)),
        comment="Whether they come early needs training, which is not done here: tested is whether "
        "they are signs of the same thing over the heads of one model.",
    )


def length_aware_restores(evidence: Evidence) -> Seen:
    """SSMax that equals softmax at n = 256 raises N_s/N at the longest L by `RESTORES`."""
    name = "length-aware rules restore separability"
    gain = _gain(evidence, SEPARABILITY, LENGTH_AWARE)
    own, other, full = (
        evidence.curve("fig3", "separability", "top_n", rule)
        for rule in ("model", LENGTH_AWARE, "ssmax")
    )
    if gain is None or gain["top_n"] not in own.keys() & other.keys():
        return absent(name, "Guideline 2", "restores separability")
    n = gain["top_n"]
    heads = {row["heads"]: row for row in evidence.frames["coverage"].iter_rows(named=True)}
    return Seen(
        claim=name,
        where="Guideline 2",
        statement="More heads or a length-aware rule can restore separability.",
        paper="restores separability",
        printed=f"N_s/N at N = {n}, L = {own[n]['length']}: {own[n]['mean']:.3f}, with SSMax that "
        f"equals softmax at n = 256 {other[n]['mean']:.3f}, a change of {told(gain, 3, 'change')}"
        + (f"; with s = 1 {full[n]['mean']:.3f}" if n in full else "")
        + (f"; two heads cover {heads[2]['covered']:.2f}" if 2 in heads else ""),
        corrected="same",
        verdict=word(within(reach(gain, "change"), (limits.RESTORES, math.inf)), _enough(gain)),
        comment="On the same logits, without training. s = 1 multiplies the logits by log n: that "
        "is a sharper softmax at every length, not one that follows it.",
    )
