"""Adaptive temperature: sharpen a row according to its own entropy."""

from dataclasses import dataclass

import torch
from torch import Tensor

from headgauge.normalizers.base import Normalizer
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import Rows

# Highest power first, as printed with the method: β(H) in nats.
COEFFICIENTS = (-0.037, 0.481, -2.3, 4.917, -1.791)
THRESHOLD = 0.5


@dataclass(frozen=True, eq=False)
class AdaptiveTemperature(Normalizer):
    """softmax(β·z), β = max(P(H), 1) if H > ½ else 1, with H the entropy of softmax(z) in nats.

    P(H) = −.037H⁴ + .481H³ − 2.3H² + 4.917H − 1.791 exceeds 1 for .849 < H < 5.945 only, so very
    flat rows (more than e^5.9 ≈ 380 equal keys) are left alone. β depends on the whole row and
    carries gradient: with p = softmax(z) and q the weights,

        J = β(diag q − qqᵀ) + β′(H)·(q∘(z − ⟨q, z⟩))∇Hᵀ,   ∇H = −p∘(log p + H).

    From arXiv 2410.01104.
    """

    name = "adaptive_temperature"
    formula = "softmax(β·z), β = max(P(H(softmax z)), 1)"
    source = "2410.01104"
    sums_to_one = True
    jacobian_bound_text = "none known"

    def _weights(self, rows: Rows) -> Tensor:
        _, _, entropy = _entropy(rows)
        return rows.softmax(rows.scaled(inverse_temperature(entropy)))

    def _jacobian(self, rows: Rows) -> Jacobian:
        p, log_p, entropy = _entropy(rows)
        beta = inverse_temperature(entropy)
        slope = _polynomial_slope(entropy).masked_fill(beta == 1.0, 0.0)
        weights = rows.softmax(rows.scaled(beta))
        mean = (weights * rows.seen).sum(-1, keepdim=True)
        return Jacobian(
            beta * weights,
            (
                (-beta * weights, weights),
                (weights * (rows.seen - mean), -slope * p * (log_p + entropy)),
            ),
        )

    def jacobian_bound(self, n: int) -> float | None:
        return None if n > 1 else 0.0


def inverse_temperature(entropy: Tensor) -> Tensor:
    """β(H)."""
    value = torch.zeros_like(entropy)
    for coefficient in COEFFICIENTS:
        value = value * entropy + coefficient
    sharpened = value.clamp(min=1.0)
    return torch.where(entropy <= THRESHOLD, torch.ones_like(sharpened), sharpened)


def _polynomial_slope(entropy: Tensor) -> Tensor:
    degree = len(COEFFICIENTS) - 1
    value = torch.zeros_like(entropy)
    for power, coefficient in zip(range(degree, 0, -1), COEFFICIENTS, strict=False):
        value = value * entropy + power * coefficient
    return value


def _entropy(rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
    """softmax(z), its logarithm (0 at invisible keys) and its entropy."""
    p = rows.softmax(rows.logits)
    # Finite also where vast logits are further apart than numbers go: p is 0 there, and 0·∞ NaN.
    lowest = torch.finfo(p.dtype).min
    shifted = rows.fill((rows.seen - rows.maximum()).clamp(min=lowest), 0.0)
    total = rows.fill(shifted.exp(), 0.0).sum(-1, keepdim=True)
    log_p = rows.fill(shifted - total.clamp(min=torch.finfo(total.dtype).tiny).log(), 0.0)
    return p, log_p, -(p * log_p).sum(-1, keepdim=True)
