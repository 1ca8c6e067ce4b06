"""Corollary 2: what E does for N ≪ L and for N → L.

Paper → code: Σ‖α_i x_i‖ → `corollary_2_printed`, the corrected statement → `cap`.

As printed, (i) E ≈ S = Σ‖y_i‖ for fixed N as L grows: false as an asymptotic equality. With flat
weights E/S tends to √(N+1) for orthonormal vectors and to |N−1| for identical ones; a one-hot row
gives N+1. (ii) E → 0 as N → L: true, and trivially so, because the sum runs out of terms.

Corrected, covering both: 0 ≤ E ≤ (1 − N/L)(N + 1)S ≤ (N + 1) max‖x_i‖, both ends approached.
Proof. E[‖y_i − s‖ | i ∉ I] ≤ ‖y_i‖ + ν Σ_{j≠i}‖y_j‖; summed over i with the factor (L − N)/L this
is (1 − N/L)(1 + N)S. The second inequality is S ≤ max‖x_i‖ for weights that sum to one.

The cap does not grow with L, so E at fixed N cannot be linear in L.
"""

from jaxtyping import Bool
from torch import Tensor

from headgauge.theory.checks import PerKey, PerRow, Selected, Vectors, check_n
from headgauge.theory.normalization.selection import context_vector, weighted


def corollary_2_printed(weights: PerKey, vectors: Vectors) -> PerRow:
    """S = Σ‖α_i x_i‖, which Corollary 2(i) prints as the limit of E. False."""
    return weighted(weights, vectors).norm(dim=-1).sum(-1)


def cap(weights: PerKey, vectors: Vectors, n: int) -> PerRow:
    """(1 − N/L)(N + 1)S ≥ E for every row."""
    check_n(n, weights)
    length = weights.shape[-1]
    return (1 - n / length) * (n + 1) * corollary_2_printed(weights, vectors)


def may_be_below_expectation(
    weights: PerKey, vectors: Vectors, selected: Selected
) -> Bool[Tensor, "*rows"]:
    """The necessary condition ‖s‖ ≤ (N+1)S/L + ‖u‖/(L−N) for d̃ ≤ E.

    From d̃ ≥ n‖s‖ − ‖u‖ and E ≤ (n/L)(N + 1)S. Where it is False, d̃ > E without computing either.
    With every key selected both are zero and it is True.
    """
    length = weights.shape[-1]
    chosen = selected.sum(-1)
    context = context_vector(weights, vectors, selected).norm(dim=-1)
    outside = context_vector(weights, vectors, ~selected).norm(dim=-1)
    total = corollary_2_printed(weights, vectors)
    left = length - chosen
    return (context * left <= (chosen + 1) * total * left / length + outside) | (left == 0)
