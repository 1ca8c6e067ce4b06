"""What a caller hands to the engine, looked at once, before compiled rows read its memory.

Compiled rows trust their arrays: a mask of floats would be read as bytes, and a row that counts
more keys than it has writes beyond its end.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headgauge.errors import InputError


def check_real(name: str, given: Any) -> None:
    """A tensor of floating-point numbers."""
    if not isinstance(given, Tensor):
        raise InputError(f"{name} must be a torch tensor, got {type(given).__name__}")
    if not given.is_floating_point():
        raise InputError(f"{name} must be floating point, got {given.dtype}")


def check_rows(name: str, given: Any) -> None:
    """Rows over at least one key."""
    check_real(name, given)
    if given.ndim != 2 or given.shape[1] == 0:
        raise InputError(
            f"{name} must be (rows, keys) with at least one key, got {tuple(given.shape)}"
        )


def check_like(name: str, given: Any, shape: torch.Size, others: str = "the weights") -> None:
    """Numbers for every row and key."""
    check_real(name, given)
    if given.shape != shape:
        raise InputError(f"{name} must be {tuple(shape)} like {others}, got {tuple(given.shape)}")


def check_visible(visible: Any, shape: torch.Size, others: str = "the weights") -> None:
    """A boolean for every row and key, or one row for all."""
    dtype = visible.dtype if isinstance(visible, Tensor) else type(visible).__name__
    if dtype != torch.bool:
        raise InputError(
            f"visible must be boolean, True where a key may be seen, got {dtype}: "
            "`mask == 0` makes one of an additive mask, `mask.bool()` of zeros and ones"
        )
    if tuple(visible.shape) not in (tuple(shape), (1, shape[-1])):
        raise InputError(
            f"visible must be {tuple(shape)} like {others}, or one row for all, "
            f"got {tuple(visible.shape)}"
        )


def positive(name: str, given: Sequence[float]) -> np.ndarray:
    """Finite numbers above 0, at least one."""
    numbers = np.asarray(given)
    right = numbers.ndim == 1 and numbers.size and numbers.dtype.kind in "iuf"
    if not right or not bool((np.isfinite(numbers) & (numbers > 0)).all()):
        raise InputError(f"{name} must be finite numbers above 0, at least one, got {given}")
    return numbers.astype(np.float64)


def top_ns_of(given: Sequence[int], keys: int) -> np.ndarray:
    """Every asked N; those that no row of so many keys can answer are alike."""
    asked = np.asarray(given)
    if asked.ndim != 1 or not asked.size or asked.dtype.kind not in "iu" or asked.min() < 1:
        raise InputError(
            f"top-N needs at least one N, each a whole number from 1 to 2**63 - 1, got {given}"
        )
    return np.minimum(asked, keys + 1).astype(np.int64)
