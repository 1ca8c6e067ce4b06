"""Rows for the checks: random ones, sharp and flat, isotropic and nearly parallel, and such as can
be worked out by hand."""

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from headgauge.theory.normalization.selection import top_n

SHARPNESS = (0.0, 0.3, 1.0, 3.0, 10.0)
"""Standard deviations of the logits: from flat to nearly one-hot rows."""


LENGTHS = (10, 1_000, 100_000)


def doubles(values: Any) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def flat(length: int) -> Tensor:
    """Equal weights."""
    return torch.full((length,), 1 / length, dtype=torch.float64)


def flat_ones(length: int) -> tuple[Tensor, Tensor]:
    """Flat weights and identical vectors: every form can be worked out by hand."""
    return flat(length), torch.ones(length, 1, dtype=torch.float64)


def orthonormal(length: int) -> tuple[Tensor, Tensor]:
    """Flat weights, orthonormal vectors: ‖y_i − s‖ is √(N+1)/L for every set, so E is the root of
    its second moment and the upper side of the sandwich is exact."""
    return flat(length), torch.eye(length, dtype=torch.float64)


def one_winner(length: int, top: float, rest: float = 0.0) -> Tensor:
    """Logits of which the first differs from the others."""
    logits = torch.full((length,), rest, dtype=torch.float64)
    logits[0] = top
    return logits


def slope(x: Sequence[float | int], y: Sequence[float | int]) -> float:
    """The exponent of a power law, by least squares in the logarithms."""
    u, v = (doubles([math.log(each) for each in values]) for values in (x, y))
    u = u - u.mean()
    return float((u * (v - v.mean())).sum() / (u * u).sum())


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def normal(*shape: int, source: torch.Generator) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=source)


def sphere(*shape: int, source: torch.Generator) -> Tensor:
    """Uniform unit vectors along the last axis."""
    values = normal(*shape, source=source)
    return values / torch.linalg.vector_norm(values, dim=-1, keepdim=True)


def weights(*shape: int, sharpness: float, source: torch.Generator) -> Tensor:
    return torch.softmax(sharpness * normal(*shape, source=source), -1)


def rows(
    batch: int, length: int, dim: int, source: torch.Generator
) -> Iterator[tuple[Tensor, Tensor]]:
    """Batches of (weights, vectors) over all sharpnesses and three kinds of geometry."""
    for sharpness, kind in itertools.product(SHARPNESS, ("isotropic", "unit", "parallel")):
        vectors = normal(batch, length, dim, source=source)
        if kind == "unit":
            vectors = vectors / torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
        elif kind == "parallel":
            vectors = 0.1 * vectors + normal(batch, 1, dim, source=source)
        yield weights(batch, length, sharpness=sharpness, source=source), vectors


def unit_rows(
    seed: int, batch: int = 60, length: int = 20
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Rows under Theorem 2's assumptions, with their top-N sets; r and δ come from the data."""
    source = generator(seed)
    for sharpness in SHARPNESS:
        for dim in (2, 8, 64):
            alpha = weights(batch, length, sharpness=sharpness, source=source)
            x = sphere(batch, length, dim, source=source)
            for n in (1, 2, 5, 12):
                yield alpha, x, top_n(alpha, n)


def violated(smaller: Tensor, larger: Tensor, tolerance: float = 1e-10) -> int:
    """How many entries break smaller ≤ larger by more than rounding; a NaN breaks it."""
    return int((~(smaller <= larger + tolerance * (1 + larger.abs()))).sum())


def close(
    value: float | Tensor | Iterable[float | Tensor],
    expected: float | Tensor,
    tolerance: float = 1e-9,
) -> bool:
    """Whether all entries are what they should be, up to rounding; a NaN is not."""
    values = value if isinstance(value, Iterable) and not isinstance(value, Tensor) else [value]
    expected = torch.as_tensor(expected, dtype=torch.float64)
    allowed = tolerance * (1 + expected.abs())
    away = [(torch.as_tensor(v, dtype=torch.float64) - expected).abs() for v in values]
    return all(bool((each <= allowed).all()) for each in away)


def highest(values: Iterable[float | Tensor]) -> float:
    """The largest of all entries, NaN if one of them is (which Python's max may lose)."""
    return (
        torch.cat([torch.as_tensor(v, dtype=torch.float64).reshape(-1) for v in values])
        .max()
        .item()
    )


def lowest(values: Iterable[float | Tensor]) -> float:
    """The smallest of all entries, NaN if one of them is."""
    return -highest(-torch.as_tensor(value, dtype=torch.float64) for value in values)
