"""The slides' closing sentence: is no rule sharp, stable and long-context scalable at once?

It is false, and sparsemax is the counterexample: a logit that leads by R = 1 gets the weight 1 at
every length, and the rule never moves weights further than the logits moved, because it projects
onto a convex set. What is true instead:

Sharpness has a price, and the price does not depend on L (`lipschitz_price`). Let a rule treat all
keys alike, ignore a constant added to all logits, and turn a lead of R into a one-hot row. Then it
has a Lipschitz constant of at least 1/R. Proof. Flat logits 0 give flat weights c·1 and R·e₁ gives
e₁, and ‖e₁ − c·1‖² ≥ 1 − 1/L for every c. The second input may be moved to R(e₁ − 1/L), at the
distance R√(1 − 1/L) from the first. The ratio is at least 1/R. Sparsemax with R = 1 has the
Lipschitz constant 1: it pays exactly the price. (A rule that jumps has no such constant at all.)

What does get worse with L is the form F(l)/ΣF(l). Softmax gives a lead of R the weight 1 − η only
for T ≤ R/log((L−1)(1−η)/η) (`softmax_temperature`), so its 1/(2T) grows like log L.
"""

import math


def lipschitz_price(lead: float) -> float:
    """1/R: the least Lipschitz constant of a rule that makes a lead of R one-hot."""
    return 1 / lead


def softmax_temperature(lead: float, weight: float, length: int) -> float:
    """The largest T at which softmax gives `weight` to a logit `lead` above L − 1 others."""
    if not (lead > 0 and 1 / length < weight < 1):
        raise ValueError(
            f"needs a positive lead and 1/L < weight < 1, got {lead}, {weight} and L={length}"
        )
    return lead / math.log((length - 1) * weight / (1 - weight))
