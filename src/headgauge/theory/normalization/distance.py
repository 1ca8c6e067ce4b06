"""The representation distance d̃ (eq. 7).

Paper → code: d̃ → `distance`, ‖α_i x_i − s‖ → `distances_to_context`.
"""

from headgauge.theory.checks import PerKey, PerRow, Selected, Vectors
from headgauge.theory.normalization.selection import context_vector, weighted


def distances_to_context(weights: PerKey, vectors: Vectors, selected: Selected) -> PerKey:
    """‖α_i x_i − s‖ for every key, selected or not.

    The differences are formed before the norm: the expanded ‖y‖² − 2⟨y, s⟩ + ‖s‖² would lose
    every digit where a token nearly coincides with s.
    """
    context = context_vector(weights, vectors, selected)
    difference = weighted(weights, vectors) - context[..., None, :]
    return difference.norm(dim=-1)


def distance(weights: PerKey, vectors: Vectors, selected: Selected) -> PerRow:
    """d̃ = Σ_{i∉I} ‖α_i x_i − s‖ (eq. 7)."""
    each = distances_to_context(weights, vectors, selected)
    return (each * ~selected).sum(-1)
