"""How the engine's rows are compiled."""

from collections.abc import Callable
from typing import Any

import numpy as np

from headgauge.normalizers import entmax_rows
from headgauge.normalizers.entmax_rows import compiled

__all__ = ["INFINITE", "compiled", "fused"]

# Sums may be reordered, or they would not become vector code. Infinities keep their meaning. Rows
# with a NaN never get this far.
_ALLOWED = {"reassoc", "contract", "nsz", "nnan"}

# Numbers ≥ 0 are ordered like their bits. Extremes are taken over the bits, because a minimum of
# floats keeps the whole loop from becoming vector code: four times slower.
INFINITE = np.int64(np.float64(np.inf).view(np.int64))


def fused(function: Callable[..., Any]) -> Callable[..., Any]:
    """numba's compiler for loops that add up or take extremes over a row of finite numbers."""
    if entmax_rows.numba is None:
        return function
    try:
        return entmax_rows.numba.njit(nogil=True, cache=True, fastmath=_ALLOWED)(function)
    except RuntimeError:  # nowhere to keep the compiled code: compile once per process
        return entmax_rows.numba.njit(nogil=True, fastmath=_ALLOWED)(function)
