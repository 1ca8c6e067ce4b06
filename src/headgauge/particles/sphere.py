"""Points on the sphere where particles start: at equal angles, uniform, or in a narrow cone."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from headgauge.errors import InputError


def equiangular(tokens: int, dim: int, gamma: float = 0.0) -> Float[Tensor, "n d"]:
    """Directions with ⟨θ_i, θ_j⟩ = γ for all i ≠ j, exact to the last digits."""
    if not -1 / max(tokens - 1, 1) <= gamma < 1:
        raise InputError(f"{tokens} tokens cannot all have the cosine {gamma:g}")
    if dim < tokens:
        raise InputError(
            f"{tokens} tokens at equal angles need {tokens} dimensions or more, got {dim}"
        )
    # The square root of (1 − γ)I + γJ: each token is its own axis plus a share of all.
    apart = (1 - gamma) ** 0.5
    share = ((1 + (tokens - 1) * gamma) ** 0.5 - apart) / tokens
    directions = torch.zeros(tokens, dim, dtype=torch.float64)
    directions[:, :tokens] = share
    directions[:, :tokens].diagonal().add_(apart)
    return normalize(directions, dim=-1)


def uniform(tokens: int, dim: int, seed: int) -> Float[Tensor, "n d"]:
    """Independent uniform directions."""
    source = torch.Generator().manual_seed(seed)
    return normalize(torch.randn(tokens, dim, dtype=torch.float64, generator=source), dim=-1)


def cone(tokens: int, dim: int, width: float, seed: int) -> Float[Tensor, "n d"]:
    """Directions within about `width` radians of the first axis."""
    around = torch.zeros(dim, dtype=torch.float64)
    around[0] = 1.0
    return normalize(around + width * uniform(tokens, dim, seed), dim=-1)
