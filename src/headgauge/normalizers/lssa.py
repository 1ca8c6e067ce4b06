"""LSSA, the length-scaled softplus attention."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from headgauge.normalizers.base import Normalizer, require
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import Number, Rows

# Below this, log softplus(x) = x − e^x/2 + O(e^{2x}) to the last bit of fp64; above, log x.
_TAIL, _HEAD = -18.0, 40.0


@dataclass(frozen=True, eq=False)
class LSSA(Normalizer):
    """softplus(c·z_i)/Σ_j softplus(c·z_j), c = log d·log n, with d → `dim`, the size of a head.

    The logits are meant to be cosines: products of queries and keys of length one, without the
    usual 1/√d. With x = c·z and φ = σ(x)/softplus(x) ≤ 1, J = c(diag(p∘φ) − p(p∘φ)ᵀ); because
    φ ≤ 1 its Frobenius norm is at most that of the softmax Jacobian, c/2. From arXiv 2501.13428.
    """

    name: ClassVar[str] = "lssa"
    formula: ClassVar[str] = "softplus(log d·log n·z)/Σ softplus(log d·log n·z), z cosines"
    source: ClassVar[str] = "2501.13428"
    sums_to_one: ClassVar[bool] = True
    sparse: ClassVar[bool] = False
    form_f: ClassVar[bool] = True
    uses_length: ClassVar[bool] = True
    jacobian_bound_text: ClassVar[str] = "½·log d·log n, approached for very negative logits"

    dim: Number = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.dim > 1, self, "dim", "greater than 1")

    def _weights(self, rows: Rows) -> Tensor:
        return lssa_weights(rows, self.dim)

    def _jacobian(self, rows: Rows) -> Jacobian:
        p = self._weights(rows)
        slope = p * lssa_slope(rows, self.dim)
        return Jacobian(slope, ((-p, slope),))

    def jacobian_bound(self, n: int) -> float | None:
        return math.log(self.dim) * math.log(n) / 2 if n > 1 else 0.0


def _scale(rows: Rows, dim: Number) -> Tensor:
    return (math.log(dim) * rows.length.log()).unsqueeze(-1)


def lssa_weights(rows: Rows, dim: Number) -> Tensor:
    """LSSA as the softmax of log softplus, which neither overflows nor underflows.

    Nor does it where c·z would: there log softplus is log c + log z, or on a row that is negative
    altogether c(z − max z), up to the row's constant.
    """
    c = _scale(rows, dim)
    x = rows.seen * c
    faint = rows.maximum() * c < _TAIL  # the whole row
    tail = torch.where(faint, rows.scaled(c), x) - x.clamp(max=_TAIL).exp() / 2
    body = x.clamp(_TAIL, _HEAD)
    body = torch.logaddexp(body, torch.zeros_like(body)).log()
    head = torch.where(x > _HEAD, rows.seen, 1.0).log() + c.log()
    return rows.softmax(torch.where(x < _TAIL, tail, torch.where(x > _HEAD, head, body)))


def lssa_slope(rows: Rows, dim: Number) -> Tensor:
    """c·φ, the derivative of log softplus(c·z)."""
    c = _scale(rows, dim)
    x = (rows.seen * c).clamp(min=-_HEAD)  # below, φ is 1 to the last bit, and would be 0/0
    return torch.sigmoid(x) / torch.logaddexp(x, torch.zeros_like(x)) * c
