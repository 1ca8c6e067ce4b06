"""LSSA, the length-scaled softplus attention, and LSSAR, with its second, sharpening stage."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from headgauge.normalizers.base import Normalizer, limited
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import Number, Rows

# Below this, log softplus(x) = x − e^x/2 + O(e^{2x}) to the last bit of fp64; above, log x.
_TAIL, _HEAD = -18.0, 40.0
_FLAT = 16 * torch.finfo(torch.float32).eps
_DIM = 64  # where no model says it


@dataclass(frozen=True, eq=False)
class LSSA(Normalizer):
    """softplus(c·z_i)/Σ_j softplus(c·z_j), c = log d·log n, with d → `dim`, the size of a head; 64
    unless a number or a model says it.

    The logits are meant to be cosines: products of queries and keys of length one, without the
    usual 1/√d. With x = c·z and φ = σ(x)/softplus(x) ≤ 1, J = c(diag(p∘φ) − p(p∘φ)ᵀ); because
    φ ≤ 1 its Frobenius norm is at most that of the softmax Jacobian, c/2. From arXiv 2501.13428.
    """

    name = "lssa"
    formula = "softplus(log d·log n·z)/Σ softplus(log d·log n·z), z cosines"
    source = "2501.13428"
    sums_to_one = True
    form_f = True
    uses_length = True
    cosines = True
    jacobian_bound_text = "½·log d·log n, approached for very negative logits"

    dim: Number | None = limited(None, "greater than 1", lambda d: d > 1)

    def _weights(self, rows: Rows) -> Tensor:
        return _first_stage(rows, self.dim)

    def _jacobian(self, rows: Rows) -> Jacobian:
        p = self._weights(rows)
        slope = p * _slope(rows, self.dim)
        return Jacobian(slope, ((-p, slope),))

    def jacobian_bound(self, n: int) -> float | None:
        return math.log(self.dim or _DIM) * math.log(n) / 2 if n > 1 else 0.0


def _scale(rows: Rows, dim: Number | None) -> Tensor:
    return (math.log(dim or _DIM) * rows.length.log()).unsqueeze(-1)


def _first_stage(rows: Rows, dim: Number | None) -> Tensor:
    """LSSA, of cosines as it is written, of anything else as the softmax of log softplus, which
    neither overflows nor underflows.

    Nor does it where c·z would: there log softplus is log c + log z, or on a row that is negative
    altogether c(z − max z), up to the row's constant.
    """
    c = _scale(rows, dim)
    x = rows.seen * c
    if rows.within(x, _HEAD):
        raised = rows.fill(torch.logaddexp(x, x.new_zeros(())), 0.0)
        total = raised.sum(-1, keepdim=True)
        return raised / (total if rows.dead is None else total.masked_fill(rows.dead, 1.0))
    faint = rows.maximum() * c < _TAIL  # the whole row
    tail = torch.where(faint, rows.scaled(c), x) - x.clamp(max=_TAIL).exp() / 2
    body = x.clamp(_TAIL, _HEAD)
    body = torch.logaddexp(body, torch.zeros_like(body)).log()
    head = torch.where(x > _HEAD, rows.seen, 1.0).log() + c.log()
    return rows.softmax(torch.where(x < _TAIL, tail, torch.where(x > _HEAD, head, body)))


def _slope(rows: Rows, dim: Number | None) -> Tensor:
    """c·φ, the derivative of log softplus(c·z)."""
    c = _scale(rows, dim)
    x = (rows.seen * c).clamp(min=-_HEAD)  # below, φ is 1 to the last bit, and would be 0/0
    return torch.sigmoid(x) / torch.logaddexp(x, torch.zeros_like(x)) * c


@dataclass(frozen=True, eq=False)
class LSSAR(Normalizer):
    """r_i^p/Σ_j r_j^p, r = relu(n·A − 1), A the LSSA weights; p → `power`, d → `dim`.

    Keys with less than the average weight 1/n get exactly 0. A row in which no key stands above
    the average (a single key, all logits equal) has nothing to sharpen and keeps A. Near such a
    flat row the weights turn with the direction of the logits alone, so the Jacobian is
    unbounded. With h = p·n·w/r on the support and a = A∘φ·c of LSSA,

        J = diag(h∘a) − (h∘A − w⟨h, A⟩)aᵀ − w(h∘a)ᵀ.

    From arXiv 2501.13428.
    """

    name = "lssar"
    formula = "relu(n·A − 1)^p/Σ relu(n·A − 1)^p, A = LSSA(z)"
    source = "2501.13428"
    sums_to_one = True
    sparse = True
    uses_length = True
    cosines = True
    wide = True
    jacobian_bound_text = "none: jumps at a flat row"

    dim: Number | None = limited(None, "greater than 1", lambda d: d > 1)
    power: Number = limited(15, "at least 1", lambda p: p >= 1)

    def _weights(self, rows: Rows) -> Tensor:
        first = _first_stage(rows, self.dim)
        ratio, _, flat = _above_average(rows, first)
        raised = ratio.pow(self.power)
        return torch.where(flat, first, raised / raised.sum(-1, keepdim=True))

    def _jacobian(self, rows: Rows) -> Jacobian:
        first = _first_stage(rows, self.dim)
        slope = first * _slope(rows, self.dim)
        ratio, top, flat = _above_average(rows, first)
        raised = ratio.pow(self.power)
        total = raised.sum(-1, keepdim=True)
        weights = raised / total
        n = rows.length.unsqueeze(-1)
        h = torch.where(ratio > 0, self.power * n * ratio.pow(self.power - 1) / (top * total), 0.0)
        along = h * first
        pulled = torch.where(flat, first, along - weights * along.sum(-1, keepdim=True))
        own = torch.where(flat, 0.0, -weights), h * slope
        return Jacobian(torch.where(flat, slope, h * slope), ((-pulled, slope), own))

    def jacobian_bound(self, n: int) -> float | None:
        # Of two keys at most one is above the average: it gets everything, flat on both sides.
        return math.inf if n > 2 else 0.0


def _above_average(rows: Rows, first: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """relu(n·A − 1) over its largest value, that value, and which rows are flat.

    Divided by the largest before the power, which would otherwise overflow or vanish. What
    rounding leaves above the average on a flat row is not a preference, and vectors that are equal
    but for their rounding were rounded to fp32 at best, in whatever the rest is computed.
    """
    excess = rows.fill(torch.relu(first * rows.length.unsqueeze(-1) - 1.0), 0.0)
    top = excess.amax(-1, keepdim=True)
    flat = top <= _FLAT
    # On a flat row the ratio is not used; all ones keeps its gradient finite.
    safe_top = top.masked_fill(flat, 1.0)
    return torch.where(flat, 1.0, excess / safe_top), safe_top, flat
