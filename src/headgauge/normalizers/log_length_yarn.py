"""YaRN's attention factor."""

import math
from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from headgauge.normalizers.base import require
from headgauge.normalizers.rows import Number, PerRow
from headgauge.normalizers.scaled_softmax import ScaledSoftmax


@dataclass(frozen=True, eq=False)
class LogLengthYarn(ScaledSoftmax):
    """softmax((0.1·ln s + 1)²·z), with s → `scale`, how many times the context was extended.

    Squared because YaRN multiplies queries and keys alike. The factor depends on the extension
    that was configured, not on the n of a row; 1 where nothing was extended (s ≤ 1). From arXiv
    2309.00071.
    """

    name: ClassVar[str] = "log_length_yarn"
    formula: ClassVar[str] = "softmax((0.1·ln s + 1)²·z)"
    source: ClassVar[str] = "2309.00071"
    uses_length: ClassVar[bool] = False
    jacobian_bound_text: ClassVar[str] = "½·(0.1·ln s + 1)², attained"

    scale: Number = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.scale > 0, self, "scale", "positive")

    def factor(self, n: Float[Tensor, "*rows"], positions: Float[Tensor, "*rows"]) -> PerRow:
        return (0.1 * math.log(max(self.scale, 1.0)) + 1.0) ** 2
