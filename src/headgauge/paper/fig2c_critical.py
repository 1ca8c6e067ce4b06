"""Figure 2c, Algorithm 3: the critical N, by a Kolmogorov–Smirnov test.

For N = 1, 2, … the per-head mean distances and the per-head mean expectations are two samples; the
critical N is the first at which the test does not reject. What it is worth: the two samples come
from the same heads, so they are not independent; that the test does not reject does not make the
distributions equal; and the more heads a model has the longer it goes on rejecting. The paper had
144 heads, so the first reading here is with 144 drawn at random (all, where there are fewer): the
middle draw and the middle 95 % of them. Beside it stands the critical N of all heads, with the
interval over resampled heads. `growth` follows the same draws over L.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from headgauge.paper import limits
from headgauge.paper.ks_test import (
    Samples,
    fewer,
    first_accepted,
    largest_gaps,
    p_value,
    resample,
)
from headgauge.paper.measured import CHOICE, Measured
from headgauge.runs.paper_schema import CriticalRow, GrowthRow, KsTestRow
from headgauge.runs.schema import frame_schema

EXPECTED = ("printed", "appendix", "upper")


@dataclass(frozen=True)
class Config:
    """The levels of the text and of Algorithm 3; N up to `largest`, and a coarse grid beyond."""

    largest: int = 100
    levels: tuple[float, ...] = (0.01, 0.05)
    few_heads: int = limits.HEADS
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
            samples = Samples.of(windows[0], expected)
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
                        "p_value": p_value(gap, size),
                    }
                )
    return pl.DataFrame(found, schema=frame_schema(KsTestRow))


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
    samples = Samples.of(windows[0], expected)
    if not samples.top_ns:
        return
    heads = samples.distance.shape[1]
    resampled = resample(heads, config.draws, config.seed)
    few = min(config.few_heads, heads)
    gaps = {
        name: largest_gaps(samples, counts)
        for name, counts in (
            ("all", np.ones((1, heads), np.int64)),
            ("resampled", resampled),
            ("fewer", fewer(heads, few, config.draws, config.seed)),
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
        n = first_accepted(samples.top_ns, gaps["all"], heads, level)[0]
        again = first_accepted(samples.top_ns, gaps["resampled"], heads, level)
        low, high = _interval(again) if n is not None else (None, None)
        fewer_n = first_accepted(samples.top_ns, gaps["fewer"], few, level) if heads > few else []
        few_low, few_high = _interval(fewer_n)
        yield group | {
            "expected": expected,
            "level": level,
            "critical_n": n,
            "share": None if n is None else n / group["length"],
            "low": low,
            "high": high,
            "found": _found(again),
            "few_heads": _median(fewer_n),
            "few_low": few_low,
            "few_high": few_high,
            "few_found": _found(fewer_n),
            **_over_windows(windows, expected, level),
            "tried": max(samples.top_ns),
            "sampled_from": sampled_from,
            "heads": heads,
            "windows": len(windows),
            "rows": most,
        }


def growth(measured: Measured, config: Config) -> pl.DataFrame:
    """GrowthRows: how the critical N of 144 heads grows from L = 256 on, draw by draw.

    Below 256 a share of .06 is a few tokens. With 144 heads or fewer all of them give the exponent,
    and draws with replacement the interval.
    """
    tables: dict[tuple[Any, ...], dict[int, Samples]] = {}
    for group, windows in _groups(measured):
        for expected in EXPECTED if group["length"] >= limits.SHORTEST else ():
            samples = Samples.of(windows[0], expected)
            if samples.top_ns:
                place = (*(group[name] for name in CHOICE), expected)
                tables.setdefault(place, {})[group["length"]] = samples
    found = []
    for (*choice, expected), lengths in tables.items():
        if len(lengths) < 2:
            continue
        ordered = sorted(lengths)
        heads = min(samples.distance.shape[1] for samples in lengths.values())
        few = min(heads, config.few_heads)
        if heads > few:
            counts = fewer(heads, few, config.draws, config.seed)
        else:  # the first "draw" is the model itself
            again = resample(heads, config.draws, config.seed)
            counts = np.concatenate([np.ones((1, heads), np.int64), again])
        gaps = [largest_gaps(lengths[length], counts) for length in ordered]
        for level in config.levels:
            firsts = [
                first_accepted(lengths[length].top_ns, gap, few, level)
                for length, gap in zip(ordered, gaps, strict=True)
            ]
            found.append(
                dict(zip(CHOICE, choice, strict=True))
                | {"expected": expected, "level": level, "heads": few}
                | {"shortest": ordered[0], "longest": ordered[-1]}
                | _exponents(ordered, list(zip(*firsts, strict=True)), whole=heads == few)
            )
    return pl.DataFrame(found, schema=frame_schema(GrowthRow))


def _exponents(
    lengths: Sequence[int], draws: Sequence[tuple[int | None, ...]], whole: bool
) -> dict[str, float | None]:
    """The exponent of the middle draw, or of the first where that is the whole model."""
    log = np.log(lengths)
    slopes = [
        None if None in each else float(np.polyfit(log, np.log(np.array(each, np.float64)), 1)[0])
        for each in draws
    ]
    first, slopes = (slopes[0], slopes[1:]) if whole else (None, slopes)
    there = [each for each in slopes if each is not None]
    told: dict[str, float | None] = {"found": len(there) / len(slopes)}
    if len(there) <= len(slopes) / 2 or (whole and first is None):
        return told | {"exponent": None, "low": None, "high": None}
    low, middle, high = np.percentile(there, (2.5, 50, 97.5)).tolist()
    return told | {"exponent": first if whole else middle, "low": low, "high": high}


def _found(draws: Sequence[int | None]) -> float | None:
    return sum(each is not None for each in draws) / len(draws) if draws else None


def _over_windows(
    windows: list[pl.DataFrame], expected: str, level: float
) -> dict[str, int | None]:
    """The smallest and the largest critical N of the windows; None if one of them has none."""
    found = []
    for table in windows:
        samples = Samples.of(table, expected)
        heads = samples.distance.shape[-1]
        gaps = largest_gaps(samples, np.ones((1, heads), np.int64))
        found.append(first_accepted(samples.top_ns, gaps, heads, level)[0])
    there = [n for n in found if n is not None]
    whole = len(there) == len(found) > 1
    return {
        "window_low": min(there) if whole else None,
        "window_high": max(there) if whole else None,
    }


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
