"""The words that columns of the tables choose from, and the ranges of numbers that figures rely on:
whatever else a file holds is damage.

Words become names of files and headings, so that none may come from a file unseen.
"""

import sys
from typing import Annotated, Literal, NamedTuple

Vectors = Literal["value", "hidden", "embedding", "final"]
Scale = Literal["unit", "raw"]  # the length of the vectors
Keys = Literal["visible", "all"]  # the keys that count
Seen = Literal["qkv", "softmax"]
Logits = Literal["scaled", "raw"]
Panel = Literal["circle", "model"]
Expected = Literal["printed", "appendix", "upper"]
Weights = Literal["identity", "random", "layers"]
Scheme = Literal[
    "post_ln",
    "pre_ln",
    "mix_ln",
    "peri_ln",
    "ngpt",
    "ln_scaling",
    "ln_scaling_pre",
    "unnormalised",
]


class Range(NamedTuple):
    """The ends belong to it; NaN never does."""

    low: float
    high: float
    beyond: str  # what is said of a number outside


_TINY, _HUGE = sys.float_info.min, sys.float_info.max
Finite = Annotated[float, Range(-_HUGE, _HUGE, "not finite")]  # what figures are drawn over
Place = Annotated[float, Range(-1e100, 1e100, "no place in a plane")]  # its square is finite
Share = Annotated[float, Range(0, 1, "outside 0 to 1")]
Part = Annotated[float, Range(_TINY, 1, "not above 0 and up to 1")]  # on an axis of ratios
Size = Annotated[int, Range(1, _HUGE, "below 1")]
