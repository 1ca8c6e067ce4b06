"""Lemma 1 and Corollary 1: bounded logits and a length-free F make every weight Θ(1/L).

Paper → code: F → its extremes `lowest` = m and `highest` = M on [−a, a], C₁, C₂ →
`lemma_1_constants`, Δ = ‖q‖‖k‖ → from `query` and `keys`, T → `temperature`.

Lemma 1 holds for a continuous F > 0 and a bound a that does not grow with L. F ≥ 0 is not enough:
F(z) = e^{−1/z} for z > 0, else 0, gives the logits (1, −1, …, −1) the weight 1 at every L.

Sharp form: m/(m + (L−1)M) ≤ α_i ≤ M/(M + (L−1)m), and C₁ = m/M, C₂ = M/m are the best constants
that do not depend on L. Proof. α_i = F_i/(F_i + Σ_{j≠i}F_j) grows with F_i and falls with every
other, so its extremes are at (M; m, …, m) and (m; M, …, M); L·M/(M + (L−1)m) ↑ M/m.

Corollary 1 is the case F = e^{l/T}, true when Δ = ‖q‖ max_j‖k_j‖ (not ‖q‖‖k_i‖). Data give better
ranges than 2Δ/T: (l_max − l_min)/T, and by Jensen α_i ≤ e^{(l_i − l̄)/T}/L ≤ e^{‖q‖‖k_i − k̄‖/T}/L,
since l_i − l̄ = q·(k_i − k̄). Among constants that do not depend on L, e^{2Δ/T} is the best.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.theory.checks import PerKey, PerRow, Vectors, check_keys, check_vectors, check_whole


def lemma_1_constants(lowest: float, highest: float) -> tuple[float, float]:
    """C₁ = m/M and C₂ = M/m, with C₁/L ≤ α_i ≤ C₂/L: the best that do not depend on L."""
    if not 0 < lowest <= highest:
        raise ValueError(f"Lemma 1 needs 0 < min F <= max F, got {lowest} and {highest}")
    return lowest / highest, highest / lowest


def lemma_1_bounds(lowest: float, highest: float, length: int) -> tuple[float, float]:
    """The sharp bounds on every α_i of a row of `length` keys."""
    check_whole("length", length, 1)
    lemma_1_constants(lowest, highest)
    return lowest / (lowest + (length - 1) * highest), highest / (highest + (length - 1) * lowest)


def corollary_1_range(
    query: Float[Tensor, "*rows dim"], keys: Vectors, temperature: float = 1.0
) -> PerRow:
    """R = 2Δ/T with Δ = ‖q‖ max_j‖k_j‖."""
    check_vectors(keys)
    return 2 * query.norm(dim=-1) * keys.norm(dim=-1).amax(-1) / temperature


def corollary_1_printed(spread: PerRow, length: int) -> tuple[PerRow, PerRow]:
    """e^{−R}/L and e^{R}/L for R = 2Δ/T."""
    check_whole("length", length, 1)
    return torch.exp(-spread) / length, torch.exp(spread) / length


def corollary_1_sharp(spread: PerRow, length: int) -> tuple[PerRow, PerRow]:
    """1/(1 + (L−1)e^{R}) and 1/(1 + (L−1)e^{−R}), both attained; R any bound on l_max − l_min."""
    check_whole("length", length, 1)
    others = length - 1
    if others == 0:
        return torch.ones_like(spread), torch.ones_like(spread)
    return 1 / (1 + others * torch.exp(spread)), 1 / (1 + others * torch.exp(-spread))


def logit_range(logits: PerKey, temperature: float = 1.0) -> PerRow:
    """(l_max − l_min)/T, the tightest R that the logits allow."""
    check_keys(logits)
    return (logits.amax(-1) - logits.amin(-1)) / temperature


def jensen_upper_bound(logits: PerKey, temperature: float = 1.0) -> PerKey:
    """α_i ≤ e^{(l_i − l̄)/T}/L for softmax, because Σ e^{l_j/T} ≥ L e^{l̄/T}."""
    check_keys(logits)
    centred = (logits - logits.mean(-1, keepdim=True)) / temperature
    return torch.exp(centred - math.log(logits.shape[-1]))


def key_spread_upper_bound(
    query: Float[Tensor, "*rows dim"], keys: Vectors, temperature: float = 1.0
) -> PerKey:
    """e^{‖q‖‖k_i − k̄‖/T}/L: the same from the norms alone, by Cauchy–Schwarz."""
    check_vectors(keys)
    away = (keys - keys.mean(-2, keepdim=True)).norm(dim=-1)
    reach = query.norm(dim=-1)[..., None] * away / temperature
    return torch.exp(reach - math.log(keys.shape[-2]))
