"""Lemma 2: the Jacobian of any normaliser of the form α_i = F(l_i, θ)/Σ F(l_j, θ) (eq. 3).

Paper → code: F(l_j) → `values`, F′(l_j) → `slopes` (the caller evaluates both at the logits),
m = min F, S_F = Σ F.

As printed, with ‖F‖₂ := max|F|, ‖∇α‖₂ ≤ min{max|F′| (1/(L m) + max F/(L²m²)), √2}. False: the
second term lacks a factor L. With genuine Euclidean norms it is true (`euclidean_bound`), because
∇α = diag(F′)/S_F − F F′ᵀ/S_F².

Corrected. With p = α and φ = (log F)′ = F′/F the Jacobian is C(p)·diag(φ), so

    ‖∇α‖₂ ≤ λ₁(C(p))·max|φ| ≤ ½ max|φ|                          (`logarithmic_bound`)
    ‖∇α‖₂ ≤ max|F′| √L ‖F‖₂/S_F²                                 (`projector_bound`)
          ≤ max|F′| max F/(L m²)                                  (`smallest_value_bound`)

Proof of the second. ∇α = (I − p1ᵀ)diag(F′)/S_F, and an oblique projector has the norm
‖I − p1ᵀ‖ = √L‖p‖₂. What governs the Jacobian is (log F)′, not how small F becomes.
"""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.theory.checks import PerKey, PerRow, check_keys
from headgauge.theory.normalization.sensitivity import largest_eigenvalue


def normalise(function: Callable[[Tensor], Tensor], logits: PerKey) -> PerKey:
    """α_i = F(l_i)/Σ F(l_j) (eq. 3)."""
    check_keys(logits)
    values = function(logits)
    return values / values.sum(-1, keepdim=True)


def jacobian(values: PerKey, slopes: PerKey) -> Float[Tensor, "*rows keys keys"]:
    """∂α_i/∂l_k = δ_ik p_i φ_i − p_i p_k φ_k, with p_i φ_i = F′_i/S_F so that F may be zero."""
    check_keys(values)
    total = values.sum(-1, keepdim=True)
    weights, scaled = values / total, slopes / total
    return torch.diag_embed(scaled) - weights[..., :, None] * scaled[..., None, :]


def spectral_norm(values: PerKey, slopes: PerKey) -> PerRow:
    """‖∇α‖₂ by the singular values of the dense Jacobian."""
    return torch.linalg.matrix_norm(jacobian(values, slopes), ord=2)


def lemma_2_printed(values: PerKey, slopes: PerKey) -> PerRow:
    """Eq. (13) as printed, its norms being maxima and with its cap √2. False, twice."""
    return uncapped_lemma_2_printed(values, slopes).clamp(max=math.sqrt(2))


def uncapped_lemma_2_printed(values: PerKey, slopes: PerKey) -> PerRow:
    """The first argument of eq. (13)'s minimum."""
    check_keys(values)
    length, smallest = values.shape[-1], values.amin(-1)
    bracket = 1 / (length * smallest) + values.abs().amax(-1) / (length * smallest) ** 2
    return slopes.abs().amax(-1) * bracket


def euclidean_bound(values: PerKey, slopes: PerKey) -> PerRow:
    """Eq. (13) with ‖F‖₂ and ‖F′‖₂ the Euclidean norms and without the cap. True."""
    check_keys(values)
    length, smallest = values.shape[-1], values.amin(-1)
    bracket = 1 / (length * smallest) + values.norm(dim=-1) / (length * smallest) ** 2
    return slopes.norm(dim=-1) * bracket


def logarithmic_bound(values: PerKey, slopes: PerKey) -> PerRow:
    """λ₁(C(p)) max|F′/F| for F > 0, the corrected Lemma 2; exact for softmax."""
    check_keys(values)
    weights = values / values.sum(-1, keepdim=True)
    return largest_eigenvalue(weights) * (slopes / values).abs().amax(-1)


def projector_bound(values: PerKey, slopes: PerKey) -> PerRow:
    """max|F′| √L ‖F‖₂/S_F²: better where F is nearly linear, attained for constant F′."""
    check_keys(values)
    norm = values.norm(dim=-1)
    root = math.sqrt(values.shape[-1])
    return slopes.abs().amax(-1) * root * norm / values.sum(-1) ** 2


def smallest_value_bound(values: PerKey, slopes: PerKey) -> PerRow:
    """max|F′| max F/(L m²): what Lemma 2 becomes in its own terms, once it is corrected."""
    check_keys(values)
    length, smallest = values.shape[-1], values.amin(-1)
    return slopes.abs().amax(-1) * values.amax(-1) / (length * smallest**2)
