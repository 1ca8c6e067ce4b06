"""Softpick, the rectified softmax."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from headgauge.normalizers.base import Limits, Normalizer
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import Number, Rows


@dataclass(frozen=True, eq=False)
class Softpick(Normalizer):
    """relu(e^{z_i} − 1)/(Σ_j |e^{z_j} − 1| + ε), with ε → `epsilon`.

    Negative logits get exactly 0 but still drain the row, so it may sum to less than one. At
    z = 0 the rule jumps, smoothed only by ε. From arXiv 2504.20966.
    """

    name = "softpick"
    formula = "relu(e^z − 1)/(Σ |e^z − 1| + ε)"
    source = "2504.20966"
    sums_to_one = False
    sparse = True
    jacobian_bound_text = "≤ (1 + √n)/ε; none for ε = 0, it jumps at z = 0"
    limits: ClassVar[Limits] = {"epsilon": (lambda e: e >= 0, "zero or positive")}

    epsilon: Number = 1e-6

    def _weights(self, rows: Rows) -> Tensor:
        above, total, _ = self._parts(rows)
        return above / total

    def _jacobian(self, rows: Rows) -> Jacobian:
        above, total, shift = self._parts(rows)
        raised = rows.fill(torch.exp(rows.seen - shift), 0.0) / total
        positive = (rows.seen > 0).to(raised.dtype)
        return Jacobian(raised * positive, ((-above / total, raised * rows.seen.sign()),))

    def jacobian_bound(self, n: int) -> float | None:
        if n == 0:
            return 0.0
        # ‖J‖ ≤ (max e^z + ‖e^z‖)/(D + ε) with e^z ≤ 1 + D and ‖e^z‖ ≤ √n + D, for ε ≤ 1.
        return (1 + math.sqrt(n)) / min(self.epsilon, 1.0) if self.epsilon else math.inf

    def _parts(self, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
        """relu(e^z − 1) and the denominator, both times e^{−shift}, and the shift.

        expm1 on either side of 0 keeps small logits exact, and ε shrinks with the rest. Invisible
        keys are 0 here and so fall out of every sum. The result does not depend on the shift.
        """
        shift = rows.seen.detach().amax(-1, keepdim=True).clamp(min=0.0)
        up, down = torch.relu(rows.seen), torch.relu(-rows.seen)
        above = torch.exp(up - shift) * -torch.expm1(-up)
        below = torch.exp(-shift) * -torch.expm1(-down)
        total = (above + below).sum(-1, keepdim=True) + self.epsilon * torch.exp(-shift)
        # Only with ε = 0 and every logit 0 (or e^{−shift} underflown beside nothing) is it 0.
        return above, total.masked_fill(total == 0, 1.0), shift
