"""Softmax with a temperature."""

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from headgauge.normalizers.base import require
from headgauge.normalizers.rows import PerRow
from headgauge.normalizers.scaled_softmax import ScaledSoftmax


@dataclass(frozen=True, eq=False)
class Softmax(ScaledSoftmax):
    """exp(z_i/T)/Σ_j exp(z_j/T), with T → `temperature`.

    For bounded logits every weight is of order 1/n: the more keys, the flatter the row.
    """

    name: ClassVar[str] = "softmax"
    formula: ClassVar[str] = "exp(z/T)/Σ exp(z/T)"
    source: ClassVar[str] = "–"
    uses_length: ClassVar[bool] = False
    jacobian_bound_text: ClassVar[str] = "1/(2T), attained"

    temperature: PerRow = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.temperature > 0, self, "temperature", "positive")

    def factor(self, n: Float[Tensor, "*rows"], positions: Float[Tensor, "*rows"]) -> PerRow:
        return 1.0 / self.temperature
