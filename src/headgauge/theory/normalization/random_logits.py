"""The largest weight of a long row whose logits are independent and bounded.

Lemma 1 has the largest weight fall like 1/L for rules of the form (3) that do not know L. It says
nothing of sparse and of length-aware rules, under which a logit with a lead keeps its weight at
every L (`trade_off`). Without a lead they lose it too, only more slowly. Symbols: α → `alpha`,
f → `density`, s → `s`.

Premise. z_1, …, z_L are independent with one density that is zero above some b and tends to f, with
0 < f < ∞, towards b. Then, in probability as L → ∞,

    α-entmax, 1 < α ≤ 2:  largest weight ~ (α/(fL))^{1/α},   keys with weight ~ `entmax_support`,
    SSMax:                largest weight ~ s log L/(fL),

so sparsemax falls like L^{−1/2}, 1.5-entmax like L^{−2/3} and SSMax nearly as fast as softmax.

Proof for entmax. Put β = 1/(α−1). The weights are ((z_i − t)₊/β)^β with t such that they sum to 1.
Let x = x_L solve Lf β^{−β} x^{β+1}/(β+1) = 1, so x → 0. For c > 0 let S(c) be the sum of the
weights at t = b − cx. Its mean tends to c^{β+1}, because the density is near f on the short
interval that counts; its variance is at most (cx/β)^β, the largest term, times the mean, and
vanishes. S grows with c, so the t that makes it 1 has (b − t)/x → 1. The largest logit is O(1/(fL))
below b, which is o(x). Hence the largest weight is ~ (x/β)^β, and with β + 1 = αβ that is
(α/(fL))^{1/α}. About Lfx keys lie above t. How soon: x is of order L^{−(α−1)/α}, so a density that
changes near b shows longer the closer α is to 1.

Proof for SSMax. With λ = s log L, Σ e^{−λ(b − z_i)} has a mean ~ Lf/λ and a variance below that, so
it is ~ Lf/λ; and λ(b − max z) → 0. The largest weight is e^{−λ(b − max z)} over that sum.
"""

import math


def entmax_largest(alpha: float, density: float, length: int) -> float:
    """(α/(fL))^{1/α}, what the largest weight of α-entmax tends to in ratio.

    >>> round(entmax_largest(2.0, 1.0, 20_000), 6)
    0.01
    """
    _check(alpha, density, length)
    return (alpha / (density * length)) ** (1 / alpha)


def entmax_support(alpha: float, density: float, length: int) -> float:
    """fLx = (fL)^{1/α} ((β+1)β^β)^{1−1/α} with β = 1/(α−1): how many keys keep a weight.

    >>> round(entmax_support(2.0, 1.0, 20_000), 6)
    200.0
    """
    _check(alpha, density, length)
    beta = 1 / (alpha - 1)
    return (density * length) ** (1 / alpha) * ((beta + 1) * beta**beta) ** (1 - 1 / alpha)


def ssmax_largest(s: float, density: float, length: int) -> float:
    """s log L/(fL), what the largest weight of SSMax tends to in ratio."""
    _check(2.0, density, length)
    return s * math.log(length) / (density * length)


def _check(alpha: float, density: float, length: int) -> None:
    if not (1 < alpha <= 2 and density > 0 and length >= 1):
        raise ValueError(
            "needs 1 < alpha <= 2 and a positive density and length, "
            f"got {alpha}, {density} and {length}"
        )
