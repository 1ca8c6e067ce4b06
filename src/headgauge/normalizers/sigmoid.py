"""Sigmoid attention."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from headgauge.normalizers.base import Normalizer
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import PerRow, Rows


@dataclass(frozen=True, eq=False)
class Sigmoid(Normalizer):
    """σ(z_i + b), with b → `bias`; None means −log n, which makes an all-zero row sum to about 1.

    The keys do not compete: each weight depends on its own logit and on n. From arXiv 2409.04431.
    """

    name: ClassVar[str] = "sigmoid"
    formula: ClassVar[str] = "σ(z + b), b = −log n"
    source: ClassVar[str] = "2409.04431"
    sums_to_one: ClassVar[bool] = False
    sparse: ClassVar[bool] = False
    form_f: ClassVar[bool] = False
    uses_length: ClassVar[bool] = True
    jacobian_bound_text: ClassVar[str] = "¼, attained"

    bias: PerRow | None = None

    def _weights(self, rows: Rows) -> Tensor:
        bias = -rows.length.log() if self.bias is None else self.bias
        return rows.fill(torch.sigmoid(rows.seen + rows.column(bias, "bias")), 0.0)

    def _jacobian(self, rows: Rows) -> Jacobian:
        bias = -rows.length.log() if self.bias is None else self.bias
        shifted = rows.seen + rows.column(bias, "bias")
        # σ(−x) rather than 1 − σ(x), which is 0 long before it should be.
        return Jacobian(rows.fill(torch.sigmoid(shifted) * torch.sigmoid(-shifted), 0.0))

    def _spectral_norm(self, rows: Rows) -> Tensor:
        return self._jacobian(rows).diagonal.amax(-1)

    def jacobian_bound(self, n: int) -> float | None:
        return 0.25 if n else 0.0
