"""Su's length law."""

import math
from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from headgauge.normalizers.base import require
from headgauge.normalizers.rows import Number, PerRow
from headgauge.normalizers.scaled_softmax import ScaledSoftmax


@dataclass(frozen=True, eq=False)
class LogLengthSu(ScaledSoftmax):
    """softmax(log_m(n)·z), with the base m → `train_length`.

    Keeps the entropy of a row roughly constant in n. Below the training length the factor is
    under 1 and flattens the row. From J. Su's note on scaling attention by log n (no arXiv id).
    """

    name: ClassVar[str] = "log_length_su"
    formula: ClassVar[str] = "softmax(log n/log m·z), m = 512"
    source: ClassVar[str] = "–"
    uses_length: ClassVar[bool] = True
    jacobian_bound_text: ClassVar[str] = "½·log n/log m, attained"

    train_length: Number = 512

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.train_length > 1, self, "train_length", "greater than 1")

    def factor(self, n: Float[Tensor, "*rows"], positions: Float[Tensor, "*rows"]) -> PerRow:
        return n.log() / math.log(self.train_length)
