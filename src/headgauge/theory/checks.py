"""What the results ask of their arguments: shapes, by the names that the signatures have for them,
and the rest in words where it is not given."""

from numbers import Integral
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor

PerKey = Float[Tensor, "*rows keys"]
"""A number for each key of one row or of any batch of rows: weights, logits."""
PerRow = Float[Tensor, "*rows"]
Selected = Bool[Tensor, "*rows keys"]
"""The set I: True at its keys."""
Vectors = Float[Tensor, "*#rows keys dim"]
"""A vector for each key; rows of a batch may share them."""


def check_keys(*rows: Tensor) -> None:
    """A row over no keys has no measure."""
    for each in rows:
        if each.shape[-1] == 0:
            raise ValueError(f"a row needs at least one key, got rows of shape {tuple(each.shape)}")


def check_vectors(vectors: Tensor) -> None:
    """As many vectors as there are keys, none of them without entries."""
    if 0 in vectors.shape[-2:]:
        raise ValueError(
            f"needs at least one vector of at least one dimension, got {tuple(vectors.shape)}"
        )


def is_whole(number: Any, least: int, most: int | None = None) -> bool:
    """Whether it is a whole number in the range; what is no number at all is not."""
    if not isinstance(number, Integral):
        return False
    return least <= int(number) and (most is None or int(number) <= most)


def check_n(n: Any, weights: Tensor) -> None:
    """N of a row's keys."""
    check_keys(weights)
    keys = weights.shape[-1]
    if not is_whole(n, 0, keys):
        raise ValueError(f"needs a whole N, 0 <= N <= keys, got N={n} for {keys} keys")


def check_whole(name: str, number: Any, least: int) -> None:
    if not is_whole(number, least):
        raise ValueError(f"{name} must be a whole number from {least}, got {number!r}")


def check_positive(name: str, number: float) -> None:
    if not number > 0:
        raise ValueError(f"{name} must be positive, got {number}")
