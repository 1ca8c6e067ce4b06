"""Compiled: the keys that count for a row and the order of its largest weights.

A row is worked on between its first and its last counting key; keys in between that do not count
have weight 0. A causal row is then a prefix, a sliding window a slice, and all inner loops run over
contiguous memory.
"""

import math

import numpy as np

from headgauge.engine.bits import as_bits, ordered
from headgauge.kernels import compiled, fused

# Numbers fall into classes an eighth of an octave wide by the first bits of their float32.
_CLASSES = 4096
SPAN = np.dtype([("first", np.int64), ("end", np.int64), ("n", np.int64)])
_CROWD = 48  # from here on a heap beats sorting a class by insertion


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
def _largest_magnitude(weights):
    """Of the bits of |α|: above infinity's for a NaN."""
    largest = as_bits(weights.dtype.type(0.0))
    for i in range(weights.shape[0]):
        largest = max(largest, as_bits(abs(weights[i])))
    return largest


@compiled
def _weighs_hidden(weights, visible):
    """Whether there is weight on a key that is not visible."""
    found = 0
    for i in range(weights.shape[0]):
        found |= (weights[i] != 0.0) & (visible[i] == 0)
    return found != 0


@compiled
def _sift(values, places, root, size):
    """Restore the heap below `root`; its top is the entry that would be dropped first."""
    value = values[root]
    place = places[root]
    while True:
        child = 2 * root + 1
        if child >= size:
            break
        right = child + 1
        if right < size and (
            values[right] < values[child]
            or (values[right] == values[child] and places[right] > places[child])
        ):
            child = right
        if values[child] > value or (values[child] == value and places[child] < place):
            break
        values[root] = values[child]
        places[root] = places[child]
        root = child
    values[root] = value
    places[root] = place


@compiled
def _top_by_heap(a, size, values, places):
    for i in range(a.shape[0]):
        if i < size:
            values[i] = a[i]
            places[i] = i
            if i == size - 1:
                for root in range(size // 2 - 1, -1, -1):
                    _sift(values, places, root, size)
        elif a[i] > values[0]:  # an equal weight further on stays behind
            values[0] = a[i]
            places[0] = i
            _sift(values, places, np.int64(0), size)
    for end in range(size - 1, 0, -1):
        values[0], values[end] = values[end], values[0]
        places[0], places[end] = places[end], places[0]
        _sift(values, places, np.int64(0), end)


@compiled
def _class_of(weight):
    return (np.int64(ordered(np.float32(weight))) >> 20) + _CLASSES // 2


@compiled
def _top(a, size, tally, values, places):
    """The places of the `size` largest weights in order, equal ones by lowest index.

    Counted into classes, laid out class by class, and put in order by insertion: classes are small
    except in flat rows, where a heap serves. `tally` comes and goes with zeros.
    """
    level, lowest = 0, _CLASSES
    for i in range(a.shape[0]):
        belongs = _class_of(a[i])
        level = max(level, belongs)
        lowest = min(lowest, belongs)
        tally[belongs] += 1
    highest = level
    kept = 0
    crowd = 0
    while kept < size:
        here = tally[level]
        crowd = max(crowd, here)
        tally[level] = kept
        kept += here
        level -= 1
    if crowd > _CROWD:
        tally[lowest : highest + 1] = 0
        _top_by_heap(a, size, values, places)
        return
    for i in range(a.shape[0]):
        belongs = _class_of(a[i])
        if belongs > level:
            at = tally[belongs]
            tally[belongs] += 1
            values[at] = a[i]
            places[at] = i
    tally[lowest : highest + 1] = 0
    for b in range(1, kept):
        value = values[b]
        place = places[b]
        at = b
        while at > 0 and values[at - 1] < value:
            values[at] = values[at - 1]
            places[at] = places[at - 1]
            at -= 1
        values[at] = value
        places[at] = place


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
    tally, order = np.zeros(_CLASSES, np.int32), np.empty(keys, np.int32)
    room = np.empty((2, keys), weights.dtype)
    given = weights, visible, everything, top_ns
    _rows(given, tally, room, order, spans, places, hidden_weight, (start, stop))


@compiled
def _rows(given, tally, room, order, spans, places, hidden_weight, which):
    weights, visible, everything, top_ns = given
    keys = weights.shape[1]
    infinite = as_bits(weights.dtype.type(math.inf))
    a, values = room[0], room[1]
    for row in range(*which):
        seen = visible[row % visible.shape[0]]
        span = spans[row]
        span["first"], span["end"], span["n"] = 0, 0, 0
        first, last, n = span_of(seen)
        if n == 0:
            continue
        alpha = weights[row]
        whole = n == last - first
        hidden_weight[row] = _weighs_hidden(alpha, seen)
        if everything:
            first, last, n = 0, keys, keys
        width = last - first
        for i in range(width):
            a[i] = alpha[first + i]
        if not whole or everything:
            for i in range(width):
                if not seen[first + i]:
                    a[i] = 0.0
        if _largest_magnitude(a[:width]) >= infinite:
            continue
        span["first"], span["end"], span["n"] = first, last, n
        asked = largest_asked(top_ns, n, everything)
        if asked == 0:
            continue
        if n < width:
            for i in range(width):
                if not seen[first + i]:
                    a[i] = -math.inf
        size = top_ns[asked - 1]
        _top(a[:width], size, tally, values, order)
        for b in range(size):
            places[row, b] = order[b]
