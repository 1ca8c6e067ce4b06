"""Q, K and V: the identity, one random draw, or a new one in every unit of time.

A random matrix has Kaiming entries, N(0, 2/d). With several heads the rows of Q, K and V are split
among them, as in a transformer whose output projection is the identity.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headgauge.errors import InputError

KINDS = ("identity", "random", "layers")


@dataclass(frozen=True, eq=False)
class Projections:
    """Q, K and V of each trajectory; matrices without a batch serve them all."""

    query: Float[Tensor, "*batch d d"]
    key: Float[Tensor, "*batch d d"]
    value: Float[Tensor, "*batch d d"]

    def __post_init__(self) -> None:
        # One head never needs Q and K apart: β⟨Qθ_j, Kθ_k⟩ = βθ_jᵀ(QᵀK)θ_k.
        object.__setattr__(self, "query_key", self.query.mT @ self.key)

    query_key: Tensor = field(init=False)

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
        if self.kind not in KINDS:
            raise InputError(f"no weights named {self.kind!r}; there are {', '.join(KINDS)}")
        if self.kind != "identity" and not self.seeds:
            raise InputError(f"{self.kind} weights need a seed for every trajectory")

    @property
    def identity(self) -> bool:
        return self.kind == "identity"

    def rows(self, index: Tensor) -> "Weights":
        """Those of some of the trajectories."""
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


@lru_cache(maxsize=2)
def _projections(
    seeds: tuple[int, ...], layer: int, dim: int, device: str, dtype: torch.dtype
) -> Projections:
    """A simulation asks for the same matrices at every saved time."""
    drawn = [_draw(seed, layer, dim, device) for seed in seeds]
    if len(drawn) == 1:
        return Projections(*drawn[0]).to(dtype)
    query, key, value = (torch.stack(each) for each in zip(*drawn, strict=True))
    return Projections(query, key, value).to(dtype)


@lru_cache(maxsize=8)
def _draw(seed: int, layer: int, dim: int, device: str) -> tuple[Tensor, Tensor, Tensor]:
    """The same numbers wherever and in whatever company they are drawn."""
    # A start with the same seed must not hold the same numbers, and torch looks at 32 bits alone.
    source = torch.Generator().manual_seed((seed * 1_000_003 + layer + 0x9E3779B9) % 2**32)
    drawn = torch.randn(3, dim, dim, dtype=torch.float64, generator=source) * (2 / dim) ** 0.5
    query, key, value = drawn.to(device)
    return query, key, value
