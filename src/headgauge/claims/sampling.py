"""Rows for the checks: random ones, sharp and flat, isotropic and nearly parallel, and such as can
be worked out by hand; and what the checks ask of the numbers that come out."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from headgauge.theory.normalization.selection import top_n

SHARPNESS = (0.0, 0.3, 1.0, 3.0, 10.0)
"""Standard deviations of the logits: from flat to nearly one-hot rows."""
LENGTHS = (10, 1_000, 100_000)


def doubles(values: Any) -> Tensor:
    return torch.as_tensor(values, dtype=torch.float64)


def full(value: float, *shape: int) -> Tensor:
    return torch.full(shape, value, dtype=torch.float64)


def flat(length: int) -> Tensor:
    """Equal weights."""
    return full(1 / length, length)


def flat_ones(length: int) -> tuple[Tensor, Tensor]:
    """Flat weights and identical vectors: every form can be worked out by hand."""
    return flat(length), full(1.0, length, 1)


def orthonormal(length: int) -> tuple[Tensor, Tensor]:
    """Flat weights, orthonormal vectors: ‖y_i − s‖ is √(N+1)/L for every set, so E is the root of
    its second moment and the upper side of the sandwich is exact."""
    return flat(length), torch.eye(length, dtype=torch.float64)


def one_winner(length: int, top: float, rest: float = 0.0) -> Tensor:
    """Logits of which the first differs from the others."""
    logits = full(rest, length)
    logits[0] = top
    return logits


def winners(rule: Callable[[Tensor], Tensor], top: float, rest: float = 0.0) -> list[float]:
    """What a rule gives to the one that differs, at each of `LENGTHS`."""
    return [rule(one_winner(length, top, rest))[0].item() for length in LENGTHS]


class Draws:
    """A check's random numbers, the same every time."""

    def __init__(self, seed: int) -> None:
        self.source = torch.Generator().manual_seed(seed)

    def uniform(self, *shape: int) -> Tensor:
        return torch.rand(*shape, dtype=torch.float64, generator=self.source)

    def events(self, probability: float, *shape: int) -> Tensor:
        """What happens with this probability, independently."""
        return torch.rand(*shape, generator=self.source) < probability

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=self.source)

    def sphere(self, *shape: int) -> Tensor:
        """Uniform unit vectors along the last axis."""
        values = self.normal(*shape)
        return values / values.norm(dim=-1, keepdim=True)

    def weights(self, *shape: int, sharpness: float = 1.0) -> Tensor:
        return torch.softmax(sharpness * self.normal(*shape), -1)

    def rows(self, batch: int, length: int, dim: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Batches of (weights, vectors) over all sharpnesses and three kinds of geometry."""
        for sharpness, kind in itertools.product(SHARPNESS, ("isotropic", "unit", "parallel")):
            vectors = self.normal(batch, length, dim)
            if kind == "unit":
                vectors = vectors / vectors.norm(dim=-1, keepdim=True)
            elif kind == "parallel":
                vectors = 0.1 * vectors + self.normal(batch, 1, dim)
            yield self.weights(batch, length, sharpness=sharpness), vectors

    def unit_rows(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Rows under Theorem 2's assumptions, with top-N sets; r and δ come from the data."""
        for sharpness, dim in itertools.product(SHARPNESS, (2, 8, 64)):
            alpha = self.weights(60, 20, sharpness=sharpness)
            x = self.sphere(60, 20, dim)
            for n in (1, 2, 5, 12):
                yield alpha, x, top_n(alpha, n)


def violated(*ascending: float | Tensor, tolerance: float = 1e-10) -> int:
    """How many entries break a ≤ b ≤ … by more than rounding; a NaN breaks it."""
    pairs = itertools.pairwise(doubles(each) for each in ascending)
    return sum(
        int((~(smaller <= larger + tolerance * (1 + larger.abs()))).sum())
        for smaller, larger in pairs
    )


def close(
    value: float | Tensor | Iterable[float | Tensor],
    expected: float | Tensor | Sequence[float | Tensor],
    tolerance: float = 1e-9,
) -> bool:
    """Whether every value is what it should be (one for all, or each its own), up to rounding; a
    NaN is not."""
    values = [value] if isinstance(value, int | float | Tensor) else list(value)
    wanted = [expected] * len(values) if isinstance(expected, int | float | Tensor) else expected
    pairs = [(doubles(a), doubles(b)) for a, b in zip(values, wanted, strict=True)]
    return all(bool(((a - b).abs() <= tolerance * (1 + b.abs())).all()) for a, b in pairs)


def highest(values: Iterable[float | Tensor]) -> float:
    """The largest of all entries, NaN if one of them is (which Python's max may lose)."""
    return torch.cat([doubles(value).reshape(-1) for value in values]).max().item()


def lowest(values: Iterable[float | Tensor]) -> float:
    """The smallest of all entries, NaN if one of them is."""
    return -highest(-doubles(value) for value in values)


def slope(x: Sequence[float | int], y: Sequence[float | int]) -> float:
    """The exponent of a power law, by least squares in the logarithms."""
    u, v = (doubles([math.log(each) for each in values]) for values in (x, y))
    u = u - u.mean()
    return float((u * (v - v.mean())).sum() / (u * u).sum())


def named(text: str, keys: Iterable[object], values: Iterable[float]) -> dict[str, float]:
    """Numbers of a finding that differ by what stands for {} in their names."""
    return {text.format(key): value for key, value in zip(keys, values, strict=True)}
