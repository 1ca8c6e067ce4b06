"""What the log-sum-exps of a row tell of its weights, and how exactly.

With z the n logits of a row, l(β) = log Σ exp(β·z_j) and L the logarithm of what the weights are
divided by: α_j = exp(z_j − L). L = l(1) for softmax; a sink of logit S makes it
log(e^{l(1)} + e^S), and the weights of the keys sum to e^{l(1) − L} < 1.

    entropy             −Σ α log α = e^{l(1) − L}·(L − l′(1)),  l′(1) = Σ p·z with p = softmax(z)
    collision entropy   −log Σ α²  = 2L − l(2)
    largest logit       m ≤ l(c)/c ≤ m + log(n)/c
    largest weight      p₁ = exp(m − L)
    Jacobian            p₁(1 − p₁) ≤ ‖diag(α) − ααᵀ‖₂ ≤ min(p₁, 2p₁(1 − p₁))

l(c)/c is too high by log(n)/c where all logits are alike, by nothing where one leads by far. l′(1)
by a difference, [l(1 + h) − l(1 − h)]/2h, is off by h²/6·l‴(β) at some β between 1 − h and 1 + h,
l‴(β) being the third cumulant of z under softmax(β·z), and by the rounding of the two, at most
u·|l|/h with u the unit roundoff.

Proof of the bracket. p₁(1 − p₁) is on the diagonal. ααᵀ only takes away from diag(α), whose norm is
p₁. Row i has the absolute sum α_i(1 − α_i) + α_i·Σ_{j≠i} α_j ≤ 2α_i(1 − α_i), the largest of which
bounds the norm (Gershgorin); it rises in α_i up to ½, and where p₁ > ½ all others are at most
1 − p₁. All three are attained: p₁(1 − p₁) by one key beside a sink, p₁ by equal weights of softmax,
2p₁(1 − p₁) by two keys that share everything.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.theory.checks import PerKey, PerRow, check_keys, check_positive, check_whole


def log_sum_exp(logits: PerKey, beta: float = 1.0) -> PerRow:
    """l(β)."""
    check_keys(logits)
    return torch.logsumexp(logits * beta, dim=-1)


def with_sink(one: PerRow, sink: Float[Tensor, "*#rows"] | float) -> PerRow:
    """L of weights that share with a sink of logit S."""
    return torch.logaddexp(one, torch.as_tensor(sink, dtype=one.dtype, device=one.device))


def mean_by_difference(above: PerRow, below: PerRow, h: float) -> PerRow:
    """l′(1) from l(1 + h) and l(1 − h)."""
    check_positive("h", h)
    return (above - below) / (2 * h)


def entropy(one: PerRow, mean: PerRow, normalizer: PerRow) -> PerRow:
    """−Σ α log α from l(1), l′(1) and L; rounding never makes it negative."""
    return torch.exp(one - normalizer) * (normalizer - mean).clamp(min=0)


def collision_entropy(two: PerRow, normalizer: PerRow) -> PerRow:
    """−log Σ α² from l(2) and L; rounding never makes it negative."""
    return (2 * normalizer - two).clamp(min=0)


def largest_logit(sharp: PerRow, c: float) -> PerRow:
    """m from l(c), too high by at most `largest_logit_error`."""
    check_positive("c", c)
    return sharp / c


def largest_logit_error(length: int, c: float) -> float:
    """log(n)/c for a row of n = `length` keys."""
    check_whole("length", length, 1)
    check_positive("c", c)
    return math.log(length) / c


def largest_weight(largest: PerRow, normalizer: PerRow) -> PerRow:
    """p₁ from m and L; rounding never makes it more than 1."""
    return torch.exp((largest - normalizer).clamp(max=0))


def jacobian_bracket(largest: PerRow) -> tuple[PerRow, PerRow]:
    """Below and above ‖diag(α) − ααᵀ‖₂, from p₁."""
    lower = largest * (1 - largest)
    return lower, largest.minimum(2 * lower)
