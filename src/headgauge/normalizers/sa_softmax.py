"""Self-adjusted softmax, plain and normalised."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from headgauge.normalizers.base import Normalizer
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import Rows


@dataclass(frozen=True, eq=False)
class SASoftmax(Normalizer):
    """z_i·softmax(z)_i.

    Weights may be negative and rows do not sum to one, so nothing proved for probability vectors
    applies. J = diag(p + z∘p) − (z∘p)pᵀ with p = softmax(z): about a/2 + ½ at z = (a, a). From
    arXiv 2502.18277.
    """

    name = "sa_softmax"
    formula = "z·softmax(z)"
    source = "2502.18277"
    sums_to_one = False
    jacobian_bound_text = "none: grows with |z|"

    def _weights(self, rows: Rows) -> Tensor:
        return rows.seen * rows.softmax(rows.logits)

    def _jacobian(self, rows: Rows) -> Jacobian:
        p = rows.softmax(rows.logits)
        adjusted = rows.seen * p
        return Jacobian(p + adjusted, ((-adjusted, p),))

    def jacobian_bound(self, n: int) -> float | None:
        # A single key has weight z itself.
        return math.inf if n > 1 else float(n)


@dataclass(frozen=True, eq=False)
class SASoftmaxNormalized(Normalizer):
    """w_i·softmax(z)_i, w = (z − m)/R, m = min(z_min, 0), R = max(0, z_max) − m.

    Each w lies in [0, 1], so a row sums to at most one; a single negative key gets 0. The rule
    jumps at z = 0 (where R = 0 the weights here are 0, without gradient) and its Jacobian grows
    like 1/‖z‖ on the way there. With p = softmax(z),

        J = diag(w∘p + p/R) − (w∘p)pᵀ − (p∘(1−w)/R)e_minᵀ − (p∘w/R)e_maxᵀ,

    the third term only if z_min < 0 and the last only if z_max > 0; ties share e_min and e_max.
    From arXiv 2502.18277.
    """

    name = "sa_softmax_normalized"
    formula = "(z − min(z_min, 0))/(max(0, z_max) − min(z_min, 0))·softmax(z)"
    source = "2502.18277"
    sums_to_one = False
    jacobian_bound_text = "none: jumps at z = 0"

    def _weights(self, rows: Rows) -> Tensor:
        low, high = _ends(rows)
        return _adjusted(rows, low, high) * rows.softmax(rows.logits)

    def _jacobian(self, rows: Rows) -> Jacobian:
        low, high = _ends(rows)
        span = (high - low).masked_fill(high == low, math.inf)
        p = rows.softmax(rows.logits)
        w = _adjusted(rows, low, high)
        at_low = _shared(rows.visible & (rows.seen == low) & (low < 0), p)
        at_high = _shared(rows.visible & (rows.seen == high) & (high > 0), p)
        ends = (-p * (1 - w) / span, at_low), (-p * w / span, at_high)
        return Jacobian(w * p + p / span, ((-w * p, p), *ends))

    def jacobian_bound(self, n: int) -> float | None:
        # A single key has weight 1 above zero and 0 below it, flat on both sides.
        return math.inf if n > 1 else 0.0


def _ends(rows: Rows) -> tuple[Tensor, Tensor]:
    """min(z_min, 0) and max(z_max, 0) over the visible keys."""
    low = rows.fill(rows.logits, math.inf).amin(-1, keepdim=True)
    high = rows.fill(rows.logits, -math.inf).amax(-1, keepdim=True)
    # A NaN must get through, as it would not with `low < 0`.
    return torch.where(low >= 0, 0.0, low), torch.where(high <= 0, 0.0, high)


def _adjusted(rows: Rows, low: Tensor, high: Tensor) -> Tensor:
    """w, from halves where R itself is beyond the numbers."""
    half = torch.where((high - low).isinf(), 0.5, 1.0)
    span = (high * half - low * half).masked_fill(high == low, math.inf)
    return rows.fill((rows.seen * half - low * half) / span, 0.0)


def _shared(chosen: Tensor, like: Tensor) -> Tensor:
    chosen = chosen.to(like.dtype)
    return chosen / chosen.sum(-1, keepdim=True).clamp(min=1.0)
