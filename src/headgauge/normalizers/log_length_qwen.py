"""The length law of the first Qwen models."""

import math
from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from headgauge.normalizers.base import require
from headgauge.normalizers.rows import Number, PerRow
from headgauge.normalizers.scaled_softmax import ScaledSoftmax


@dataclass(frozen=True, eq=False)
class LogLengthQwen(ScaledSoftmax):
    """softmax(c·z), c = log_m(i) beyond the training length m and 1 up to it.

    m → `train_length`; i is the query's position counted from 1, the `positions` of the call and
    n by default. Unlike Su's law it never flattens a short row. From arXiv 2309.16609.
    """

    name: ClassVar[str] = "log_length_qwen"
    formula: ClassVar[str] = "softmax(max(log i/log m, 1)·z), m = train_length"
    source: ClassVar[str] = "2309.16609"
    uses_length: ClassVar[bool] = True
    jacobian_bound_text: ClassVar[str] = "½·max(log i/log m, 1), attained"

    train_length: Number = 2048

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.train_length > 1, self, "train_length", "greater than 1")

    def factor(self, n: Float[Tensor, "*rows"], positions: Float[Tensor, "*rows"]) -> PerRow:
        return (positions.log() / math.log(self.train_length)).clamp(min=1.0)
