"""Figure 2c, Algorithm 3: the critical N, by a Kolmogorov–Smirnov test.

For N = 1, 2, … the per-head mean distances and the per-head mean expectations are two samples; the
critical N is the first at which the test does not reject. What it is worth: the two samples come
from the same heads, so they are not independent; that the test does not reject does not make the
distributions equal; and the more heads a model has the longer it goes on rejecting. So the critical
N is also given with as many heads as GPT-2 has, drawn at random, and with the interval over
resampled heads.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from headgauge.experiments.measured import CHOICE, Measured
from headgauge.results.paper_schema import CriticalRow, KsTestRow
from headgauge.results.schema import HEAD, frame_schema

EXPECTED = ("printed", "appendix", "upper")


@dataclass(frozen=True)
class Config:
    """The levels of the text and of Algorithm 3; N up to `largest`, and a coarse grid beyond."""

    largest: int = 100
    levels: tuple[float, ...] = (0.01, 0.05)
    few_heads: int = 144
    draws: int = 100
    seed: int = 0


def run(measured: Measured, config: Config) -> pl.DataFrame:
    """CriticalRows: one per choice, L, form of the expectation and level, of the first window."""
    found = [
        row
        for group, windows in _groups(measured)
        for expected in EXPECTED
        for row in _critical(group, windows, expected, config)
    ]
    return pl.DataFrame(found, schema=frame_schema(CriticalRow))


def tests(measured: Measured) -> pl.DataFrame:
    """KsTestRows: every single test."""
    found = []
    for group, windows in _groups(measured):
        for expected in EXPECTED:
            samples = _Samples.of(windows[0], expected)
            size = samples.distance.shape[-1]
            gaps = largest_gaps(samples, np.ones((1, size), np.int64))[:, 0].tolist()
            for at, (n, gap) in enumerate(zip(samples.top_ns, gaps, strict=True)):
                found.append(
                    group
                    | {
                        "expected": expected,
                        "top_n": n,
                        "distance": math.fsum(samples.distance[at].tolist()) / size,
                        "expectation": math.fsum(samples.expectation[at].tolist()) / size,
                        "statistic": gap / size,
                        "p_value": p_value(size, gap),
                    }
                )
    return pl.DataFrame(found, schema=frame_schema(KsTestRow))


@dataclass(frozen=True, eq=False)
class _Samples:
    """Per N, a value a head: two samples of the same heads."""

    top_ns: tuple[int, ...]
    distance: np.ndarray  # (N, heads)
    expectation: np.ndarray
    rows: tuple[float, ...]

    @staticmethod
    def of(table: pl.DataFrame, expected: str) -> "_Samples":
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
        return _Samples(
            tuple(top_ns[full].tolist()),
            np.array([distance[place] for place in places]),
            np.array([expectation[place] for place in places]),
            tuple(float(rows[place].mean()) for place in places),
        )


def _groups(measured: Measured) -> Iterator[tuple[dict[str, Any], list[pl.DataFrame]]]:
    """Each choice at each L, with a table for every window, the first one first."""
    place = [*CHOICE, "length"]
    for values, table in measured.curves.sort(place).group_by(place, maintain_order=True):
        windows = table.sort("window").partition_by("window", maintain_order=True)
        # A window that was measured at a single N, for another figure, has no critical one.
        several = [each for each in windows if each["top_n"].n_unique() > 1]
        if several:
            yield dict(zip(place, values, strict=True)), several


def _critical(
    group: dict[str, Any], windows: list[pl.DataFrame], expected: str, config: Config
) -> Iterator[dict[str, Any]]:
    samples = _Samples.of(windows[0], expected)
    if not samples.top_ns:
        return
    heads = samples.distance.shape[1]
    source = np.random.default_rng(config.seed)
    resampled = _counts([source.integers(heads, size=heads) for _ in range(config.draws)], heads)
    few = min(config.few_heads, heads)
    fewer = _counts(
        [source.choice(heads, size=few, replace=False) for _ in range(config.draws)], heads
    )
    gaps = {
        name: largest_gaps(samples, counts)
        for name, counts in (
            ("all", np.ones((1, heads), np.int64)),
            ("resampled", resampled),
            ("fewer", fewer),
        )
    }
    most = samples.rows[0]
    sampled_from = next(
        (
            n
            for n, rows in zip(samples.top_ns, samples.rows, strict=True)
            if rows < 0.5 * (most - n)  # of visible keys, N rows see too few anyway
        ),
        None,
    )
    for level in config.levels:
        n = _first_accepted(samples.top_ns, gaps["all"], heads, level)[0]
        again = _first_accepted(samples.top_ns, gaps["resampled"], heads, level)
        low, high = _interval(again) if n is not None else (None, None)
        yield group | {
            "expected": expected,
            "level": level,
            "critical_n": n,
            "share": None if n is None else n / group["length"],
            "low": low,
            "high": high,
            "found": sum(each is not None for each in again) / len(again) if again else None,
            "few_heads": None
            if heads <= few
            else _median(_first_accepted(samples.top_ns, gaps["fewer"], few, level)),
            **_over_windows(windows, expected, level),
            "tried": max(samples.top_ns),
            "sampled_from": sampled_from,
            "heads": heads,
            "windows": len(windows),
            "rows": most,
        }


def _over_windows(
    windows: list[pl.DataFrame], expected: str, level: float
) -> dict[str, int | None]:
    """The smallest and the largest critical N of the windows; None if one of them has none."""
    found = []
    for table in windows:
        samples = _Samples.of(table, expected)
        heads = samples.distance.shape[-1]
        gaps = largest_gaps(samples, np.ones((1, heads), np.int64))
        found.append(_first_accepted(samples.top_ns, gaps, heads, level)[0])
    there = [n for n in found if n is not None]
    whole = len(there) == len(found) > 1
    return {
        "window_low": min(there) if whole else None,
        "window_high": max(there) if whole else None,
    }


def _counts(draws: Sequence[np.ndarray], heads: int) -> np.ndarray:
    """How often each head is in each draw."""
    return np.array([np.bincount(each, minlength=heads) for each in draws])


def largest_gaps(samples: _Samples, counts: np.ndarray) -> np.ndarray:
    """size × the KS statistic, (N, draws): the largest difference of the two cumulated counts."""
    found = np.empty((len(samples.top_ns), len(counts)), np.int64)
    signed = np.concatenate([counts, -counts], axis=1)
    for at, pair in enumerate(zip(samples.distance, samples.expectation, strict=True)):
        both = np.concatenate(pair)
        order = np.argsort(both, kind="stable")
        last = np.append(np.diff(both[order]) > 0, True)  # of equal values, only after all of them
        found[at] = np.abs(np.cumsum(signed[:, order], axis=1)[:, last]).max(axis=1)
    return found


@cache
def p_value(size: int, gap: int) -> float:
    """The exact two-sided test of two samples of `size` values whose cumulated counts differ by
    `gap` at most: P(gap ≥ k) = 2 Σ_j (−1)^{j+1} C(2n, n − jk)/C(2n, n)."""
    if gap < 1:
        return 1.0
    central = 2 * math.lgamma(size + 1)
    terms = [
        (-1) ** (j + 1)
        * math.exp(central - math.lgamma(size - j * gap + 1) - math.lgamma(size + j * gap + 1))
        for j in range(1, size // gap + 1)
    ]
    return min(1.0, max(0.0, 2 * math.fsum(terms)))


@cache
def rejected_from(size: int, level: float) -> int:
    """The smallest gap at which the test rejects; size + 1 if none does."""
    gaps = range(1, size + 1)
    return next((gap for gap in gaps if p_value(size, gap) < level), size + 1)


def _first_accepted(
    top_ns: Sequence[int], gaps: np.ndarray, size: int, level: float
) -> list[int | None]:
    """For each draw, the first N whose test does not reject."""
    accepted = gaps < rejected_from(size, level)
    return [top_ns[int(each.argmax())] if each.any() else None for each in accepted.T]


def _interval(found: Sequence[int | None]) -> tuple[int | None, int | None]:
    """The middle 95 % of the draws; one without a critical N counts as beyond every N."""
    there = [math.inf if each is None else each for each in found]
    if not there:
        return None, None
    low, high = np.percentile(there, (2.5, 97.5), method="nearest")
    return (None if math.isinf(low) else int(low), None if math.isinf(high) else int(high))


def _median(found: Sequence[int | None]) -> int | None:
    """The middle draw; None if most have no critical N, or there are no draws."""
    ordered = sorted(found, key=lambda each: np.inf if each is None else each)
    return ordered[len(ordered) // 2] if ordered else None
