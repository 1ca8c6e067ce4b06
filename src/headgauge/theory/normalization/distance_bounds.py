"""Theorem 1.1: bounds on the distance d̃ for a fixed set I.

Paper → code: d₁ → `largest_cross_distance`, ᾱ_N → `selected_mass`, the theorem → `printed_bound`.
With n = L − N unselected keys, y_i = α_i x_i, u = Σ_{i∉I} y_i and Q = Σ_{i∉I} ‖y_i‖²:

Printed bound, true for a top-N set. With top-N weights every α_i, i ∉ I, is at most ᾱ/N ≤ ᾱ, so
|ᾱ − α_i| = ᾱ − α_i sums to the printed bracket; and ᾱ ≥ N/L ≥ 1/(L − N + 1) makes that bracket
non-negative. For an arbitrary I neither holds (`printed_bound` turns negative for I = {2},
α = (.9, .1)); `absolute_bound` puts Σ|ᾱ − α_i| in place of the bracket and holds for every I.

Centroid bound, every I. With c = s/ᾱ, y_i − s = α_i(x_i − c) − (ᾱ − α_i)c, hence
d̃ ≤ Σ α_i‖x_i − c‖ + ‖c‖Σ|ᾱ − α_i|. Since c is a mean of selected x_j, ‖x_i − c‖ ≤ d₁ and
‖c‖ ≤ max‖x_j‖: never worse than the two above, and O(L·dim) instead of O(N·n·dim).

Sandwich, every I and all weights. The norm of a sum is at most the sum of the norms, which is at
most √n times the root of the sum of squares:

    ‖n s − u‖ ≤ d̃ ≤ √(n (n‖s‖² − 2⟨u, s⟩ + Q)).

Peeled. One outlying unselected token spoils the sandwich; the `peel` heaviest (largest ‖y_i‖) are
therefore added exactly and only the others are sandwiched. Each peeled token moves one term from
an inequality to an equality, so the result lies inside the plain one.
"""

import math

import torch
from torch import Tensor

from headgauge.theory.checks import PerKey, PerRow, Selected, Vectors, check_vectors, check_whole
from headgauge.theory.normalization.distance import distances_to_context
from headgauge.theory.normalization.selection import (
    context_vector,
    selected_mass,
    sums_to_one,
    top_n,
    weighted,
)


def largest_cross_distance(vectors: Vectors, selected: Selected) -> PerRow:
    """d₁ = max over i ∉ I, j ∈ I of ‖x_i − x_j‖; 0 where one of the two sets is empty."""
    check_vectors(vectors)
    apart = torch.cdist(vectors, vectors, compute_mode="donot_use_mm_for_euclid_dist")
    crossing = ~selected[..., :, None] & selected[..., None, :]
    return torch.where(crossing, apart, 0.0).amax((-2, -1))


def largest_selected_norm(vectors: Vectors, selected: Selected) -> PerRow:
    """max_{j∈I} ‖x_j‖."""
    check_vectors(vectors)
    return (vectors.norm(dim=-1) * selected).amax(-1)


def printed_bound(weights: PerKey, vectors: Vectors, selected: Selected) -> PerRow:
    """(1 − ᾱ)d₁ + max_I‖x_j‖ [ᾱ(L − N) − (1 − ᾱ)], Theorem 1.1 as printed.

    True when I is the top-N set, false for an arbitrary I. It needs weights that sum to one and a
    set that is not empty, and is NaN elsewhere.
    """
    largest = largest_selected_norm(vectors, selected)
    return _theorem_1_1(weights, vectors, selected, largest)


def slides_bound(weights: PerKey, vectors: Vectors, selected: Selected) -> PerRow:
    """Theorem 1.1 as on the slides, with max‖x_j‖² for max‖x_j‖. False: it is not homogeneous."""
    largest = largest_selected_norm(vectors, selected)
    return _theorem_1_1(weights, vectors, selected, largest**2)


def _theorem_1_1(weights: Tensor, vectors: Tensor, selected: Tensor, factor: Tensor) -> Tensor:
    # 1 − ᾱ is the sum of the unselected weights: subtracting would lose a sharp row's digits.
    outside = (weights * ~selected).sum(-1)
    bracket = selected_mass(weights, selected) * (~selected).sum(-1) - outside
    bound = outside * largest_cross_distance(vectors, selected) + factor * bracket
    return torch.where(sums_to_one(weights) & selected.any(-1), bound, math.nan)


def absolute_bound(weights: PerKey, vectors: Vectors, selected: Selected) -> PerRow:
    """Theorem 1.1 corrected for any non-empty I: Σ_{i∉I}|ᾱ − α_i| in place of the bracket."""
    mass = selected_mass(weights, selected)
    outside = (weights.abs() * ~selected).sum(-1)
    spread = ((mass[..., None] - weights).abs() * ~selected).sum(-1)
    bound = outside * largest_cross_distance(vectors, selected)
    bound = bound + largest_selected_norm(vectors, selected) * spread
    return torch.where((weights >= 0).all(-1) & selected.any(-1), bound, math.nan)


def centroid_bound(weights: PerKey, vectors: Vectors, selected: Selected) -> PerRow:
    """Σ_{i∉I} α_i‖x_i − c‖ + ‖c‖ Σ_{i∉I}|ᾱ − α_i| with c = s/ᾱ; any I, non-negative weights."""
    mass = selected_mass(weights, selected)
    context = context_vector(weights, vectors, selected)
    centroid = torch.where(mass[..., None] > 0, context / mass[..., None], 0.0)
    away = (vectors - centroid[..., None, :]).norm(dim=-1)
    spread = (mass[..., None] - weights).abs()
    terms = weights * away + centroid.norm(dim=-1)[..., None] * spread
    return torch.where((weights >= 0).all(-1), (terms * ~selected).sum(-1), math.nan)


def sandwich(
    weights: PerKey, vectors: Vectors, selected: Selected, peel: int = 0
) -> tuple[PerRow, PerRow]:
    """Lower and upper bound on d̃ that hold for every I and all weights.

    `peel` unselected keys with the largest ‖y_i‖ are counted exactly; 1 is enough for a sink that
    was not selected.
    """
    y = weighted(weights, vectors)
    context = context_vector(weights, vectors, selected)
    exact = distances_to_context(weights, vectors, selected)
    norms = y.norm(dim=-1)
    check_whole("peel", peel, 0)
    peel = min(peel, weights.shape[-1])
    heaviest = top_n(torch.where(selected, -1.0, norms), peel) & ~selected
    others = ~selected & ~heaviest

    difference = (y - context[..., None, :]) * others[..., None]
    count = others.sum(-1)
    lower = difference.sum(-2).norm(dim=-1)
    upper = (count * (difference**2).sum((-2, -1))).sqrt()
    peeled = (exact * heaviest).sum(-1)
    return peeled + lower, peeled + upper
