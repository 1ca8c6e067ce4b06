"""What the results ask of their arguments, told in words where it is not given."""

from numbers import Integral
from typing import Any

from torch import Tensor


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


def check_whole(name: str, number: Any, least: int) -> None:
    if not is_whole(number, least):
        raise ValueError(f"{name} must be a whole number from {least}, got {number!r}")


def check_positive(name: str, number: float) -> None:
    if not number > 0:
        raise ValueError(f"{name} must be positive, got {number}")
