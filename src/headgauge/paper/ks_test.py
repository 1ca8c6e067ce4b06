"""The two-sample Kolmogorov–Smirnov test of a model's heads, exact, for many draws of heads.

Both samples come from the same heads, a value each, so they have the same size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from headgauge.runs.schema import HEAD
from headgauge.theory.normalization import kolmogorov_smirnov


@dataclass(frozen=True, eq=False)
class Samples:
    """Per N, a value a head: two samples of the same heads."""

    top_ns: tuple[int, ...]
    distance: np.ndarray  # (N, heads)
    expectation: np.ndarray
    rows: tuple[float, ...]

    @staticmethod
    def of(table: pl.DataFrame, expected: str) -> "Samples":
        """Every N at which all heads have both numbers."""
        column = f"expected_{expected}"
        there = table.drop_nulls(["distance", column]).sort("top_n", *HEAD)
        top_ns, starts, counts = np.unique(
            there["top_n"].to_numpy(), return_index=True, return_counts=True
        )
        full = counts == counts.max(initial=0)
        places = [slice(at, at + size) for at, size in zip(starts[full], counts[full], strict=True)]
        distance, expectation, rows = (
            there[name].cast(pl.Float64).to_numpy() for name in ("distance", column, "rows")
        )
        return Samples(
            tuple(top_ns[full].tolist()),
            np.array([distance[place] for place in places]),
            np.array([expectation[place] for place in places]),
            tuple(float(rows[place].mean()) for place in places),
        )


def fewer(heads: int, few: int, draws: int, seed: int) -> np.ndarray:
    """Draws of `few` heads, the same at every L; a single one of all where there are no more."""
    if heads <= few:
        return np.ones((1, heads), np.int64)
    source = np.random.default_rng((seed, few))
    drawn = [source.choice(heads, size=few, replace=False) for _ in range(draws)]
    return head_counts(drawn, heads)


def resample(heads: int, draws: int, seed: int) -> np.ndarray:
    """Draws of as many heads as there are, with replacement."""
    source = np.random.default_rng(seed)
    return head_counts([source.integers(heads, size=heads) for _ in range(draws)], heads)


def head_counts(draws: Sequence[np.ndarray], heads: int) -> np.ndarray:
    """How often each head is in each draw."""
    return np.array([np.bincount(each, minlength=heads) for each in draws])


def largest_gaps(samples: Samples, counts: np.ndarray) -> np.ndarray:
    """size × the KS statistic, (N, draws): the largest difference of the two cumulated counts."""
    found = np.empty((len(samples.top_ns), len(counts)), np.int64)
    signed = np.concatenate([counts, -counts], axis=1)
    for at, pair in enumerate(zip(samples.distance, samples.expectation, strict=True)):
        both = np.concatenate(pair)
        order = np.argsort(both, kind="stable")
        last = np.append(np.diff(both[order]) > 0, True)  # of equal values, only after all of them
        found[at] = np.abs(np.cumsum(signed[:, order], axis=1)[:, last]).max(axis=1)
    return found


p_value = cache(kolmogorov_smirnov.p_value)  # the same few gaps come again and again


@cache
def rejected_from(size: int, level: float) -> int:
    """The smallest gap at which the test rejects; size + 1 if none does."""
    gaps = range(1, size + 1)
    return next((gap for gap in gaps if p_value(gap, size) < level), size + 1)


def first_accepted(
    top_ns: Sequence[int], gaps: np.ndarray, size: int, level: float
) -> list[int | None]:
    """For each draw, the first N whose test does not reject."""
    accepted = gaps < rejected_from(size, level)
    return [top_ns[int(each.argmax())] if each.any() else None for each in accepted.T]
