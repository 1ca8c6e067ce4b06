"""The attention that moves the particles: A_j = Σ_k w_jk V θ_k on directions.

w_j = softmax_k(β⟨Qθ_j, Kθ_k⟩), or any rule of `headgauge.normalizers` on the same logits, or
without a denominator: w_jk = e^{β⟨Qθ_j, Kθ_k⟩}/n (unnormalised attention, the baseline).
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headgauge.errors import InputError
from headgauge.normalizers import Normalizer
from headgauge.particles.weights import Projections, Weights


@dataclass(frozen=True, eq=False)
class Attention:
    """β of each trajectory, the matrices, the mask and the rule."""

    beta: Float[Tensor, "batch"]
    weights: Weights = Weights()  # noqa: RUF009
    heads: int = 1
    causal: bool = False
    rule: Normalizer | None = None  # None: softmax
    normalised: bool = True

    def __post_init__(self) -> None:
        if self.rule is not None and not self.normalised:
            raise InputError("unnormalised attention has no rule: leave out one of the two")
        if self.heads < 1:
            raise InputError(f"attention needs at least 1 head, got {self.heads}")

    @property
    def pairs_suffice(self) -> bool:
        """Whether the inner products of the directions determine how they change."""
        return self.weights.identity and self.heads == 1

    def rows(self, index: Int[Tensor, "some"]) -> "Attention":
        """That of some of the trajectories."""
        return replace(self, beta=self.beta[index], weights=self.weights.rows(index))

    def to(self, dtype: torch.dtype) -> "Attention":
        return replace(self, beta=self.beta.to(dtype))

    def pattern(self, logits: Float[Tensor, "batch *h n n"]) -> Float[Tensor, "batch *h n n"]:
        """w from the logits, β included. Every row sees a key: its own."""
        n = logits.shape[-1]
        seen = None
        if self.causal:
            seen = torch.ones(n, n, dtype=torch.bool, device=logits.device).tril()
        if self.rule is not None:
            return self.rule(logits, seen)
        if seen is not None:
            logits = logits.masked_fill(~seen, -torch.inf)
        return torch.softmax(logits, -1) if self.normalised else torch.exp(logits) / n

    def output(
        self, directions: Float[Tensor, "batch n d"], matrices: Projections | None
    ) -> Float[Tensor, "batch n d"]:
        """A of every token; `matrices` is what `weights.at` gave, None for the identity."""
        if self.heads == 1:
            return self._one_head(directions, matrices)
        if matrices is None:
            query = key = value = directions
        else:
            query, key, value = (
                directions @ matrix.mT for matrix in (matrices.query, matrices.key, matrices.value)
            )
        query, key, value = (self._split(part) for part in (query, key, value))
        weights = self.pattern(self.beta[:, None, None, None] * (query @ key.mT))
        return (weights @ value).transpose(1, 2).reshape(directions.shape)

    def _one_head(
        self, directions: Float[Tensor, "batch n d"], matrices: Projections | None
    ) -> Float[Tensor, "batch n d"]:
        left = directions if matrices is None else directions @ matrices.query_key
        weights = self.pattern(self.beta[:, None, None] * (left @ directions.mT))
        mixed = weights @ directions
        return mixed if matrices is None else mixed @ matrices.value.mT

    def _split(self, part: Float[Tensor, "batch n d"]) -> Float[Tensor, "batch h n e"]:
        batch, n, dim = part.shape
        if dim % self.heads:
            raise InputError(f"{dim} dimensions cannot be split among {self.heads} heads")
        return part.reshape(batch, n, self.heads, dim // self.heads).transpose(1, 2)
