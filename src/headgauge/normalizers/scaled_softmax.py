"""Softmax of logits times a factor: the temperature, and the laws of the length."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.normalizers.base import Limits, Normalizer, largest
from headgauge.normalizers.jacobian import Jacobian, symmetric
from headgauge.normalizers.rows import Number, PerRow, Rows
from headgauge.theory.normalization.sensitivity import largest_eigenvalue


@dataclass(frozen=True, eq=False)
class ScaledSoftmax(Normalizer):
    """softmax(c·z) with a factor c per row.

    J = c(diag p − ppᵀ), whose norm is |c| times the largest eigenvalue of the bracket and at most
    |c|/2, attained by two tied logits far above the rest.
    """

    sums_to_one = True
    form_f = True

    def factor(self, n: Float[Tensor, "*rows"], positions: Float[Tensor, "*rows"]) -> PerRow:
        """c for rows that see n keys, at these positions."""
        raise NotImplementedError

    def _factor(self, rows: Rows) -> float | Tensor:
        # The parameters were checked by name; what comes of them fits.
        return rows.column(self.factor(rows.length, rows.positions), "factor")

    def _weights(self, rows: Rows) -> Tensor:
        return rows.softmax(rows.scaled(self._factor(rows)))

    def _jacobian(self, rows: Rows) -> Jacobian:
        return symmetric(self._weights(rows)).scaled(self._factor(rows))

    def _spectral_norm(self, rows: Rows) -> Tensor:
        norm = largest_eigenvalue(self._weights(rows))
        factor = self._factor(rows)
        return norm * (factor.abs().squeeze(-1) if isinstance(factor, Tensor) else abs(factor))

    def jacobian_bound(self, n: int) -> float | None:
        if n < 2:
            return 0.0
        length = torch.tensor(float(n), dtype=torch.float64)
        return largest(self.factor(length, length)) / 2


@dataclass(frozen=True, eq=False)
class Softmax(ScaledSoftmax):
    """exp(z_i/T)/Σ_j exp(z_j/T), with T → `temperature`.

    For bounded logits every weight is of order 1/n: the more keys, the flatter the row.
    """

    name = "softmax"
    formula = "exp(z/T)/Σ exp(z/T)"
    source = "–"
    jacobian_bound_text = "1/(2T), attained"
    limits: ClassVar[Limits] = {"temperature": (lambda T: T > 0, "positive")}

    temperature: PerRow = 1.0

    def factor(self, n: Float[Tensor, "*rows"], positions: Float[Tensor, "*rows"]) -> PerRow:
        return 1.0 / self.temperature


@dataclass(frozen=True, eq=False)
class SSMax(ScaledSoftmax):
    """softmax((s·log n + b)·z), with s → `s` and b → `b`; usually one s per head.

    A logit Δ above all others keeps its weight as n grows exactly when sΔ > 1. The factor must
    multiply: adding s·log n to every logit changes nothing. The norm of the Jacobian grows with
    log n. From arXiv 2501.19399.
    """

    name = "ssmax"
    formula = "softmax((s·log n + b)·z)"
    source = "2501.19399"
    uses_length = True
    jacobian_bound_text = "|s·log n + b|/2, attained; grows with n"

    s: PerRow = 1.0
    b: PerRow = 0.0

    def factor(self, n: Float[Tensor, "*rows"], positions: Float[Tensor, "*rows"]) -> PerRow:
        return self.s * n.log() + self.b


@dataclass(frozen=True, eq=False)
class LogLengthSu(ScaledSoftmax):
    """softmax(log_m(n)·z), with the base m → `train_length`.

    Keeps the entropy of a row roughly constant in n. Below the training length the factor is
    under 1 and flattens the row. From J. Su's note on scaling attention by log n (no arXiv id).
    """

    name = "log_length_su"
    formula = "softmax(log n/log m·z), m = 512"
    source = "–"
    uses_length = True
    jacobian_bound_text = "½·log n/log m, attained"
    limits: ClassVar[Limits] = {"train_length": (lambda m: m > 1, "greater than 1")}

    train_length: Number = 512

    def factor(self, n: Float[Tensor, "*rows"], positions: Float[Tensor, "*rows"]) -> PerRow:
        return n.log() / math.log(self.train_length)


@dataclass(frozen=True, eq=False)
class LogLengthQwen(ScaledSoftmax):
    """softmax(c·z), c = log_m(i) beyond the training length m and 1 up to it.

    m → `train_length`; i is the query's position counted from 1, the `positions` of the call and
    n by default. Unlike Su's law it never flattens a short row. From arXiv 2309.16609.
    """

    name = "log_length_qwen"
    formula = "softmax(max(log i/log m, 1)·z), m = train_length"
    source = "2309.16609"
    uses_length = True
    jacobian_bound_text = "½·max(log i/log m, 1), attained"
    limits: ClassVar[Limits] = {"train_length": (lambda m: m > 1, "greater than 1")}

    train_length: Number = 2048

    def factor(self, n: Float[Tensor, "*rows"], positions: Float[Tensor, "*rows"]) -> PerRow:
        return (positions.log() / math.log(self.train_length)).clamp(min=1.0)


@dataclass(frozen=True, eq=False)
class LogLengthYarn(ScaledSoftmax):
    """softmax((0.1·ln s + 1)²·z), with s → `scale`, how many times the context was extended.

    Squared because YaRN multiplies queries and keys alike. The factor depends on the extension
    that was configured, not on the n of a row; 1 where nothing was extended (s ≤ 1). From arXiv
    2309.00071.
    """

    name = "log_length_yarn"
    formula = "softmax((0.1·ln s + 1)²·z)"
    source = "2309.00071"
    jacobian_bound_text = "½·(0.1·ln s + 1)², attained"
    limits: ClassVar[Limits] = {"scale": (lambda s: s > 0, "positive")}

    scale: Number = 1.0

    def factor(self, n: Float[Tensor, "*rows"], positions: Float[Tensor, "*rows"]) -> PerRow:
        return (0.1 * math.log(max(self.scale, 1.0)) + 1.0) ** 2
