"""Floats as integers in the same order, inside compiled rows and out.

Extremes are taken over the bits, because a minimum of floats keeps the whole loop from becoming
vector code: four times slower. numba widens the result of every integer operation; casting back
keeps eight to a register.
"""

import inspect
from typing import Any

import numpy as np

from headgauge import kernels


def _bits32(x):
    return np.float32(x).view(np.int32)


def _bits64(x):
    return np.float64(x).view(np.int64)


def _ordered32(x):
    bits = np.float32(x).view(np.int32)
    return np.int32(bits ^ np.int32(np.int32(bits >> 31) & np.int32(0x7FFFFFFF)))


def _ordered64(x):
    bits = np.float64(x).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))


def _float32(x):
    back = np.int32(x ^ np.int32(np.int32(x >> 31) & np.int32(0x7FFFFFFF)))
    return np.int32(back).view(np.float32)


def _float64(x):
    return np.int64(x ^ ((x >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))).view(np.float64)


def as_bits(x):
    """The integer with x's bits, as wide as x: for x ≥ 0 ordered like x."""
    return _bits32(x) if np.asarray(x).itemsize == 4 else _bits64(x)


def ordered(x):
    """An integer as wide as x and ordered like x, whatever its sign."""
    return _ordered32(x) if np.asarray(x).itemsize == 4 else _ordered64(x)


def from_ordered(x):
    """The float back from `ordered`, or from `as_bits` where it is ≥ 0."""
    return _float32(x) if np.asarray(x).itemsize == 4 else _float64(x)


def _overload(function: Any, narrow: Any, short: Any, wide: Any) -> None:
    """Inside compiled rows the type decides when they are compiled."""
    short, wide = inspect.unwrap(short), inspect.unwrap(wide)
    extending.overload(function, inline="always")(lambda x: short if x == narrow else wide)


if kernels.numba is not None:
    from numba import extending, types

    _overload(as_bits, types.float32, _bits32, _bits64)
    _overload(ordered, types.float32, _ordered32, _ordered64)
    _overload(from_ordered, types.int32, _float32, _float64)
