"""Rules whose rows need not sum to one: sigmoid, ReLU, softmax with a sink, softpick."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from headgauge.normalizers.base import Fit, Normalizer, free, limited
from headgauge.normalizers.jacobian import Jacobian, nonzero, symmetric
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

    bias: PerRow | None = free(None, Fit(-16.0, 4.0))

    def _shifted(self, rows: Rows) -> Tensor:
        bias = -rows.length.log() if self.bias is None else self.bias
        return rows.seen + rows.column(bias, "bias")

    def _weights(self, rows: Rows) -> Tensor:
        return rows.fill(torch.sigmoid(self._shifted(rows)), 0.0)

    def _jacobian(self, rows: Rows) -> Jacobian:
        shifted = self._shifted(rows)
        # σ(−x) rather than 1 − σ(x), which is 0 long before it should be.
        return Jacobian(rows.fill(torch.sigmoid(shifted) * torch.sigmoid(-shifted), 0.0))

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
    exponent: PerRow = limited(1.0, "zero or positive", lambda a: a >= 0, Fit(0.0, 2.0, least=0.0))

    def _weights(self, rows: Rows) -> Tensor:
        return torch.relu(rows.seen) * self._share(rows)

    def _jacobian(self, rows: Rows) -> Jacobian:
        # relu(z)/z rather than z > 0, which would turn a NaN into a plain zero.
        slope = torch.where(rows.seen > 0, 1.0, torch.relu(rows.seen))
        return Jacobian(slope * self._share(rows))

    def jacobian_bound(self, n: int) -> float | None:
        a = self.exponent
        least = float(a.detach().min()) if isinstance(a, Tensor) else a
        return float(n) ** -least if n else 0.0

    def _share(self, rows: Rows) -> Tensor:
        """n^{−a}."""
        return rows.length.unsqueeze(-1) ** -rows.column(self.exponent, "exponent")


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
        weights, drained = self._shares(rows)
        return symmetric(weights, missing=drained)

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
        total = nonzero(drained + raised.sum(-1, keepdim=True))
        return raised / total, (drained / total).squeeze(-1)

    def mass_of_sink(self) -> PerRow | None:
        return self._sink()

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
    is_sink = True

    # e^−16 beside a row of ones is below the last digit of fp32.
    sink: PerRow = free(0.0, Fit(-16.0, 16.0, unchanged=-16.0))

    def _sink(self) -> PerRow:
        return self.sink


@dataclass(frozen=True, eq=False)
class Softpick(Normalizer):
    """relu(e^{z_i} − 1)/(Σ_j |e^{z_j} − 1| + ε), with ε → `epsilon`: the rectified softmax.

    Negative logits get exactly 0 but still drain the row, so it may sum to less than one. At
    z = 0 the rule jumps, smoothed only by ε. From arXiv 2504.20966.
    """

    name = "softpick"
    formula = "relu(e^z − 1)/(Σ |e^z − 1| + ε)"
    source = "2504.20966"
    sums_to_one = False
    sparse = True
    jacobian_bound_text = "≤ (1 + √n)/ε; none for ε = 0, it jumps at z = 0"

    epsilon: Number = limited(1e-6, "zero or positive", lambda e: e >= 0)

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
        return above, nonzero(total), shift
