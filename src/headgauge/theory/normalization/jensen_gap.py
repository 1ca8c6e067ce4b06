"""The error term ε of Theorem 1.2: how far E lies above its eq. (24).

Paper → code: ε in the main text → `printed`, the sum of eq. (25)–(26) → `appendix`, the corrected
bound → `corrected`. With m_i and V_i as in `expected_distance`:

    0 ≤ ε ≤ (n/L) Σ (√(‖m_i‖² + V_i) − ‖m_i‖) ≤ the printed bound,

which for N < L − 1 is at most eqs. (25)–(26). At N = L − 1, where ε = 0, those are 0.

Proof. The first two are the sandwich. √(m² + V) − m ≤ V/(2m), and V_i ≤ ν Σ_{j≠i}‖y_j‖² because
(L − 1 − N)/(L − 2) ≤ 1, which is the printed term; eq. (25) lacks its 1/((L−1)(L−2)) and is larger
by about L². Unlike both printed forms the corrected one stays finite as ‖m_i‖ → 0.

The printed ε is a bound on the gap to eq. (24); it says nothing about the main text's expression.
"""

import torch
from torch import Tensor

from headgauge.theory.checks import PerKey, PerRow, Vectors
from headgauge.theory.normalization.expected_distance import conditional_moments
from headgauge.theory.normalization.selection import leave_one_out_sum, weighted


def _sum(weights: Tensor, vectors: Tensor, centre: Tensor, factor: float) -> Tensor:
    """factor · Σ_i Σ_{j≠i}‖y_j‖²/‖m_i‖, where nothing divided by nothing is nothing."""
    squares = factor * leave_one_out_sum((weighted(weights, vectors) ** 2).sum(-1))
    return torch.where(squares > 0, squares / centre, 0.0).sum(-1)


def printed(weights: PerKey, vectors: Vectors, n: int) -> PerRow:
    """½(1 − N/L) Σ_i ν Σ_{j≠i}‖y_j‖² / ‖m_i‖. True but loose; infinite where an m_i vanishes."""
    centre, _ = conditional_moments(weights, vectors, n)
    length = weights.shape[-1]
    nu = n / (length - 1) if length > 1 else 0.0
    return _sum(weights, vectors, centre, 0.5 * (1 - n / length) * nu)


def appendix(weights: PerKey, vectors: Vectors, n: int) -> PerRow:
    """Eqs. (25) and (26), with the undefined s_i read as E[s | i ∉ I]. True but vacuous."""
    centre, _ = conditional_moments(weights, vectors, n)
    length = weights.shape[-1]
    factor = 0.5 * (length - n) / length * n * max(length - n - 1, 0)
    return _sum(weights, vectors, centre, factor)


def corrected(weights: PerKey, vectors: Vectors, n: int) -> PerRow:
    """(n/L) Σ (√(‖m_i‖² + V_i) − ‖m_i‖), written without the subtraction."""
    length = weights.shape[-1]
    centre, variance = conditional_moments(weights, vectors, n)
    root = (centre**2 + variance).sqrt()
    terms = torch.where(root > 0, variance / (root + centre), 0.0)
    return (length - n) / length * terms.sum(-1)
