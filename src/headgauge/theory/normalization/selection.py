"""The top-N set I_N and the context vector s (eq. 6).

Paper → code: α_i → `weights`, x_i → `vectors`, N → `n`, I_N → `selected` (a boolean row),
y_i = α_i x_i → `weighted(weights, vectors)`, s → `context_vector`, ᾱ_N → `selected_mass`.

A row holds the keys that count for its query and no others. Every function takes one row or any
batch of rows; vectors may be shared by all rows of a batch.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headgauge.theory.checks import (
    PerKey,
    PerRow,
    Selected,
    Vectors,
    check_keys,
    check_n,
    check_vectors,
)


def top_n_indices(weights: PerKey, n: int) -> Int[Tensor, "*rows n"]:
    """Indices of the n largest weights, largest first; among equal weights the lowest index.

    >>> top_n_indices(torch.tensor([0.2, 0.4, 0.4]), 2)
    tensor([1, 2])
    """
    check_n(n, weights)
    return torch.sort(weights, dim=-1, descending=True, stable=True).indices[..., :n]


def top_n(weights: PerKey, n: int) -> Selected:
    """I_N as a boolean row: True at the n largest weights."""
    selected = torch.zeros_like(weights, dtype=torch.bool)
    return selected.scatter(-1, top_n_indices(weights, n), True)


def weighted(weights: PerKey, vectors: Vectors) -> Float[Tensor, "*rows keys dim"]:
    """y_i = α_i x_i."""
    check_keys(weights)
    check_vectors(vectors)
    return weights[..., None] * vectors


def context_vector(
    weights: PerKey, vectors: Vectors, selected: Selected
) -> Float[Tensor, "*rows dim"]:
    """s = Σ_{i∈I} α_i x_i (eq. 6)."""
    return (weighted(weights, vectors) * selected[..., None]).sum(-2)


def selected_mass(weights: PerKey, selected: Selected) -> PerRow:
    """ᾱ = Σ_{i∈I} α_i."""
    check_keys(weights)
    return (weights * selected).sum(-1)


def sums_to_one(weights: PerKey, tolerance: float = 1e-5) -> Bool[Tensor, "*rows"]:
    """Where a row is a probability vector: bounds that need that are NaN elsewhere."""
    check_keys(weights)
    return ((weights.sum(-1) - 1).abs() <= tolerance) & (weights >= 0).all(-1)


def missing_mass(weights: PerKey) -> PerRow:
    """1 − Σα where a row gives less than all its weight away (softmax-1, sinks), else 0.

    A row within 1e-5 of one is taken to sum to one: the difference is rounding, and next to a
    one-hot row it would swamp the weights that matter. NaN where no such reading exists: a sum
    above one, or a negative weight.
    """
    missing = (1 - weights.sum(-1)).masked_fill(sums_to_one(weights), 0.0)
    return torch.where((missing >= 0) & (weights >= 0).all(-1), missing, torch.nan)


def leave_one_out_sum(values: PerKey) -> PerKey:
    """Σ_{j≠i} v_j for every i, for non-negative v.

    Subtracting v_i from the sum loses digits only where v_i is more than half of it, so the
    largest entry alone has its rest added up afresh.
    """
    check_keys(values)
    largest = values.argmax(-1, keepdim=True)
    rest = values.scatter(-1, largest, 0.0).sum(-1, keepdim=True)
    subtracted = rest + values.gather(-1, largest) - values
    return subtracted.scatter(-1, largest, rest)
