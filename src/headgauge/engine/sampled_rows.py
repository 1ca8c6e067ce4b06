"""A few rows of many heads, each over keys and vectors of its own: N_s/N and the exact ‖J‖.

`curves` shares the geometry of a sequence's vectors among all its rows, which costs as much as many
rows. For a few, the reference itself is cheaper: O(keys·dim) a row, on any device.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headgauge.devices import most_exact
from headgauge.theory.normalization import sensitivity, separability
from headgauge.theory.normalization.distance import distances_to_context
from headgauge.theory.normalization.selection import context_vector, top_n


class SampledRows(NamedTuple):
    """A number for each row; NaN where it sees no key, or for N_s/N no more than N."""

    separability: Float[Tensor, "*rows"]
    jacobian_norm: Float[Tensor, "*rows"]


def sampled_rows(
    weights: Float[Tensor, "*rows keys"],
    visible: Bool[Tensor, "*#rows keys"],
    vectors: Float[Tensor, "*#rows keys dim"],
    n: int,
) -> SampledRows:
    """By theory's definitions over the visible keys; `vectors` are scaled to unit length."""
    exact = most_exact(weights.device)
    visible = visible.expand(weights.shape)
    alpha = torch.where(visible, weights, 0.0).to(exact)
    norm = sensitivity.largest_eigenvalue(alpha)
    seen = visible.sum(-1)
    if alpha.shape[-1] <= n:
        return SampledRows(torch.full_like(norm, torch.nan), _where(seen > 0, norm))
    # Weights of hidden keys are below all others, so that they come last.
    selected = top_n(torch.where(visible, alpha, -1.0), n)
    unit = torch.nn.functional.normalize(vectors.to(exact), dim=-1, eps=torch.finfo(exact).tiny)
    away = distances_to_context(alpha, unit, selected)
    radius = torch.where(visible & ~selected, away, torch.inf).amin(-1, keepdim=True)
    lengths = torch.linalg.vector_norm(unit, dim=-1) * alpha
    scale = lengths + context_vector(alpha, unit, selected).norm(dim=-1, keepdim=True)
    inside = selected & ((away <= radius + separability.GUARD * scale) | (n == 1))
    share = inside.sum(-1).to(exact) / n
    return SampledRows(_where(seen > n, share), _where(seen > 0, norm))


def _where(told: Tensor, found: Tensor) -> Tensor:
    return torch.where(told, found, torch.nan)
