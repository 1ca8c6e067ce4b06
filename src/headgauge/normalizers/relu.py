"""ReLU attention, divided by the length."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from headgauge.normalizers.base import Normalizer, require
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import Number, Rows


@dataclass(frozen=True, eq=False)
class ReLU(Normalizer):
    """n^{−a}·relu(z_i), with a → `exponent`.

    Negative logits get no weight and no gradient; large ones get more than 1. From arXiv
    2309.08586.
    """

    name: ClassVar[str] = "relu"
    formula: ClassVar[str] = "n^(−a)·relu(z), a = 1"
    source: ClassVar[str] = "2309.08586"
    sums_to_one: ClassVar[bool] = False
    sparse: ClassVar[bool] = True
    form_f: ClassVar[bool] = False
    uses_length: ClassVar[bool] = True
    jacobian_bound_text: ClassVar[str] = "n^(−a), attained"

    exponent: Number = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.exponent >= 0, self, "exponent", "zero or positive")  # weights ≤ logits

    def _weights(self, rows: Rows) -> Tensor:
        return torch.relu(rows.seen) * rows.length.pow(-self.exponent).unsqueeze(-1)

    def _jacobian(self, rows: Rows) -> Jacobian:
        # relu(z)/z rather than z > 0, which would turn a NaN into a plain zero.
        slope = torch.where(rows.seen > 0, 1.0, torch.relu(rows.seen))
        return Jacobian(slope * rows.length.pow(-self.exponent).unsqueeze(-1))

    def _spectral_norm(self, rows: Rows) -> Tensor:
        return self._jacobian(rows).diagonal.amax(-1)

    def jacobian_bound(self, n: int) -> float | None:
        return float(n) ** -self.exponent if n else 0.0
