"""The slides' closing sentence: is no rule sharp, stable and long-context scalable at once?

It is false if sharp and scalable are asked of rows in which one logit leads, and sparsemax is the
counterexample. Theorem. If one logit exceeds all others by 1 or more, sparsemax gives it the weight
1 at every length; and for all rows it never moves weights further than the logits moved. Proof.
With t = z₁ − 1 the weights (z_i − t)₊ are (1, 0, …, 0) and sum to one; and the rule is the
projection onto a convex set. More generally α-entmax makes a row one-hot exactly from the lead
1/(α−1) on (`one_hot_lead`). The lead is a premise: for independent bounded logits sparsemax's
largest weight falls like L^{−1/2} (`random_logits`). What is true of every rule:

Sharpness has a price, and the price does not depend on L (`lipschitz_price`). Let a rule treat all
keys alike, ignore a constant added to all logits, and turn a lead of R into a one-hot row. Then it
has a Lipschitz constant of at least 1/R. Proof. Flat logits 0 give flat weights c·1 and R·e₁ gives
e₁, and ‖e₁ − c·1‖² ≥ 1 − 1/L for every c. The second input may be moved to R(e₁ − 1/L), at the
distance R√(1 − 1/L) from the first. The ratio is at least 1/R. Sparsemax with R = 1 has the
Lipschitz constant 1: it pays exactly the price. (A rule that jumps has no such constant at all.)

What does get worse with L is the form F(l)/ΣF(l). Softmax gives a lead of R the weight 1 − η only
for T ≤ R/log((L−1)(1−η)/η) (`softmax_temperature`), so its 1/(2T) grows like log L. SSMax lets it:
with T = 1/(s log L) a lead of R over equal others has the weight 1/(1 + (L−1)L^{−sR})
(`ssmax_weight`), which tends to 1 for sR > 1, to ½ for sR = 1 and to 0 for sR < 1.
"""

import math

from headgauge.theory.checks import check_positive, check_whole


def lipschitz_price(lead: float) -> float:
    """1/R: the least Lipschitz constant of a rule that makes a lead of R one-hot."""
    check_positive("lead", lead)
    return 1 / lead


def one_hot_lead(alpha: float) -> float:
    """1/(α−1): from this lead on α-entmax gives the weight 1, at every length; 1 for sparsemax."""
    if not 1 < alpha <= 2:
        raise ValueError(f"needs 1 < alpha <= 2, got {alpha}")
    return 1 / (alpha - 1)


def ssmax_weight(s: float, lead: float, length: int) -> float:
    """1/(1 + (L−1)L^{−sR}): SSMax's weight of a logit `lead` above L − 1 equal others."""
    check_whole("length", length, 1)
    return 1 / (1 + (length - 1) * length ** (-s * lead))


def softmax_temperature(lead: float, weight: float, length: int) -> float:
    """The largest T at which softmax gives `weight` to a logit `lead` above L − 1 others."""
    check_whole("length", length, 1)
    if not (lead > 0 and 1 / length < weight < 1):
        raise ValueError(
            f"needs a positive lead and 1/L < weight < 1, got {lead}, {weight} and L={length}"
        )
    return lead / math.log((length - 1) * weight / (1 - weight))
