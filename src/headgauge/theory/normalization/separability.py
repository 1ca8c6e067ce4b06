"""Theorem 2: which selected tokens lie in the ball B_r(s) that keeps the others out.

Paper → code: r → `radius`, N_s → `separable_count`, N_s/N → `separability`, δ →
`minimum_separation`, ξ_i → `xi`, M → `sphere_radius`, eq. (11) → `printed_lower_bound` and
`printed_upper_bound`.

The printed lower bound is true for every realisation, random r included: with
⟨x_j, x_k⟩ = (‖x_j‖² + ‖x_k‖² − ‖x_j − x_k‖²)/2 ≤ M² − δ²/2 the distance X_i = ‖α_i x_i − s‖ is at
most ξ_i surely, so 1 − ξ_i/r ≤ 1{ξ_i ≤ r} ≤ 1{X_i ≤ r}. Assumption 1 is never used, and counting
#{i : ξ_i ≤ r} (`deterministic_lower_bound`) is never worse.

The printed upper bound is false. Its exponent is symmetric in r − ξ_i although a tail bound for
X_i ≤ r says nothing once r ≥ E X_i, and it puts ξ_i ≥ E X_i where that enlarges the exponent.
Corrected bounds are in `separability_bounds`.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headgauge.theory.checks import PerKey, PerRow, Selected, Vectors, check_keys, check_vectors
from headgauge.theory.normalization.distance import distances_to_context
from headgauge.theory.normalization.selection import context_vector, leave_one_out_sum, weighted

GUARD = 1e-9
Number = Float[Tensor, "*#rows"] | float
"""One for each row, or one for all of them."""


def radius(weights: PerKey, vectors: Vectors, selected: Selected) -> PerRow:
    """r = min_{j∉I} ‖α_j x_j − s‖; infinite where every key is selected."""
    return _nearest(distances_to_context(weights, vectors, selected), selected)


def distinguishable(weights: PerKey, vectors: Vectors, selected: Selected) -> Selected:
    """The selected keys with ‖α_i x_i − s‖ ≤ r.

    The ball is closed, with a guard of 1e-9(‖s‖ + ‖y_i‖) so that rounding does not decide exact
    ties. A single selected key coincides with s and always counts.
    """
    each = distances_to_context(weights, vectors, selected)
    scale = weighted(weights, vectors).norm(dim=-1)
    context = context_vector(weights, vectors, selected)
    scale = scale + context.norm(dim=-1)[..., None]
    inside = each <= _nearest(each, selected)[..., None] + GUARD * scale
    alone = selected.sum(-1, keepdim=True) == 1
    return selected & (inside | alone)


def _nearest(distances: PerKey, selected: Selected) -> PerRow:
    return torch.where(selected, math.inf, distances).amin(-1)


def separable_count(weights: PerKey, vectors: Vectors, selected: Selected) -> Int[Tensor, "*rows"]:
    """N_s = #{i ∈ I : ‖α_i x_i − s‖ ≤ r} (eq. 10)."""
    return distinguishable(weights, vectors, selected).sum(-1)


def separability(weights: PerKey, vectors: Vectors, selected: Selected) -> PerRow:
    """N_s/N."""
    count = separable_count(weights, vectors, selected).to(weights.dtype)
    return count / selected.sum(-1)


def minimum_separation(vectors: Float[Tensor, "*rows keys dim"]) -> PerRow:
    """δ = min_{i≠j} ‖x_i − x_j‖; infinite for a single vector."""
    check_vectors(vectors)
    apart = torch.cdist(vectors, vectors, compute_mode="donot_use_mm_for_euclid_dist")
    apart.diagonal(dim1=-2, dim2=-1).fill_(math.inf)
    return apart.amin((-2, -1))


def xi(
    weights: PerKey, selected: Selected, separation: Number, sphere_radius: float = 1.0
) -> PerKey:
    """ξ_i (eq. 12), zero at keys that are not selected.

    The index "j ≠ k ≠ i" must mean that j and k both differ from i. Then with a = Σ_{j≠i} α_j² and
    b = Σ_{j≠i} α_j over the selected keys, ξ_i² = M²a + (M² − δ²/2)(b² − a).
    """
    chosen = weights * selected
    squares = leave_one_out_sum(chosen**2)
    cross = (leave_one_out_sum(chosen) ** 2 - squares).clamp(min=0)
    return _xi(squares, cross, selected, separation, sphere_radius)


def xi_slides(
    weights: PerKey, selected: Selected, separation: Number, sphere_radius: float = 1.0
) -> PerKey:
    """ξ_i as on the slides, where k = i is allowed. No bound on X_i once δ² > 2M²."""
    chosen = weights * selected
    squares = leave_one_out_sum(chosen**2)
    total = chosen.sum(-1, keepdim=True)
    cross = leave_one_out_sum(chosen) * total - squares
    return _xi(squares, cross, selected, separation, sphere_radius)


def _xi(
    squares: Tensor, cross: Tensor, selected: Tensor, separation: Tensor | float, sphere: float
) -> Tensor:
    delta = torch.as_tensor(separation, dtype=squares.dtype, device=squares.device)[..., None]
    # A single key has δ = ∞ and no cross term; 0·∞ must stay 0.
    inner = torch.where(cross > 0, (sphere**2 - delta**2 / 2) * cross, 0.0)
    return (sphere**2 * squares + inner).clamp(min=0).sqrt() * selected


def printed_lower_bound(xi_values: PerKey, selected: Selected, r: Number) -> PerRow:
    """1 − (1/rN) Σ ξ_i, the left side of eq. (11). True, for every realisation and for random r."""
    check_keys(xi_values)
    r = torch.as_tensor(r, dtype=xi_values.dtype, device=xi_values.device)
    total = xi_values.sum(-1)
    return 1 - torch.where(total > 0, total / (r * selected.sum(-1)), 0.0)


def printed_upper_bound(
    xi_values: PerKey, selected: Selected, r: Number, sphere_radius: float = 1.0
) -> PerRow:
    """(1/N) Σ exp(−(r − ξ_i)²/16M²), the right side of eq. (11). False.

    With r = min outside distance, |r − ξ_i| ≤ M, so it never falls below e^{−1/16} = 0.939: it
    cannot imply a limit of 80 %.
    """
    check_keys(xi_values)
    r = torch.as_tensor(r, dtype=xi_values.dtype, device=xi_values.device)[..., None]
    terms = torch.exp(-((r - xi_values) ** 2) / (16 * sphere_radius**2))
    return (terms * selected).sum(-1) / selected.sum(-1)


def deterministic_lower_bound(xi_values: PerKey, selected: Selected, r: Number) -> PerRow:
    """#{i ∈ I : ξ_i ≤ r}/N ≤ N_s/N: never worse than the printed lower bound."""
    check_keys(xi_values)
    r = torch.as_tensor(r, dtype=xi_values.dtype, device=xi_values.device)[..., None]
    return ((xi_values <= r) & selected).sum(-1) / selected.sum(-1).to(xi_values.dtype)
