"""Figure 2c, Algorithm 3: the critical N, by a Kolmogorov–Smirnov test.

For N = 1, 2, … the per-head mean distances and the per-head mean expectations are two samples; the
critical N is the first at which the test does not reject. What it is worth: the two samples come
from the same heads, so they are not independent; that the test does not reject does not make the
distributions equal; and the more heads a model has the longer it goes on rejecting. The paper had
144 heads, so the first reading here is with 144 drawn at random (all, where there are fewer): the
middle draw and the middle 95 % of them. Beside it stands the critical N of all heads, with the
interval over resampled heads. Its growth follows the same draws over L.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from headgauge.paper import limits
from headgauge.paper.kolmogorov_smirnov import Samples, fewer, p_value, resample
from headgauge.registry.published import CHOICE_AND_RULE, GPT2_HEADS, LEVELS
from headgauge.runs.paper_schema import CriticalRow, GrowthRow, KsTestRow
from headgauge.runs.schema import frame_schema

EXPECTED = ("printed", "appendix", "upper")


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
            critical += _critical(group, samples, draws, few)
            tests += _tests(group, samples[0])
            if group["length"] >= limits.SHORTEST:
                long.setdefault((*values[:-1], expected), {})[group["length"]] = samples[0]
    for values, lengths in long.items():
        if len(lengths) > 1:
            group = dict(zip((*CHOICE_AND_RULE, "expected"), values, strict=True))
            growth += [group | row for row in _growth(lengths, draws, few)]
    return (
        pl.DataFrame(critical, schema=frame_schema(CriticalRow)),
        pl.DataFrame(growth, schema=frame_schema(GrowthRow)),
        pl.DataFrame(tests, schema=frame_schema(KsTestRow)),
    )


def _tests(group: dict[str, Any], samples: Samples) -> Iterator[dict[str, Any]]:
    size = samples.heads
    gaps = samples.gaps()[:, 0].tolist()
    for at, (n, gap) in enumerate(zip(samples.top_ns, gaps, strict=True)):
        yield group | {
            "top_n": n,
            "distance": math.fsum(samples.distance[at].tolist()) / size,
            "expectation": math.fsum(samples.expectation[at].tolist()) / size,
            "statistic": gap / size,
            "p_value": p_value(gap, size),
        }


def _critical(
    group: dict[str, Any], windows: list[Samples], draws: int, few: int
) -> Iterator[dict[str, Any]]:
    first, heads = windows[0], windows[0].heads
    whole = [samples.gaps() for samples in windows]
    resampled = first.gaps(resample(heads, draws))
    fewer_gaps = first.gaps(fewer(heads, few, draws)) if heads > few else None
    most = first.rows[0]
    sampled = [
        n
        for n, rows in zip(first.top_ns, first.rows, strict=True)
        if rows < 0.5 * (most - n)  # of visible keys, N rows see too few anyway
    ]
    for level in LEVELS:
        each_n = [
            samples.first_accepted(gaps, samples.heads, level)[0]
            for samples, gaps in zip(windows, whole, strict=True)
        ]
        n, known = each_n[0], [each for each in each_n if each is not None]
        everywhere = len(known) == len(windows) > 1
        again = first.first_accepted(resampled, heads, level)
        drawn = [] if fewer_gaps is None else first.first_accepted(fewer_gaps, few, level)
        low, high = _interval(again) if n is not None else (None, None)
        few_low, few_high = _interval(drawn)
        yield group | {
            "level": level,
            "critical_n": n,
            "share": None if n is None else n / group["length"],
            "low": low,
            "high": high,
            "found": _found(again),
            "few_heads": _ordered(drawn)[len(drawn) // 2] if drawn else None,
            "few_low": few_low,
            "few_high": few_high,
            "few_found": _found(drawn),
            "window_low": min(known) if everywhere else None,
            "window_high": max(known) if everywhere else None,
            "tried": max(first.top_ns),
            "sampled_from": next(iter(sampled), None),
            "heads": heads,
            "windows": len(windows),
            "rows": most,
        }


def _growth(lengths: dict[int, Samples], draws: int, few: int) -> Iterator[dict[str, Any]]:
    """How the critical N of 144 heads grows from L = 256 on, draw by draw.

    Below 256 a share of .06 is a few tokens. With 144 heads or fewer all of them give the exponent,
    and draws with replacement the interval.
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
            "found": len(there) / len(slopes),
            "shortest": ordered[0],
            "longest": ordered[-1],
            "heads": min(heads, few),
        }


def _found(draws: Sequence[int | None]) -> float | None:
    return sum(each is not None for each in draws) / len(draws) if draws else None


def _ordered(draws: Sequence[int | None]) -> list[int | None]:
    """One without a critical N counts as beyond every N."""
    return sorted(draws, key=lambda each: math.inf if each is None else each)


def _interval(draws: Sequence[int | None]) -> tuple[int | None, int | None]:
    """The middle 95 % of the draws."""
    if not draws:
        return None, None
    ordered = _ordered(draws)
    ends = np.percentile(np.arange(len(draws)), (2.5, 97.5), method="nearest").tolist()
    return ordered[int(ends[0])], ordered[int(ends[1])]
