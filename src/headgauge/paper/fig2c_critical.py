"""Figure 2c, Algorithm 3: the critical N, by an exact Kolmogorov–Smirnov test.

For N = 1, 2, … the per-head mean distances and the per-head mean expectations are two samples; the
critical N is the first at which the test does not reject. What it is worth: the two samples come
from the same heads, so they are not independent; that the test does not reject does not make the
distributions equal; and the more heads a model has the longer it goes on rejecting. The paper had
GPT-2's, so the first reading here is with as many drawn at random (all, where there are fewer): the
middle draw and the middle 95 % of them. Beside it stands the critical N of all heads, with the
interval over resampled heads. Its growth follows the same draws over L.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from headgauge.paper import limits
from headgauge.registry.published import CHOICE_AND_RULE, GPT2_HEADS, LEVELS
from headgauge.runs.paper_schema import paper_frame
from headgauge.runs.schema import HEAD
from headgauge.theory.normalization import kolmogorov_smirnov

EXPECTED = ("printed", "appendix", "upper")
p_value = cache(kolmogorov_smirnov.p_value)  # the same few gaps come again and again


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
        by_n = there.group_by("top_n", maintain_order=True).agg("distance", column, "rows")
        heads = pl.col("distance").list.len()
        full = by_n.filter(heads == heads.max())
        distance, expectation = (np.array(full[name].to_list()) for name in ("distance", column))
        return Samples(tuple(full["top_n"]), distance, expectation, tuple(full["rows"].list.mean()))

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


@cache
def rejected_from(size: int, level: float) -> int:
    """The smallest gap at which the test rejects; size + 1 if none does."""
    gaps = range(1, size + 1)
    return next((gap for gap in gaps if p_value(gap, size) < level), size + 1)


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


def run(
    curves: pl.DataFrame, draws: int, few: int = GPT2_HEADS
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """CriticalRows, one per choice, L, form of the expectation and level, of the first window;
    GrowthRows; and KsTestRows, every single test."""
    critical, tests, growth = [], [], []
    long: dict[tuple[Any, ...], dict[int, Samples]] = {}
    place = [*CHOICE_AND_RULE, "length"]
    for values, table in curves.sort(place).group_by(place, maintain_order=True):
        windows = table.sort("window").partition_by("window", maintain_order=True)
        # A window that was measured at a single N, for another figure, has no critical one.
        windows = [each for each in windows if each["top_n"].n_unique() > 1]
        for expected in EXPECTED if windows else ():
            samples = [Samples.of(each, expected) for each in windows]
            if not samples[0].top_ns:
                continue
            group: dict[str, Any] = dict(zip(place, values, strict=True)) | {"expected": expected}
            critical += [group | row for row in _critical(group["length"], samples, draws, few)]
            tests += [group | row for row in _tests(samples[0])]
            if group["length"] >= limits.SHORTEST:
                long.setdefault((*values[:-1], expected), {})[group["length"]] = samples[0]
    for values, lengths in long.items():
        if len(lengths) > 1:
            group = dict(zip((*CHOICE_AND_RULE, "expected"), values, strict=True))
            growth += [group | row for row in _growth(lengths, draws, few)]
    return (
        paper_frame("fig2c", critical),
        paper_frame("fig2c_growth", growth),
        paper_frame("fig2c_tests", tests),
    )


def _tests(samples: Samples) -> Iterator[dict[str, Any]]:
    size = samples.heads
    for at, (n, gap) in enumerate(zip(samples.top_ns, samples.gaps()[:, 0].tolist(), strict=True)):
        yield {
            "top_n": n,
            "distance": math.fsum(samples.distance[at].tolist()) / size,
            "expectation": math.fsum(samples.expectation[at].tolist()) / size,
            "statistic": gap / size,
            "p_value": p_value(gap, size),
        }


def _critical(
    length: int, windows: list[Samples], draws: int, few: int
) -> Iterator[dict[str, Any]]:
    first, heads = windows[0], windows[0].heads
    whole = [samples.gaps() for samples in windows]
    resampled = first.gaps(resample(heads, draws))
    fewer_gaps = first.gaps(fewer(heads, few, draws)) if heads > few else None
    most = first.rows[0]
    drawn_from = (  # of visible keys, N rows see too few anyway
        n for n, rows in zip(first.top_ns, first.rows, strict=True) if rows < 0.5 * (most - n)
    )
    sampled_from = next(drawn_from, None)
    for level in LEVELS:
        each_n = [
            samples.first_accepted(gaps, samples.heads, level)[0]
            for samples, gaps in zip(windows, whole, strict=True)
        ]
        n, known = each_n[0], [each for each in each_n if each is not None]
        everywhere = len(known) == len(windows) > 1
        again = first.first_accepted(resampled, heads, level)
        drawn = [] if fewer_gaps is None else first.first_accepted(fewer_gaps, few, level)
        low, _, high = _middle(again if n is not None else [])
        few_low, few_heads, few_high = _middle(drawn)
        yield {
            "level": level,
            "critical_n": n,
            "share": None if n is None else n / length,
            "low": low,
            "high": high,
            "found": _found(again),
            "few_heads": few_heads,
            "few_low": few_low,
            "few_high": few_high,
            "few_found": _found(drawn),
            "window_low": min(known) if everywhere else None,
            "window_high": max(known) if everywhere else None,
            "tried": max(first.top_ns),
            "sampled_from": sampled_from,
            "heads": heads,
            "windows": len(windows),
            "rows": most,
        }


def _growth(lengths: dict[int, Samples], draws: int, few: int) -> Iterator[dict[str, Any]]:
    """How the critical N of `few` heads grows from L = 256 on, draw by draw.

    Below 256 a share of .06 is a few tokens. A model with no more heads gives the exponent by all
    of them, and the interval by draws with replacement.
    """
    ordered = sorted(lengths)
    heads = min(samples.heads for samples in lengths.values())
    whole = heads <= few
    if whole:  # the first "draw" is the model itself
        counts = np.concatenate([np.ones((1, heads), np.int64), resample(heads, draws)])
    else:
        counts = fewer(heads, few, draws)
    gaps = {length: lengths[length].gaps(counts) for length in ordered}
    for level in LEVELS:
        firsts = [
            lengths[length].first_accepted(gaps[length], min(heads, few), level)
            for length in ordered
        ]
        slopes = [
            None
            if None in each
            else float(np.polyfit(np.log(ordered), np.log(np.array(each, np.float64)), 1)[0])
            for each in zip(*firsts, strict=True)
        ]
        own = slopes.pop(0) if whole else None
        there = [each for each in slopes if each is not None]
        exponent = low = high = None
        if len(there) > len(slopes) / 2 and not (whole and own is None):
            low, middle, high = np.percentile(there, (2.5, 50, 97.5)).tolist()
            exponent = own if whole else middle
        yield {
            "level": level,
            "exponent": exponent,
            "low": low,
            "high": high,
            "found": _found(slopes),
            "shortest": ordered[0],
            "longest": ordered[-1],
            "heads": min(heads, few),
        }


def _found(draws: Sequence[Any]) -> float | None:
    """The share of the draws that have one."""
    return sum(each is not None for each in draws) / len(draws) if draws else None


def _middle(draws: Sequence[int | None]) -> tuple[int | None, int | None, int | None]:
    """The middle draw between the ends of the middle 95 %; one without a critical N counts as
    beyond every N."""
    if not draws:
        return None, None, None
    ordered = sorted(draws, key=lambda each: math.inf if each is None else each)
    low, high = np.percentile(np.arange(len(draws)), (2.5, 97.5), method="nearest").tolist()
    return ordered[int(low)], ordered[len(draws) // 2], ordered[int(high)]
