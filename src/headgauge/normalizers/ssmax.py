"""SSMax, the scalable softmax."""

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from headgauge.normalizers.rows import PerRow
from headgauge.normalizers.scaled_softmax import ScaledSoftmax


@dataclass(frozen=True, eq=False)
class SSMax(ScaledSoftmax):
    """softmax((s·log n + b)·z), with s → `s` and b → `b`; usually one s per head.

    A logit Δ above all others keeps its weight as n grows exactly when sΔ > 1. The factor must
    multiply: adding s·log n to every logit changes nothing. The norm of the Jacobian grows with
    log n. From arXiv 2501.19399.
    """

    name: ClassVar[str] = "ssmax"
    formula: ClassVar[str] = "softmax((s·log n + b)·z)"
    source: ClassVar[str] = "2501.19399"
    uses_length: ClassVar[bool] = True
    jacobian_bound_text: ClassVar[str] = "|s·log n + b|/2, attained; grows with n"

    s: PerRow = 1.0
    b: PerRow = 0.0

    def factor(self, n: Float[Tensor, "*rows"], positions: Float[Tensor, "*rows"]) -> PerRow:
        return self.s * n.log() + self.b
