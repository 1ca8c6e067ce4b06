"""Top-k softmax."""

import math
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

from torch import Tensor

from headgauge.normalizers.base import Normalizer, largest, require
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import PerRow, Rows
from headgauge.normalizers.scaled_softmax import scale_jacobian, softmax_jacobian
from headgauge.theory.normalization.sensitivity import largest_eigenvalue


@dataclass(frozen=True, eq=False)
class TopK(Normalizer):
    """Softmax over the k largest visible logits, 0 elsewhere; k → `k`, T → `temperature`.

    Of tied logits the lowest indices are kept. The Jacobian is that of softmax on the kept keys;
    where the kept set changes the weights jump.
    """

    name: ClassVar[str] = "topk"
    formula: ClassVar[str] = "softmax(z/T) over the k largest, 0 elsewhere"
    source: ClassVar[str] = "–"
    sums_to_one: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    form_f: ClassVar[bool] = False
    uses_length: ClassVar[bool] = False
    jacobian_bound_text: ClassVar[str] = "1/(2T) while the kept keys stay the same; jumps at ties"

    k: int = 8
    temperature: PerRow = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require(isinstance(self.k, Integral) and self.k >= 1, self, "k", "a whole number from 1")
        object.__setattr__(self, "k", int(self.k))  # numpy's integers are not what topk takes
        require(self.temperature > 0, self, "temperature", "positive")

    def _weights(self, rows: Rows) -> Tensor:
        kept = Rows(rows.logits, ~largest_k(rows, self.k), None)
        return kept.softmax(kept.scaled(self._factor(rows)))

    def _factor(self, rows: Rows) -> float | Tensor:
        return rows.column(1.0 / self.temperature, "temperature")

    def _jacobian(self, rows: Rows) -> Jacobian:
        return scale_jacobian(softmax_jacobian(self._weights(rows)), self._factor(rows))

    def _spectral_norm(self, rows: Rows) -> Tensor:
        factor = self._factor(rows)
        norm = largest_eigenvalue(self._weights(rows))
        return norm * (factor.squeeze(-1) if isinstance(factor, Tensor) else factor)

    def jacobian_bound(self, n: int) -> float | None:
        return largest(1.0 / self.temperature) / 2 if min(n, self.k) >= 2 else 0.0


def largest_k(rows: Rows, k: int) -> Tensor:
    """True at the k largest visible logits of each row, the lowest indices first among ties."""
    if k >= rows.keys:
        return rows.visible
    scores = rows.fill(rows.logits.detach(), -math.inf)
    threshold = scores.topk(k, dim=-1, sorted=False).values.amin(-1, keepdim=True)
    above = scores > threshold
    tied = (scores == threshold) & rows.visible
    room = k - above.sum(-1, keepdim=True)
    # A NaN compares false with everything: keep it, so that the row shows it.
    return above | (tied & (tied.cumsum(-1) <= room)) | scores.isnan()
