"""How loops over one row of either precision become vector code.

numba's own division looks for a zero at every step and keeps a loop scalar: four times slower.
Here a division by zero is an infinity or a NaN, as in numpy.
"""

from collections.abc import Callable
from typing import Any

from headgauge.normalizers import entmax_rows

# Sums may be reordered. Infinities and NaN keep their meaning.
_SUMS = {"reassoc", "contract", "nsz"}


def _compile(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    if entmax_rows.numba is None:
        return function
    options = {"nogil": True, "error_model": "numpy", **options}
    try:
        return entmax_rows.numba.njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to keep the compiled code: compile once per process
        return entmax_rows.numba.njit(**options)(function)


def literal(function: Callable[..., Any]) -> Callable[..., Any]:
    """Every operation as it is written, also where it is compiled into the loop of a `summed`."""
    return _compile(function)


def summed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Sums and extremes over a row, in any order. Extremes are taken over the bits, as integers."""
    return _compile(function, fastmath=_SUMS)
