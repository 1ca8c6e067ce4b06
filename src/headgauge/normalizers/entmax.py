"""α-entmax, sparsemax and ASEntmax."""

import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headgauge.normalizers.base import Fit, Normalizer, free, largest, limited
from headgauge.normalizers.entmax_function import entmax_jacobian, entmax_weights
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import PerRow, Rows

_ALPHA = 1.5  # of ASEntmax


@dataclass(frozen=True, eq=False)
class Entmax(Normalizer):
    """[(α−1)z_i − τ]₊^{1/(α−1)} with τ such that the row sums to 1; α → `alpha`, 1 to 2.

    α = 1 is softmax, α = 2 is sparsemax; a tensor α (one per head, say) gets its exact gradient.
    J = diag(s) − ssᵀ/Σs with s = p^{2−α} on the support. Two keys give at most 2^{α−2}; one heavy
    key among many light ones comes close to 1, so no smaller bound holds for every n. From arXiv
    1905.05702, the gradient to α from 1909.00015.
    """

    name = "entmax"
    formula = "[(α−1)z − τ]₊^(1/(α−1)), Σ = 1"
    source = "1905.05702"
    sums_to_one = True
    sparse = True
    jacobian_bound_text = (
        "2^(α−2) for two keys, attained; 1 for more (1 < α < 2: approached as n → ∞)"
    )
    neutral = {"alpha": 1.0}  # noqa: RUF012

    alpha: PerRow = limited(
        1.5,
        "from 1 (softmax) to 2 (sparsemax)",
        lambda alpha: (alpha >= 1) & (alpha <= 2),
        Fit(1.0, 2.0, unchanged=1.0),
    )

    def _weights(self, rows: Rows) -> Tensor:
        self._check_limits()  # again: a learned α may have been stepped out of its range
        return entmax_weights(rows.logits, rows.column(self.alpha, "alpha"), rows.hidden)

    def _jacobian(self, rows: Rows) -> Jacobian:
        return entmax_jacobian(self._weights(rows), rows.column(self.alpha, "alpha"))

    def jacobian_bound(self, n: int) -> float | None:
        return _bound(largest(self.alpha), n)


@dataclass(frozen=True, eq=False)
class Sparsemax(Normalizer):
    """[z_i − τ]₊ with τ such that the row sums to 1: the nearest point of the simplex.

    Entmax with α = 2. Keys more than 1 below the largest never get weight. J projects onto the
    support and takes out the mean there: norm 1, or 0 when a single key is left. From arXiv
    1602.02068.
    """

    name = "sparsemax"
    formula = "[z − τ]₊, Σ = 1"
    source = "1602.02068"
    sums_to_one = True
    sparse = True
    jacobian_bound_text = "1, attained by every row with two or more weights"

    def _weights(self, rows: Rows) -> Tensor:
        return entmax_weights(rows.logits, 2.0, rows.hidden)

    def _jacobian(self, rows: Rows) -> Jacobian:
        weights = self._weights(rows)
        several = ((weights > 0).sum(-1) > 1).to(weights.dtype)
        norm = several.masked_fill(weights.isnan().any(-1), math.nan)
        return replace(entmax_jacobian(weights, 2.0), closed_norm=lambda: norm)

    def jacobian_bound(self, n: int) -> float | None:
        return _bound(2.0, n)


@dataclass(frozen=True, eq=False)
class ASEntmax(Normalizer):
    """1.5-entmax of (δ + β(log n)^γ)·z, with β, γ, δ → `beta`, `gamma`, `delta`.

    β and γ are usually made from the query's own vector, one pair per head and query: see
    `ASEntmaxScale`. A row with a single key is (1) whatever the factor, which is undefined there
    for γ < 0. From arXiv 2506.16640.
    """

    name = "asentmax"
    formula = "entmax_1.5((δ + β(log n)^γ)·z)"
    source = "2506.16640"
    sums_to_one = True
    sparse = True
    uses_length = True
    jacobian_bound_text = "< |δ + β(log n)^γ|, approached as n → ∞"
    neutral = {"beta": 0.0, "gamma": 1.0, "delta": 1.0}  # noqa: RUF012

    beta: PerRow = free(1.0, Fit(0.0, 2.0, unchanged=0.0))
    gamma: PerRow = free(1.0, Fit(-2.0, 2.0, unchanged=1.0))  # with β = 0 any γ does
    delta: PerRow = free(1.0, Fit(0.1, 10.0, "log", unchanged=1.0))

    def _factor(self, length: Tensor) -> Tensor:
        logarithm = length.clamp(min=2.0).log()
        return self.delta + self.beta * logarithm**self.gamma

    def _column(self, rows: Rows) -> float | Tensor:
        return rows.column(self._factor(rows.length), "factor")

    def _weights(self, rows: Rows) -> Tensor:
        return entmax_weights(rows.scaled(self._column(rows)), _ALPHA, rows.hidden)

    def _jacobian(self, rows: Rows) -> Jacobian:
        return entmax_jacobian(self._weights(rows), _ALPHA).scaled(self._column(rows))

    def jacobian_bound(self, n: int) -> float | None:
        length = torch.tensor(float(max(n, 1)), dtype=torch.float64)
        return largest(self._factor(length)) * _bound(_ALPHA, n)


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


def _bound(alpha: float, n: int) -> float:
    """The bound for n keys; exact for two, for softmax and for sparsemax."""
    if n < 2:
        return 0.0
    return 2.0 ** (alpha - 2.0) if n == 2 or alpha == 1.0 else 1.0
