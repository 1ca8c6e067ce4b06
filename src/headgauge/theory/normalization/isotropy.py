"""Assumptions 1 and 2, as numbers: are the vectors spread evenly, and how near are two of them?

Paper → code: x_i ~ U(S^{d−1}(M)) → `mean_cosine` near 0 and `effective_dimension` near d (of L
uniform vectors about dL/(d + L)), δ = min_{i≠j}‖x_i − x_j‖ → `nearest_distances`.amin().

All take vectors of unit length, one set or a batch of sets.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.theory.checks import check_vectors


def mean_cosine(vectors: Float[Tensor, "*sets tokens dim"]) -> Float[Tensor, "*sets"]:
    """The mean of ⟨x_i, x_j⟩ over i ≠ j: (‖Σx‖² − Σ‖x‖²)/(L(L−1))."""
    tokens = _pairs(vectors)
    whole = vectors.sum(-2).square().sum(-1)
    return (whole - vectors.square().sum((-2, -1))) / (tokens * (tokens - 1))


def effective_dimension(vectors: Float[Tensor, "*sets tokens dim"]) -> Float[Tensor, "*sets"]:
    """(Σλ)²/Σλ² of the second moments Σ x xᵀ: d if they are equal, 1 on a line.

    Uniform vectors have E⟨x_i, x_j⟩² = 1/d, so L of them give about dL/(d + L − 1).
    """
    check_vectors(vectors)
    tokens, dim = vectors.shape[-2:]
    smaller = vectors @ vectors.mT if tokens < dim else vectors.mT @ vectors
    return vectors.square().sum((-2, -1)).square() / smaller.square().sum((-2, -1))


def nearest_distances(vectors: Float[Tensor, "*sets tokens dim"]) -> Float[Tensor, "*sets tokens"]:
    """The distance of each vector to the nearest other one; its minimum is δ.

    Cosines find the nearest; the distance is taken from the difference, because 2 − 2⟨x, y⟩ would
    lose every digit between near ones. Which of several is the nearest, cosines in float64 tell
    down to distances of about 1e-8.
    """
    alone = torch.eye(_pairs(vectors), dtype=torch.bool, device=vectors.device)
    nearest = (vectors @ vectors.mT).masked_fill(alone, -math.inf).argmax(-1)
    other = torch.take_along_dim(vectors, nearest[..., None], dim=-2)
    return (vectors - other).norm(dim=-1)


def _pairs(vectors: Float[Tensor, "*sets tokens dim"]) -> int:
    check_vectors(vectors)
    tokens = vectors.shape[-2]
    if tokens < 2:
        raise ValueError(f"a pair needs 2 vectors or more, got {tokens}")
    return tokens
