"""Softmax-1: softmax that may attend to nothing."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from headgauge.normalizers.base import Normalizer
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.rows import Rows
from headgauge.normalizers.scaled_softmax import softmax_jacobian
from headgauge.normalizers.sink import sink_bound, sink_weights
from headgauge.theory.normalization.sensitivity import largest_eigenvalue


@dataclass(frozen=True, eq=False)
class SoftmaxOne(Normalizer):
    """exp(z_i)/(1 + Σ_j exp(z_j)): the sink with S = 0.

    Where all logits are very negative the whole row fades to zero. Not invariant to adding a
    constant to a row.
    """

    name: ClassVar[str] = "softmax_one"
    formula: ClassVar[str] = "exp(z)/(1 + Σ exp(z))"
    source: ClassVar[str] = "–"
    sums_to_one: ClassVar[bool] = False
    sparse: ClassVar[bool] = False
    form_f: ClassVar[bool] = False
    uses_length: ClassVar[bool] = False
    jacobian_bound_text: ClassVar[str] = "½, approached (¼ for one key)"

    def _weights(self, rows: Rows) -> Tensor:
        return sink_weights(rows, 0.0)[0]

    def _jacobian(self, rows: Rows) -> Jacobian:
        return softmax_jacobian(self._weights(rows))

    def _spectral_norm(self, rows: Rows) -> Tensor:
        return largest_eigenvalue(*sink_weights(rows, 0.0))

    def jacobian_bound(self, n: int) -> float | None:
        return sink_bound(n)
