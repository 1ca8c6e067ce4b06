"""Softmax with a sink: a row may give less than all its weight away."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from headgauge.normalizers.base import Normalizer
from headgauge.normalizers.jacobian import Jacobian, symmetric
from headgauge.normalizers.rows import PerRow, Rows
from headgauge.theory.normalization.sensitivity import largest_eigenvalue


@dataclass(frozen=True, eq=False)
class SoftmaxOne(Normalizer):
    """exp(z_i)/(1 + Σ_j exp(z_j)): the sink with S = 0.

    Where all logits are very negative the whole row fades to zero. Not invariant to adding a
    constant to a row.
    """

    name = "softmax_one"
    formula = "exp(z)/(1 + Σ exp(z))"
    source = "–"
    sums_to_one = False
    jacobian_bound_text = "½, approached (¼ for one key)"

    def _weights(self, rows: Rows) -> Tensor:
        return self._shares(rows)[0]

    def _jacobian(self, rows: Rows) -> Jacobian:
        return symmetric(self._weights(rows))

    def _spectral_norm(self, rows: Rows) -> Tensor:
        return largest_eigenvalue(*self._shares(rows))

    def jacobian_bound(self, n: int) -> float | None:
        return 0.0 if n < 1 else 0.25 if n == 1 else 0.5

    def _shares(self, rows: Rows) -> tuple[Tensor, Tensor]:
        """The weights of the keys and what the sink takes."""
        S = rows.column(self._sink(), "sink")
        top = rows.maximum()
        # Either side may be the larger one: a shift by the logits alone would overflow e^S.
        shift = torch.maximum(top, torch.as_tensor(S, dtype=top.dtype, device=top.device).detach())
        shift = shift.masked_fill(shift == -math.inf, 0.0)  # a dead row without a sink
        raised = torch.exp(rows.fill(rows.logits, -math.inf) - shift)
        drained = torch.exp(S - shift)
        total = drained + raised.sum(-1, keepdim=True)
        total = total.masked_fill(total == 0, 1.0)
        return raised / total, (drained / total).squeeze(-1)

    def _sink(self) -> PerRow:
        return 0.0


@dataclass(frozen=True, eq=False)
class Sink(SoftmaxOne):
    """exp(z_i)/(e^S + Σ_j exp(z_j)), with S → `sink`, one learned number per head.

    A row may give less than all its weight away: the rest goes to a key without a value. S = 0
    is softmax-1. As in the gpt-oss models.
    """

    name = "sink"
    formula = "exp(z)/(e^S + Σ exp(z))"
    source = "openai/gpt-oss"

    sink: PerRow = 0.0

    def _sink(self) -> PerRow:
        return self.sink
