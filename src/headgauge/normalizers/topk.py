"""Top-k softmax."""

import math
from dataclasses import dataclass
from numbers import Integral
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from headgauge.normalizers.base import Limits
from headgauge.normalizers.rows import PerRow, Rows
from headgauge.normalizers.scaled_softmax import ScaledSoftmax


@dataclass(frozen=True, eq=False)
class TopK(ScaledSoftmax):
    """Softmax over the k largest visible logits, 0 elsewhere; k → `k`, T → `temperature`.

    Of tied logits the lowest indices are kept. The Jacobian is that of softmax on the kept keys;
    where the kept set changes the weights jump.
    """

    name = "topk"
    formula = "softmax(z/T) over the k largest, 0 elsewhere"
    source = "–"
    sparse = True
    form_f = False
    jacobian_bound_text = "1/(2T) while the kept keys stay the same; jumps at ties"
    limits: ClassVar[Limits] = {
        "k": (lambda k: isinstance(k, Integral) and int(k) >= 1, "a whole number from 1"),
        "temperature": (lambda T: T > 0, "positive"),
    }

    k: int = 8
    temperature: PerRow = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "k", int(self.k))  # numpy's integers are not what topk takes

    def factor(self, n: Float[Tensor, "*rows"], positions: Float[Tensor, "*rows"]) -> PerRow:
        return 1.0 / self.temperature

    def _weights(self, rows: Rows) -> Tensor:
        kept = Rows(rows.logits, ~largest_k(rows, self.k), None)
        return kept.softmax(kept.scaled(self._factor(rows)))

    def jacobian_bound(self, n: int) -> float | None:
        return super().jacobian_bound(min(n, self.k))


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
