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
        by_n = there.partition_by("top_n", maintain_order=True)
        most = max(map(len, by_n), default=0)
        full = [each for each in by_n if len(each) == most]
        distance, expectation, rows = (
            [each[name].cast(pl.Float64).to_numpy() for each in full]
            for name in ("distance", column, "rows")
        )
        return Samples(
            tuple(each["top_n"][0] for each in full),
            np.array(distance),
            np.array(expectation),
            tuple(float(each.mean()) for each in rows),
        )

    @property
    def heads(self) -> int:
        return self.distance.shape[-1]

    def gaps(self, counts: np.ndarray | None = None) -> np.ndarray:
        """size × the KS statistic, (N, draws): the largest difference of the two cumulated counts.

        `counts` has how often each head is in each draw; without it, each once.
        """
        counts = np.ones((1, self.heads), np.int64) if counts is None else counts
        found = np.empty((len(self.top_ns), len(counts)), np.int64)
        signed = np.concatenate([counts, -counts], axis=1)
        for at, pair in enumerate(zip(self.distance, self.expectation, strict=True)):
            values = np.concatenate(pair)
            order = np.argsort(values, kind="stable")
            last = np.append(np.diff(values[order]) > 0, True)  # of equal ones, only after all
            found[at] = np.abs(np.cumsum(signed[:, order], axis=1)[:, last]).max(axis=1)
        return found

    def first_accepted(self, gaps: np.ndarray, size: int, level: float) -> list[int | None]:
        """For each draw of `size` heads, the first N whose test does not reject."""
        accepted = gaps < rejected_from(size, level)
        return [self.top_ns[int(each.argmax())] if each.any() else None for each in accepted.T]


def fewer(heads: int, few: int, draws: int) -> np.ndarray:
    """Draws of `few` heads without replacement, the same at every L."""
    source = np.random.default_rng((0, few))
    return head_counts([source.choice(heads, few, replace=False) for _ in range(draws)], heads)


def resample(heads: int, draws: int) -> np.ndarray:
    """Draws of as many heads as there are, with replacement."""
    source = np.random.default_rng(0)
    return head_counts([source.integers(heads, size=heads) for _ in range(draws)], heads)


def head_counts(draws: Sequence[np.ndarray], heads: int) -> np.ndarray:
    """How often each head is in each draw."""
    return np.array([np.bincount(each, minlength=heads) for each in draws])


p_value = cache(kolmogorov_smirnov.p_value)  # the same few gaps come again and again


@cache
def rejected_from(size: int, level: float) -> int:
    """The smallest gap at which the test rejects; size + 1 if none does."""
    gaps = range(1, size + 1)
    return next((gap for gap in gaps if p_value(gap, size) < level), size + 1)
