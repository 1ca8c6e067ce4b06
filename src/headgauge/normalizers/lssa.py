"""LSSA, the length-scaled softplus attention."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from headgauge.normalizers.base import Normalizer, require
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import Number, Rows

# Below this, log softplus(x) = x − e^x/2 + O(e^{2x}) to the last bit of fp64.
_TAIL = -18.0


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


def _scaled(rows: Rows, dim: Number) -> Tensor:
    return rows.seen * (math.log(dim) * rows.length.log()).unsqueeze(-1)


def lssa_weights(rows: Rows, dim: Number) -> Tensor:
    """LSSA as the softmax of log softplus, which neither overflows nor underflows."""
    return rows.softmax(_log_softplus(_scaled(rows, dim)))


def lssa_slope(rows: Rows, dim: Number) -> Tensor:
    """c·φ, the derivative of log softplus(c·z)."""
    x = _scaled(rows, dim)
    phi = torch.exp(torch.nn.functional.logsigmoid(x) - _log_softplus(x))
    return phi * (math.log(dim) * rows.length.log()).unsqueeze(-1)


def _log_softplus(x: Tensor) -> Tensor:
    body = x.clamp(min=_TAIL)
    tail = x.clamp(max=_TAIL)
    return torch.where(
        x < _TAIL, tail - tail.exp() / 2, torch.logaddexp(body, torch.zeros_like(body)).log()
    )
