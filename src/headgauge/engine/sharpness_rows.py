"""Compiled: Λ of a row without sorting it.

Λ = sup_k log k/Δ_k over the rising gaps 0 = Δ₁ ≤ Δ₂ ≤ … to the largest logit. Already Λ ≥ log 2/Δ₂,
so no gap above Δ₂ log₂ n matters. The others are counted in buckets: one that ends at t, with N
gaps up to there, holds a ratio of at least log N/t, and none above log N/(its lower edge). Only
the buckets that can hold the supremum are looked through.
"""

import math

import numpy as np

from headgauge.engine.bits import from_ordered, ordered
from headgauge.kernels import literal, summed

BUCKETS = 64
FEW = 64  # not worth buckets
_SLACK = 1e-9  # far above the rounding of an edge
_HUGE = 1e290
_INFINITE = np.int64(np.float64(math.inf).view(np.int64))


@summed
def _largest(row):
    """The largest entry as an integer in the order of floats, and how many entries are NaN."""
    highest, strange = ordered(row.dtype.type(-math.inf)), 0
    for i in range(row.shape[0]):
        x = row[i]
        highest = max(highest, ordered(x))
        strange += x != x
    return highest, strange


@literal
def largest(row):
    """max l, NaN where an entry is."""
    highest, strange = _largest(row)
    return math.nan if strange else np.float64(from_ordered(highest))


@summed
def _load(row, top, gaps):
    """Fill in Δ; how many are 0, the smallest other and the largest."""
    ties = 0
    nearest, farthest = _INFINITE, np.int64(0)
    for i in range(row.shape[0]):
        gap = top - np.float64(row[i])
        gaps[i] = gap
        ties += gap == 0.0
        bits = np.float64(gap).view(np.int64)
        nearest = min(nearest, bits if gap > 0.0 else _INFINITE)
        farthest = max(farthest, bits if gap > 0.0 else np.int64(0))
    return ties, np.int64(nearest).view(np.float64), np.int64(farthest).view(np.float64)


@literal
def _bucket(gap, low, scale):
    """The bucket of a gap, rising with it; the last one holds what does not matter."""
    at = (gap - low) * scale
    at = at if at < BUCKETS else BUCKETS
    return np.int32(at if at > 0.0 else 0.0)


@summed
def _place(gaps, low, scale, places):
    for i in range(gaps.shape[0]):
        places[i] = _bucket(gaps[i], low, scale)


@summed
def _below(gaps, limit):
    """How many gaps are below the limit, and the largest of them."""
    count, largest = 0, np.int64(0)
    for i in range(gaps.shape[0]):
        bits = np.float64(gaps[i]).view(np.int64)
        count += gaps[i] < limit
        largest = max(largest, bits if gaps[i] < limit else np.int64(0))
    return count, np.int64(largest).view(np.float64)


@literal
def _supremum(gaps, low, scale, skipped, logs, found, best):
    """The larger of `found` and max log k/gap_k, where Λ is at least `best`.

    skipped[b] gaps below bucket b are not among these. From the largest down: under a gap of rank
    k only those below log(k − 1)/Λ can do better.
    """
    limit = math.inf
    while True:
        count, gap = _below(gaps, limit)
        if gap == 0.0:
            return found
        # A gap above 0 has at least rank 2: the largest logit itself is before it.
        rank = count + skipped[_bucket(gap, low, scale)]
        found = max(found, logs[rank - 1] / gap)
        limit = min(gap, logs[rank - 2] / max(found, best))


@literal
def _mark(counts, low, width, logs, best, live, skipped):
    """live[b] = whether bucket b can hold the supremum, skipped[b] = how many gaps below it are in
    buckets that cannot. Returns the best lower bound on Λ."""
    upto = 0
    for b in range(BUCKETS):
        upto += counts[b]
        edge = (low + (b + 1) * width) * (1.0 + _SLACK)
        if counts[b] > 0 and logs[upto - 1] > best * edge:
            best = logs[upto - 1] / edge
    upto, missed = 0, 0
    for b in range(BUCKETS):
        upto += counts[b]
        edge = (low + b * width) * (1.0 - _SLACK)
        live[b] = logs[upto - 1] >= best * edge
        skipped[b] = missed
        missed += 0 if live[b] else counts[b]
    live[BUCKETS] = 0
    return best


@literal
def _bucketed(gaps, low, high, logs, found, kept, places, table):
    """`_supremum` of many gaps, the smallest above 0 being `low`; those beyond `high` are too
    large to exceed `found`."""
    n = gaps.shape[0]
    counts, live, skipped, others = table
    width = (high - low) * (1.0 + _SLACK) / BUCKETS
    scale = 1.0 / width
    _place(gaps, low, scale, places)
    # Two tables: counting into one waits for itself where neighbours share a bucket.
    counts[:], others[:] = 0, 0
    for i in range(1, n, 2):
        counts[places[i - 1]] += 1
        others[places[i]] += 1
    if n % 2:
        counts[places[n - 1]] += 1
    counts += others
    best = _mark(counts, low, width, logs, found, live, skipped)
    size = 0
    for i in range(n):
        # Written always, kept sometimes: a branch would be guessed wrong.
        kept[size] = gaps[i]
        size += live[places[i]]
    return _supremum(kept[:size], low, scale, skipped, logs, found, best)


@literal
def critical(row, top, logs, gaps, kept, places, table):
    """Λ of a row, whose largest entry is `top`; 0 for one key, infinite at a tie.

    logs[k] = log(k + 1). The rest is room: `gaps`, `kept` and `places` for one entry more than the
    row has, `table` for 4 × (BUCKETS + 1).
    """
    n = row.shape[0]
    if n == 1:
        return 0.0
    if not math.isfinite(top):
        others = 0
        for i in range(row.shape[0]):
            others += row[i] == top
        return 0.0 if others == 1 and top > 0.0 else math.nan
    ties, near, far = _load(row, top, gaps)
    if ties > 1:
        return math.inf
    if near == math.inf:
        return 0.0
    found = logs[1] / near
    high = min(far, logs[n - 1] / found * (1.0 + _SLACK))
    if n > FEW and 1.0 / _HUGE < near < _HUGE and high - near > _SLACK * near:
        return _bucketed(gaps[:n], near, high, logs, found, kept, places, table)
    table[0, 0] = 0
    return _supremum(gaps[:n], 0.0, 0.0, table[0], logs, found, found)
