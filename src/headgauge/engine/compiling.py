"""How the engine's rows are compiled, once for each precision."""

import math
from collections.abc import Callable
from typing import Any, no_type_check

import numpy as np

from headgauge.normalizers import entmax_rows
from headgauge.normalizers.entmax_rows import compiled

__all__ = ["INFINITE", "as_bits", "compiled", "from_ordered", "fused", "ordered"]

# Sums may be reordered, or they would not become vector code. Infinities keep their meaning. Rows
# with a NaN never get this far.
_ALLOWED = {"reassoc", "contract", "nsz", "nnan"}

# Numbers ≥ 0 are ordered like their bits. Extremes are taken over the bits, because a minimum of
# floats keeps the whole loop from becoming vector code: four times slower.
INFINITE = np.int64(np.float64(math.inf).view(np.int64))


def fused(function: Callable[..., Any]) -> Callable[..., Any]:
    """numba's compiler for loops that add up or take extremes over a row of finite numbers."""
    return _compile(function, fastmath=_ALLOWED)


def _compile(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    if entmax_rows.numba is None:
        return function
    try:
        return entmax_rows.numba.njit(nogil=True, cache=True, **options)(function)
    except RuntimeError:  # nowhere to keep the compiled code: compile once per process
        return entmax_rows.numba.njit(nogil=True, **options)(function)


def as_bits(x: Any) -> Any:
    """The integer with x's bits, as wide as x: for x ≥ 0 ordered like x."""
    raise NotImplementedError("only inside compiled rows")


def ordered(x: Any) -> Any:
    """An integer as wide as x and ordered like x, whatever its sign."""
    raise NotImplementedError("only inside compiled rows")


def from_ordered(bits: Any) -> Any:
    """x back from `ordered`, or from `as_bits` where x ≥ 0."""
    raise NotImplementedError("only inside compiled rows")


if entmax_rows.numba is not None:
    from numba import types
    from numba.extending import overload

    # numba widens the result of every integer operation; casting back keeps eight to a register.
    @no_type_check
    def _single_bits(x):
        return np.float32(x).view(np.int32)

    @no_type_check
    def _double_bits(x):
        return np.float64(x).view(np.int64)

    @no_type_check
    def _single_ordered(x):
        bits = np.float32(x).view(np.int32)
        return np.int32(bits ^ np.int32(np.int32(bits >> 31) & np.int32(0x7FFFFFFF)))

    @no_type_check
    def _double_ordered(x):
        bits = np.float64(x).view(np.int64)
        return bits ^ ((bits >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))

    @no_type_check
    def _single_back(bits):
        back = np.int32(bits ^ np.int32(np.int32(bits >> 31) & np.int32(0x7FFFFFFF)))
        return np.int32(back).view(np.float32)

    @no_type_check
    def _double_back(bits):
        return np.int64(bits ^ ((bits >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))).view(np.float64)

    @overload(as_bits, inline="always")
    @no_type_check
    def _as_bits(x):
        return _single_bits if x == types.float32 else _double_bits

    @overload(ordered, inline="always")
    @no_type_check
    def _ordered(x):
        return _single_ordered if x == types.float32 else _double_ordered

    @overload(from_ordered, inline="always")
    @no_type_check
    def _from_ordered(bits):
        return _single_back if bits == types.int32 else _double_back
