"""Softmax of logits times a factor: what the temperature and the length laws have in common."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.normalizers.base import Normalizer, largest
from headgauge.normalizers.jacobian import Jacobian, symmetric
from headgauge.normalizers.rows import PerRow, Rows
from headgauge.theory.normalization.sensitivity import largest_eigenvalue


@dataclass(frozen=True, eq=False)
class ScaledSoftmax(Normalizer):
    """softmax(c·z) with a factor c per row.

    J = c(diag p − ppᵀ), whose norm is |c| times the largest eigenvalue of the bracket and at most
    |c|/2, attained by two tied logits far above the rest.
    """

    sums_to_one: ClassVar[bool] = True
    sparse: ClassVar[bool] = False
    form_f: ClassVar[bool] = True

    def factor(self, n: Float[Tensor, "*rows"], positions: Float[Tensor, "*rows"]) -> PerRow:
        """c for rows that see n keys, at these positions."""
        raise NotImplementedError

    def _factor(self, rows: Rows) -> float | Tensor:
        # The parameters were checked by name; what comes of them fits.
        return rows.column(self.factor(rows.length, rows.positions), "factor")

    def _weights(self, rows: Rows) -> Tensor:
        return rows.softmax(rows.scaled(self._factor(rows)))

    def _jacobian(self, rows: Rows) -> Jacobian:
        return scale_jacobian(softmax_jacobian(self._weights(rows)), self._factor(rows))

    def _spectral_norm(self, rows: Rows) -> Tensor:
        norm = largest_eigenvalue(self._weights(rows))
        factor = self._factor(rows)
        return norm * (factor.abs().squeeze(-1) if isinstance(factor, Tensor) else abs(factor))

    def jacobian_bound(self, n: int) -> float | None:
        if n < 2:
            return 0.0
        length = torch.tensor(float(n), dtype=torch.float64)
        return largest(self.factor(length, length)) / 2


def softmax_jacobian(weights: Tensor) -> Jacobian:
    """diag p − ppᵀ; p may sum to less than one."""
    return symmetric(weights, torch.ones_like(weights[..., :1]))


def scale_jacobian(jacobian: Jacobian, factor: float | Tensor) -> Jacobian:
    """The Jacobian of f(c·z) from that of f, for a factor c per row."""
    terms = tuple((left * factor, right) for left, right in jacobian.terms)
    return Jacobian(jacobian.diagonal * factor, terms)
