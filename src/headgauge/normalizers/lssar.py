"""LSSAR: LSSA with its second, sharpening stage."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from headgauge.normalizers.base import Normalizer, require
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.lssa import lssa_slope, lssa_weights
from headgauge.normalizers.rows import Number, Rows


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

    name: ClassVar[str] = "lssar"
    formula: ClassVar[str] = "relu(n·A − 1)^p/Σ relu(n·A − 1)^p, A = LSSA(z)"
    source: ClassVar[str] = "2501.13428"
    sums_to_one: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    form_f: ClassVar[bool] = False
    uses_length: ClassVar[bool] = True
    jacobian_bound_text: ClassVar[str] = "none: jumps at a flat row"

    dim: Number = 64
    power: Number = 15

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.dim > 1, self, "dim", "greater than 1")
        require(self.power >= 1, self, "power", "at least 1")

    def _weights(self, rows: Rows) -> Tensor:
        first = lssa_weights(rows, self.dim)
        ratio, _, flat = _above_average(rows, first)
        raised = ratio.pow(self.power)
        sharpened = raised / raised.sum(-1, keepdim=True)
        return torch.where(flat, first, sharpened)

    def _jacobian(self, rows: Rows) -> Jacobian:
        first = lssa_weights(rows, self.dim)
        slope = first * lssa_slope(rows, self.dim)
        ratio, top, flat = _above_average(rows, first)
        raised = ratio.pow(self.power)
        total = raised.sum(-1, keepdim=True)
        weights = raised / total
        n = rows.length.unsqueeze(-1)
        h = torch.where(ratio > 0, self.power * n * ratio.pow(self.power - 1) / (top * total), 0.0)
        along = h * first
        pulled = along - weights * along.sum(-1, keepdim=True)
        zero = torch.zeros_like(first)
        return Jacobian(
            torch.where(flat, slope, h * slope),
            (
                (torch.where(flat, -first, -pulled), slope),
                (torch.where(flat, zero, -weights), h * slope),
            ),
        )

    def jacobian_bound(self, n: int) -> float | None:
        # Of two keys at most one is above the average: it gets everything, flat on both sides.
        return math.inf if n > 2 else 0.0


def _above_average(rows: Rows, first: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """relu(n·A − 1) over its largest value, that value, and which rows are flat.

    Divided by the largest before the power, which would otherwise overflow or vanish. What
    rounding leaves above the average on a flat row is not a preference.
    """
    excess = torch.relu(first * rows.length.unsqueeze(-1) - 1.0)
    excess = rows.fill(excess, 0.0)
    top = excess.amax(-1, keepdim=True)
    flat = top <= 16 * torch.finfo(first.dtype).eps
    # On a flat row the ratio is not used; all ones keeps its gradient finite.
    safe_top = top.masked_fill(flat, 1.0)
    return torch.where(flat, torch.ones_like(excess), excess / safe_top), safe_top, flat
