"""The attention that moves the particles: A_j = Σ_k w_jk V θ_k on directions.

w_j = softmax_k(β⟨Qθ_j, Kθ_k⟩), or any rule of `headgauge.normalizers` on the same logits, or
without a denominator: w_jk = e^{β⟨Qθ_j, Kθ_k⟩}/n (unnormalised attention, the baseline).

Q, K and V are the identity, one random draw, or a new one in every unit of time. A random matrix
has Kaiming entries, N(0, 2/d). With several heads the rows of Q, K and V are split among them, as
in a transformer whose output projection is the identity.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headgauge.errors import InputError
from headgauge.normalizers import Normalizer

WEIGHTS = ("identity", "random", "layers")


@dataclass(frozen=True, eq=False)
class Projections:
    """Q, K and V of each trajectory; matrices without a batch serve them all."""

    query: Float[Tensor, "*batch d d"]
    key: Float[Tensor, "*batch d d"]
    value: Float[Tensor, "*batch d d"]

    @cached_property
    def query_key(self) -> Tensor:
        """One head never needs Q and K apart: β⟨Qθ_j, Kθ_k⟩ = βθ_jᵀ(QᵀK)θ_k."""
        return self.query.mT @ self.key

    def rows(self, index: Int[Tensor, "some"]) -> "Projections":
        """Those of some of the trajectories."""
        if self.query.ndim == 2:
            return self
        return Projections(self.query[index], self.key[index], self.value[index])

    def to(self, dtype: torch.dtype) -> "Projections":
        if self.query.dtype == dtype:
            return self
        return Projections(self.query.to(dtype), self.key.to(dtype), self.value.to(dtype))


@dataclass(frozen=True)
class Weights:
    """Which matrices trajectory b sees at time t; `seeds` has one number per trajectory."""

    kind: str = "identity"
    dim: int = 0
    seeds: tuple[int, ...] = ()
    device: str = "cpu"

    def __post_init__(self) -> None:
        if self.kind not in WEIGHTS:
            raise InputError(f"no weights named {self.kind!r}; there are {', '.join(WEIGHTS)}")
        if self.kind != "identity" and not self.seeds:
            raise InputError(f"{self.kind} weights need a seed for every trajectory")

    @property
    def identity(self) -> bool:
        return self.kind == "identity"

    def rows(self, index: Tensor) -> "Weights":
        if self.identity:
            return self
        return replace(self, seeds=tuple(self.seeds[place] for place in index.tolist()))

    def breaks(self, end: float) -> tuple[float, ...]:
        """The times at which the matrices change."""
        whole = int(end) if end > int(end) else int(end) - 1
        return tuple(float(time) for time in range(1, whole + 1)) if self.kind == "layers" else ()

    def at(self, time: float, dtype: torch.dtype = torch.float64) -> Projections:
        """The matrices at a time that is no break: layer k lasts from k to k + 1."""
        layer = int(time) if self.kind == "layers" else 0
        seeds = self.seeds[:1] if len(set(self.seeds)) == 1 else self.seeds
        return _projections(seeds, layer, self.dim, self.device, dtype)


@dataclass(frozen=True, eq=False)
class Attention:
    """β of each trajectory, the matrices, the mask and the rule."""

    beta: Float[Tensor, "batch"]
    weights: Weights = Weights()
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


@lru_cache(maxsize=2)
def _projections(
    seeds: tuple[int, ...], layer: int, dim: int, device: str, dtype: torch.dtype
) -> Projections:
    """A simulation asks for the same matrices at every saved time."""
    drawn = [_draw(seed, layer, dim, device) for seed in seeds]
    if len(drawn) == 1:
        return Projections(*drawn[0]).to(dtype)
    return Projections(*(torch.stack(each) for each in zip(*drawn, strict=True))).to(dtype)


@lru_cache(maxsize=8)
def _draw(seed: int, layer: int, dim: int, device: str) -> tuple[Tensor, Tensor, Tensor]:
    """The same numbers wherever and in whatever company they are drawn."""
    # A start with the same seed must not hold the same numbers, and torch looks at 32 bits alone.
    source = torch.Generator().manual_seed((seed * 1_000_003 + layer + 0x9E3779B9) % 2**32)
    drawn = torch.randn(3, dim, dim, dtype=torch.float64, generator=source) * (2 / dim) ** 0.5
    query, key, value = drawn.to(device)
    return query, key, value
