"""Compiled: where each row looks, in one pass over its weights and a few over parts of them.

Rows are read in their own precision and added up in float64.
"""

import math

import numpy as np

from headgauge.engine.selection_rows import span_of
from headgauge.kernels import literal, summed
from headgauge.theory.roles import FAR, LOCAL, STREAM_FIRST, STREAM_LAST

_NAMES = (
    *("self_mass", "previous_mass", "local_mass", "long_mass", "streaming_mass", "mean_distance"),
    *("duplicate_mass", "induction_mass", "collision_entropy", "carried", "first_seen", "ahead"),
)
LOOKS = np.dtype([(name, np.float64) for name in _NAMES])


@summed
def _sums(weights, lengths, place):
    """Σ α², Σ α|i − j|, Σ α‖v‖ over keys without a gap; `place` is the query's from the first."""
    squares, distance, carried = 0.0, 0.0, 0.0
    for j in range(weights.shape[0]):
        a = np.float64(weights[j])
        squares += a * a
        distance += a * abs(place - j)
        carried += a * lengths[j]
    return squares, distance, carried


@summed
def _total(weights):
    total = 0.0
    for j in range(weights.shape[0]):
        total += np.float64(weights[j])
    return total


@literal
def _part(weights, seen, whole, first, last):
    """Σ α between two keys, and how many of these are seen; `whole`: all are."""
    if last <= first:
        return 0.0, 0
    count = last - first
    if not whole:
        count = 0
        for j in range(first, last):
            count += seen[j] != 0
    return _total(weights[first:last]), count


@literal
def _without_hidden(weights, seen, kept):
    """A row whose hidden keys weigh nothing."""
    for j in range(weights.shape[0]):
        kept[j] = weights[j] if seen[j] else 0.0


@literal
def _at(weights, seen, key):
    return np.float64(weights[key]) if 0 <= key < seen.shape[0] and seen[key] else math.nan


@literal
def _repeats(weights, seen, before, place, found):
    """The chain of the earlier places of the row's token, and what followed each."""
    same, followed, there, after = 0.0, 0.0, 0, 0
    j = before[place]
    while j >= 0:
        if j < seen.shape[0] and seen[j]:
            same += np.float64(weights[j])
            there += 1
        if j + 1 < seen.shape[0] and seen[j + 1]:
            followed += np.float64(weights[j + 1])
            after += 1
        j = before[j]
    found["duplicate_mass"] = same if there else math.nan
    found["induction_mass"] = followed if after else math.nan


@literal
def measure(visible, weights, lengths, before, places, out, start, stop):
    """Fill out[row] of the rows whose queries stand at `places`; rows without a visible key
    stay as they are, and so do offsets where there are none (`before` is empty)."""
    kept = np.empty(weights.shape[1], weights.dtype)
    _rows(visible, weights, lengths, before, places, kept, out, (start, stop))


@literal
def _rows(visible, weights, lengths, before, places, kept, out, which):
    for row in range(*which):
        seen = visible[row % visible.shape[0]]
        first, last, count = span_of(seen)
        if count == 0:
            continue
        whole = count == last - first
        if not whole:
            _without_hidden(weights[row], seen, kept)
        a = weights[row] if whole else kept
        i, found = places[row], out[row]
        squares, distance, carried = _sums(a[first:last], lengths[first:last], i - first)
        found["collision_entropy"] = -math.log(squares) if squares > 0.0 else math.inf
        found["carried"] = carried
        found["first_seen"] = _at(a, seen, 0)
        if not len(before):
            continue
        found["ahead"] = last > i + 1
        found["mean_distance"] = distance
        found["self_mass"] = _at(a, seen, i)
        found["previous_mass"] = _at(a, seen, i - 1)
        near = _part(a, seen, whole, max(i - LOCAL + 1, first), min(i + LOCAL, last))
        found["local_mass"] = near[0]
        back = _part(a, seen, whole, max(first, 1), min(i - FAR + 1, last))
        ahead = _part(a, seen, whole, max(i + FAR, first), last)
        if back[1] + ahead[1]:
            found["long_mass"] = back[0] + ahead[0]
        middle = min(i - STREAM_LAST + 1, last)
        left = _part(a, seen, whole, max(first, STREAM_FIRST), middle)
        if left[1]:
            early = _part(a, seen, whole, first, min(STREAM_FIRST, last))
            late = _part(a, seen, whole, max(middle, first), last)
            found["streaming_mass"] = early[0] + late[0]
        _repeats(a, seen, before, i, found)
