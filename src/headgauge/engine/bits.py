"""Floats as integers in the same order, inside compiled rows and out.

    as_bits        the integer with x's bits, as wide as x: for x ≥ 0 ordered like x
    ordered        an integer as wide as x and ordered like x, whatever its sign
    from_ordered   the float back from `ordered`, or from `as_bits` where it is ≥ 0

Extremes are taken over the bits, because a minimum of floats keeps the whole loop from becoming
vector code: four times slower. numba widens the result of every integer operation; casting back
keeps eight to a register.
"""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from headgauge import kernels


def _conversions(real: Any, whole: Any) -> tuple[Callable[[Any], Any], ...]:
    last, most = 8 * whole().itemsize - 1, np.iinfo(whole).max

    def as_bits(x):
        return real(x).view(whole)

    def ordered(x):
        bits = real(x).view(whole)
        return whole(bits ^ whole(whole(bits >> last) & whole(most)))

    def from_ordered(x):
        return whole(x ^ whole(whole(x >> last) & whole(most))).view(real)

    return tuple(map(inspect.unwrap, (as_bits, ordered, from_ordered)))


def _of_either_width(narrow: Callable[[Any], Any], wide: Callable[[Any], Any]) -> Any:
    def convert(x):
        return narrow(x) if np.asarray(x).itemsize == 4 else wide(x)

    convert = inspect.unwrap(convert)
    if kernels.numba is not None:  # inside compiled rows the type decides when they are compiled
        extending = importlib.import_module("numba.extending")
        choose = extending.overload(convert, inline="always")
        choose(lambda x: narrow if x.bitwidth == 32 else wide)
    return convert


as_bits, ordered, from_ordered = map(
    _of_either_width, _conversions(np.float32, np.int32), _conversions(np.float64, np.int64)
)
