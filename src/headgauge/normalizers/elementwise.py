"""Rules in which the keys do not compete: a weight depends on its own logit and on n."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from headgauge.normalizers.base import Limits, Normalizer
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import Number, PerRow, Rows


@dataclass(frozen=True, eq=False)
class Sigmoid(Normalizer):
    """σ(z_i + b), with b → `bias`; None means −log n, which makes an all-zero row sum to about 1.

    The keys do not compete: each weight depends on its own logit and on n. From arXiv 2409.04431.
    """

    name = "sigmoid"
    formula = "σ(z + b), b = −log n"
    source = "2409.04431"
    sums_to_one = False
    uses_length = True
    jacobian_bound_text = "¼, attained"

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


@dataclass(frozen=True, eq=False)
class ReLU(Normalizer):
    """n^{−a}·relu(z_i), with a → `exponent`.

    Negative logits get no weight and no gradient; large ones get more than 1. From arXiv
    2309.08586.
    """

    name = "relu"
    formula = "n^(−a)·relu(z), a = 1"
    source = "2309.08586"
    sums_to_one = False
    sparse = True
    uses_length = True
    jacobian_bound_text = "n^(−a), attained"
    # Not below 0, so that no weight is above its logit.
    limits: ClassVar[Limits] = {"exponent": (lambda a: a >= 0, "zero or positive")}

    exponent: Number = 1.0

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
