"""Sparsemax."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from headgauge.normalizers.base import Normalizer
from headgauge.normalizers.entmax_function import entmax_jacobian, entmax_weights
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import Rows


@dataclass(frozen=True, eq=False)
class Sparsemax(Normalizer):
    """[z_i − τ]₊ with τ such that the row sums to 1: the nearest point of the simplex.

    Entmax with α = 2. Keys more than 1 below the largest never get weight. J projects onto the
    support and takes out the mean there: norm 1, or 0 when a single key is left. From arXiv
    1602.02068.
    """

    name: ClassVar[str] = "sparsemax"
    formula: ClassVar[str] = "[z − τ]₊, Σ = 1"
    source: ClassVar[str] = "1602.02068"
    sums_to_one: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    form_f: ClassVar[bool] = False
    uses_length: ClassVar[bool] = False
    jacobian_bound_text: ClassVar[str] = "1, attained by every row with two or more weights"

    def _weights(self, rows: Rows) -> Tensor:
        return entmax_weights(rows.logits, 2.0, rows.hidden)

    def _jacobian(self, rows: Rows) -> Jacobian:
        return entmax_jacobian(self._weights(rows), 2.0)

    def _spectral_norm(self, rows: Rows) -> Tensor:
        weights = self._weights(rows)
        norm = ((weights > 0).sum(-1) > 1).to(weights.dtype)
        return norm.masked_fill(weights.isnan().any(-1), float("nan"))

    def jacobian_bound(self, n: int) -> float | None:
        return 1.0 if n > 1 else 0.0
