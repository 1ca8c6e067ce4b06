"""Compiled: the keys that count for a row and the order of its largest weights.

A row is worked on between its first and its last counting key; keys in between that do not count
have weight 0. A causal row is then a prefix, a sliding window a slice, and all inner loops run over
contiguous memory.
"""

import math

import numpy as np

from headgauge.engine.bits import as_bits, ordered
from headgauge.kernels import compiled, fused

SPAN = np.dtype([("first", np.int64), ("end", np.int64), ("n", np.int64)])
_LANES = 64  # ranks that are compared at once


@fused
def _count(visible):
    count = 0
    for i in range(visible.shape[0]):
        count += visible[i] != 0  # a byte may hold more than 1
    return count


@compiled
def span_of(visible):
    """The first visible key, one past the last, and how many there are."""
    count = _count(visible)
    first, last = 0, visible.shape[0]
    while first < last and not visible[first]:
        first += 1
    if first + count <= last and _count(visible[first : first + count]) == count:
        return first, first + count, count
    while first < last and not visible[last - 1]:
        last -= 1
    return first, last, count


@compiled
def _weighs_hidden(weights, visible):
    """Whether there is weight on a key that is not visible."""
    found = 0
    for i in range(weights.shape[0]):
        found |= (weights[i] != 0.0) & (visible[i] == 0)
    return found != 0


@compiled
def _load(alpha, seen, everything, bits):
    """The weights as integers in their order, those of keys that do not count below all others;
    returns the bits of the largest |α|, above infinity's for a NaN."""
    real = alpha.dtype.type
    zero = real(0.0)
    largest, lowest = as_bits(zero), ordered(real(-math.inf))
    for i in range(alpha.shape[0]):
        # Read always, and 0 added, because −0 is 0.
        weight, there = alpha[i] + zero, seen[i] != 0
        weight = weight if there else zero
        largest = max(largest, as_bits(abs(weight)))
        bits[i] = ordered(weight) if there | everything else lowest
    return largest


@compiled
def _at_least(bits, edge):
    count = np.int32(0)
    for i in range(bits.shape[0]):
        count = np.int32(count + np.int32(bits[i] >= edge))
    return np.int64(count)


@compiled
def _edge(bits, size):
    """The `size`-th largest, or what lies between it and the next."""
    least, most = bits[0], bits[0]
    for i in range(bits.shape[0]):
        least, most = min(least, bits[i]), max(most, bits[i])
    low, high = np.int64(least), np.int64(most)
    while low < high:
        middle = low + max((high >> 1) - (low >> 1), 1)  # the difference itself may be too large
        count = _at_least(bits, bits.dtype.type(middle))
        if count == size:
            return middle
        if count > size:
            low = middle
        else:
            high = middle - 1
    return low


@compiled
def _take(bits, edge, spare, values, places):
    """What is above the edge, and of what is on it the first `spare`, in the order of places."""
    kept = 0
    for i in range(bits.shape[0]):
        # Written always, kept sometimes: a branch would be guessed wrong.
        values[kept], places[kept] = bits[i], i
        tie = bits[i] == edge
        kept += (bits[i] > edge) | (tie & (spare > 0))
        spare -= tie


@compiled
def _top(bits, size, values, places, equals, order):
    """The places of the `size` largest in order, equal ones by lowest index.

    The smallest of them is found by halving, the rank of each by counting those above it: both are
    vector code, as no sorting is.
    """
    edge = bits.dtype.type(_edge(bits, size))
    spare = size - _at_least(bits, bits.dtype.type(edge + 1))
    _take(bits, edge, spare, values, places)
    wide = (size + _LANES - 1) // _LANES * _LANES
    values[size:wide] = edge  # above none
    equals[:size] = 0
    for b in range(size):
        rank = _at_least(values[:wide], bits.dtype.type(values[b] + 1))
        order[rank + equals[rank]] = places[b]
        equals[rank] += 1


@compiled
def largest_asked(top_ns, n, everything):
    """How many of the asked N (rising) a row with n counting keys can answer."""
    limit = n if everything else n - 1
    asked = 0
    while asked < top_ns.shape[0] and top_ns[asked] <= limit:
        asked += 1
    return asked


@compiled
def select(weights, visible, everything, top_ns, spans, places, hidden_weight, start, stop):
    """For every row its span and how many keys count in it, and the places of its largest weights.

    A row without visible keys, or with a weight that is not finite, gets no keys at all.
    `hidden_weight` marks rows that have weight where they may not look.
    """
    keys = weights.shape[1]
    room = np.full((2, keys + _LANES), as_bits(weights.dtype.type(0.0)))
    ranks = np.empty((3, keys + 1), np.int32)
    given = weights, visible, everything, top_ns
    _rows(given, room[0], room[1], ranks, spans, places, hidden_weight, (start, stop))


@compiled
def _rows(given, bits, values, ranks, spans, places, hidden_weight, which):
    weights, visible, everything, top_ns = given
    keys = weights.shape[1]
    infinite = as_bits(weights.dtype.type(math.inf))
    for row in range(*which):
        seen = visible[row % visible.shape[0]]
        span = spans[row]
        span["first"], span["end"], span["n"] = 0, 0, 0
        first, last, n = span_of(seen)
        if n == 0:
            continue
        hidden_weight[row] = _weighs_hidden(weights[row], seen)
        if everything:
            first, last, n = 0, keys, keys
        own = bits[: last - first]
        if _load(weights[row, first:last], seen[first:last], everything, own) >= infinite:
            continue
        span["first"], span["end"], span["n"] = first, last, n
        asked = largest_asked(top_ns, n, everything)
        if asked == 0:
            continue
        size = top_ns[asked - 1]
        _top(own, size, values, ranks[0], ranks[1], ranks[2])
        for b in range(size):
            places[row, b] = ranks[2, b]
