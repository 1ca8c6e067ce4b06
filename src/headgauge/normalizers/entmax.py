"""α-entmax."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from headgauge.normalizers.base import Normalizer, largest, require
from headgauge.normalizers.entmax_function import (
    entmax_jacobian,
    entmax_weights,
    support_spread,
)
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import PerRow, Rows
from headgauge.theory.normalization.sensitivity import largest_eigenvalue


@dataclass(frozen=True, eq=False)
class Entmax(Normalizer):
    """[(α−1)z_i − τ]₊^{1/(α−1)} with τ such that the row sums to 1; α → `alpha`, 1 to 2.

    α = 1 is softmax, α = 2 is sparsemax; a tensor α (one per head, say) gets its exact gradient.
    J = diag(s) − ssᵀ/Σs with s = p^{2−α} on the support. Two keys give at most 2^{α−2}; one heavy
    key among many light ones comes close to 1, so no smaller bound holds for every n. From arXiv
    1905.05702, the gradient to α from 1909.00015.
    """

    name: ClassVar[str] = "entmax"
    formula: ClassVar[str] = "[(α−1)z − τ]₊^(1/(α−1)), Σ = 1"
    source: ClassVar[str] = "1905.05702"
    sums_to_one: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    form_f: ClassVar[bool] = False
    uses_length: ClassVar[bool] = False
    jacobian_bound_text: ClassVar[str] = (
        "2^(α−2) for two keys, attained; 1 for more (1 < α < 2: approached as n → ∞)"
    )

    alpha: PerRow = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_alpha()

    def _check_alpha(self) -> None:
        require(self.alpha >= 1, self, "alpha", "from 1 (softmax) to 2 (sparsemax)")
        require(self.alpha <= 2, self, "alpha", "from 1 (softmax) to 2 (sparsemax)")

    def _weights(self, rows: Rows) -> Tensor:
        self._check_alpha()  # again: a learned α may have been stepped out of its range
        return entmax_weights(rows.logits, rows.column(self.alpha, "alpha"), rows.hidden)

    def _jacobian(self, rows: Rows) -> Jacobian:
        return entmax_jacobian(self._weights(rows), rows.column(self.alpha, "alpha"))

    def _spectral_norm(self, rows: Rows) -> Tensor:
        return entmax_norm(self._weights(rows), rows.column(self.alpha, "alpha"))

    def jacobian_bound(self, n: int) -> float | None:
        return entmax_bound(largest(self.alpha), n)


def entmax_norm(weights: Tensor, alpha: float | Tensor) -> Tensor:
    """Σs·λ₁(s/Σs), λ₁ the largest eigenvalue of diag p − ppᵀ."""
    spread = support_spread(weights, alpha)
    total = spread.sum(-1, keepdim=True)
    return total.squeeze(-1) * largest_eigenvalue(spread / total.masked_fill(total == 0, 1.0))


def entmax_bound(alpha: float, n: int) -> float:
    """The bound for n keys; exact for two, for softmax and for sparsemax."""
    if n < 2:
        return 0.0
    return 2.0 ** (alpha - 2.0) if n == 2 or alpha == 1.0 else 1.0
