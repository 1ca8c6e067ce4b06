"""Softmax with a learned sink."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from headgauge.normalizers.base import Normalizer
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import PerRow, Rows
from headgauge.normalizers.scaled_softmax import softmax_jacobian
from headgauge.theory.normalization.sensitivity import largest_eigenvalue


@dataclass(frozen=True, eq=False)
class Sink(Normalizer):
    """exp(z_i)/(e^S + Σ_j exp(z_j)), with S → `sink`, one learned number per head.

    A row may give less than all its weight away: the rest goes to a key without a value. S = 0
    is softmax-1. As in the gpt-oss models.
    """

    name: ClassVar[str] = "sink"
    formula: ClassVar[str] = "exp(z)/(e^S + Σ exp(z))"
    source: ClassVar[str] = "openai/gpt-oss"
    sums_to_one: ClassVar[bool] = False
    sparse: ClassVar[bool] = False
    form_f: ClassVar[bool] = False
    uses_length: ClassVar[bool] = False
    jacobian_bound_text: ClassVar[str] = "½, approached (¼ for one key)"

    sink: PerRow = 0.0

    def _weights(self, rows: Rows) -> Tensor:
        return sink_weights(rows, self.sink)[0]

    def _jacobian(self, rows: Rows) -> Jacobian:
        return softmax_jacobian(self._weights(rows))

    def _spectral_norm(self, rows: Rows) -> Tensor:
        return largest_eigenvalue(*sink_weights(rows, self.sink))

    def jacobian_bound(self, n: int) -> float | None:
        return sink_bound(n)


def sink_weights(rows: Rows, sink: PerRow) -> tuple[Tensor, Tensor]:
    """The weights of the keys and what the sink takes."""
    S = rows.column(sink, "sink")
    top = rows.maximum()
    # Either side may be the larger one: a shift by the logits alone would overflow e^S.
    shift = torch.maximum(top, torch.as_tensor(S, dtype=top.dtype, device=top.device).detach())
    shift = shift.masked_fill(shift == -math.inf, 0.0)  # a dead row without a sink
    raised = torch.exp(rows.fill(rows.logits, -math.inf) - shift)
    drained = torch.exp(S - shift)
    total = drained + raised.sum(-1, keepdim=True)
    total = total.masked_fill(total == 0, 1.0)
    return raised / total, (drained / total).squeeze(-1)


def sink_bound(n: int) -> float:
    return 0.0 if n < 1 else 0.25 if n == 1 else 0.5
