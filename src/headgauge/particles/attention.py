"""The attention that moves the particles: A_j = Σ_k w_jk V θ_k on directions.

w_j = softmax_k(β⟨Qθ_j, Kθ_k⟩), or any rule of `headgauge.normalizers` on the same logits.

Q, K and V are the identity, one random draw, or a new one in every unit of time. A random matrix
has Kaiming entries, N(0, 2/d). With several heads the rows of Q, K and V are split among them, as
in a transformer whose output projection is the identity.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headgauge.errors import InputError
from headgauge.normalizers import Normalizer
from headgauge.products import batched, times

WEIGHTS = ("identity", "random", "layers")


@dataclass(frozen=True, eq=False)
class Projections:
    """Q, K and V of all trajectories."""

    query: Float[Tensor, "d d"]
    key: Float[Tensor, "d d"]
    value: Float[Tensor, "d d"]

    @cached_property
    def query_key(self) -> Tensor:
        """One head never needs Q and K apart: β⟨Qθ_j, Kθ_k⟩ = βθ_jᵀ(QᵀK)θ_k."""
        return self.query.mT @ self.key


@dataclass(frozen=True)
class Weights:
    """Which matrices the tokens see at time t."""

    kind: str = "identity"
    dim: int = 0
    seed: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.kind not in WEIGHTS:
            raise InputError(f"no weights named {self.kind!r}; there are {', '.join(WEIGHTS)}")

    @property
    def identity(self) -> bool:
        return self.kind == "identity"

    def breaks(self, end: float) -> tuple[float, ...]:
        """The times at which the matrices change."""
        return tuple(map(float, range(1, math.ceil(end)))) if self.kind == "layers" else ()

    def at(self, time: float, dtype: torch.dtype = torch.float64) -> Projections:
        """The matrices at a time that is no break: layer k lasts from k to k + 1."""
        layer = int(time) if self.kind == "layers" else 0
        return _drawn(self.seed, layer, self.dim, self.device, dtype)


@dataclass(frozen=True, eq=False)
class Attention:
    """β of each trajectory, the matrices, the mask and the rule."""

    beta: Float[Tensor, "batch"]
    weights: Weights = Weights()
    heads: int = 1
    causal: bool = False
    rule: Normalizer | None = None  # None: softmax

    def __post_init__(self) -> None:
        if self.heads < 1:
            raise InputError(f"attention needs at least 1 head, got {self.heads}")

    @property
    def pairs_suffice(self) -> bool:
        """Whether the inner products of the directions determine how they change."""
        return self.weights.identity and self.heads == 1

    def only(self, index: Int[Tensor, "some"]) -> "Attention":
        return replace(self, beta=self.beta[index])

    def matrices(self, time: float, dtype: torch.dtype = torch.float64) -> Projections | None:
        """None for the identity."""
        return None if self.weights.identity else self.weights.at(time, dtype)

    def pattern(
        self,
        logits: Float[Tensor, "batch *h n n"],
        out: Float[Tensor, "batch *h n n"] | None = None,
    ) -> Float[Tensor, "batch *h n n"]:
        """w from the logits, β included; `out` is room that softmax may use. Every row sees a key:
        its own."""
        n = logits.shape[-1]
        seen = None
        if self.causal:
            seen = torch.ones(n, n, dtype=torch.bool, device=logits.device).tril()
        if self.rule is not None:
            return self.rule(logits, seen)
        if seen is not None:
            logits = logits.masked_fill(~seen, -torch.inf)
        return torch.softmax(logits, -1, out=out)

    def output(
        self, directions: Float[Tensor, "batch n d"], matrices: Projections | None
    ) -> Float[Tensor, "batch n d"]:
        """A of every token, under what `self.matrices` gave."""
        beta = self.beta.to(directions.dtype)[:, None, None]
        if self.heads == 1:
            left = directions if matrices is None else times(directions, matrices.query_key)
            weights = self.pattern(batched(left, directions.mT).mul_(beta))
            mixed = batched(weights, directions)
            return mixed if matrices is None else times(mixed, matrices.value.mT)
        if directions.shape[-1] % self.heads:
            dim = directions.shape[-1]
            raise InputError(f"{dim} dimensions cannot be split among {self.heads} heads")
        parts = [directions] * 3
        if matrices is not None:
            three = matrices.query, matrices.key, matrices.value
            parts = [times(directions, matrix.mT) for matrix in three]
        query, key, value = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        weights = self.pattern(beta[..., None] * batched(query, key.mT))
        return batched(weights, value).transpose(1, 2).reshape(directions.shape)


@lru_cache(maxsize=2)
def _drawn(seed: int, layer: int, dim: int, device: str, dtype: torch.dtype) -> Projections:
    """The same numbers wherever they are drawn; kept, for all saved times ask for them."""
    # A start with the same seed must not hold the same numbers, and torch looks at 32 bits alone.
    source = torch.Generator().manual_seed((seed * 1_000_003 + layer + 0x9E3779B9) % 2**32)
    drawn = torch.randn(3, dim, dim, dtype=torch.float64, generator=source) * (2 / dim) ** 0.5
    return Projections(*drawn.to(device, dtype))
