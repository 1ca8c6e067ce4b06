"""Self-adjusted softmax."""

import math
from dataclasses import dataclass
from typing import ClassVar

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

    name: ClassVar[str] = "sa_softmax"
    formula: ClassVar[str] = "z·softmax(z)"
    source: ClassVar[str] = "2502.18277"
    sums_to_one: ClassVar[bool] = False
    sparse: ClassVar[bool] = False
    form_f: ClassVar[bool] = False
    uses_length: ClassVar[bool] = False
    jacobian_bound_text: ClassVar[str] = "none: grows with |z|"

    def _weights(self, rows: Rows) -> Tensor:
        return rows.seen * rows.softmax(rows.logits)

    def _jacobian(self, rows: Rows) -> Jacobian:
        p = rows.softmax(rows.logits)
        adjusted = rows.seen * p
        return Jacobian(p + adjusted, ((-adjusted, p),))

    def jacobian_bound(self, n: int) -> float | None:
        # A single key has weight z itself.
        return math.inf if n > 1 else float(n)
