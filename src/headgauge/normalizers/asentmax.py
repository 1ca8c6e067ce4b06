"""ASEntmax, the adaptive scalable entmax."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headgauge.normalizers.base import Normalizer, largest
from headgauge.normalizers.entmax import entmax_bound, entmax_norm
from headgauge.normalizers.entmax_function import entmax_jacobian, entmax_weights
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import PerRow, Rows
from headgauge.normalizers.scaled_softmax import scale_jacobian

_ALPHA = 1.5


@dataclass(frozen=True, eq=False)
class ASEntmax(Normalizer):
    """1.5-entmax of (δ + β(log n)^γ)·z, with β, γ, δ → `beta`, `gamma`, `delta`.

    β and γ are usually made from the query's own vector, one pair per head and query: see
    `ASEntmaxScale`. A row with a single key is (1) whatever the factor, which is undefined there
    for γ < 0. From arXiv 2506.16640.
    """

    name: ClassVar[str] = "asentmax"
    formula: ClassVar[str] = "entmax_1.5((δ + β(log n)^γ)·z)"
    source: ClassVar[str] = "2506.16640"
    sums_to_one: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    form_f: ClassVar[bool] = False
    uses_length: ClassVar[bool] = True
    jacobian_bound_text: ClassVar[str] = "< |δ + β(log n)^γ|, approached as n → ∞"

    beta: PerRow = 1.0
    gamma: PerRow = 1.0
    delta: PerRow = 1.0

    def _factor(self, length: Tensor) -> Tensor:
        logarithm = length.clamp(min=2.0).log()
        return self.delta + self.beta * logarithm**self.gamma

    def _column(self, rows: Rows) -> float | Tensor:
        for label in ("beta", "gamma", "delta"):
            rows.column(getattr(self, label), label)
        return rows.column(self._factor(rows.length), "factor")

    def _weights(self, rows: Rows) -> Tensor:
        return entmax_weights(rows.scaled(self._column(rows)), _ALPHA, rows.hidden)

    def _jacobian(self, rows: Rows) -> Jacobian:
        return scale_jacobian(entmax_jacobian(self._weights(rows), _ALPHA), self._column(rows))

    def _spectral_norm(self, rows: Rows) -> Tensor:
        factor = torch.as_tensor(self._column(rows)).abs().squeeze(-1)
        return factor * entmax_norm(self._weights(rows), _ALPHA)

    def jacobian_bound(self, n: int) -> float | None:
        length = torch.tensor(float(max(n, 1)), dtype=torch.float64)
        return largest(self._factor(length)) * entmax_bound(_ALPHA, n)


class ASEntmaxScale(nn.Module):
    """β = softplus(w_β·x) and γ = g·tanh(w_γ·x) for every head and query.

    x is the vector a query was made from; w_β and w_γ have one row per head. The results have the
    shape of the rows of (…, heads, queries, keys):

        scale = ASEntmaxScale(dim=768, heads=12)
        beta, gamma = scale(x)
        weights = headgauge.normalizers.get("asentmax", beta=beta, gamma=gamma)(logits, mask)
    """

    def __init__(self, dim: int, heads: int, g: float = 2.0) -> None:
        super().__init__()
        self.to_beta = nn.Linear(dim, heads, bias=False)
        self.to_gamma = nn.Linear(dim, heads, bias=False)
        self.g = g

    def forward(
        self, x: Float[Tensor, "*batch queries dim"]
    ) -> tuple[Float[Tensor, "*batch heads queries"], Float[Tensor, "*batch heads queries"]]:
        beta = nn.functional.softplus(self.to_beta(x))
        gamma = self.g * torch.tanh(self.to_gamma(x))
        return beta.mT, gamma.mT
