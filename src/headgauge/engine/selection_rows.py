"""Compiled: the keys that count for a row, their order, and their smallest distance.

A row is worked on between its first and its last counting key; keys in between that do not count
have weight 0 and `counts` 0. A causal row is then a prefix, a sliding window a slice, and all inner
loops run over contiguous memory.
"""

import math
from typing import no_type_check

from headgauge.engine.compiling import compiled, fused

# ‖a − b‖² from inner products has an error of about 1e-15(‖a‖² + ‖b‖²). Below this share of the
# squares it is taken from the vectors themselves.
CANCELLED = 1e-5


@compiled
@no_type_check
def span(visible, everything):
    """First counting key and one past the last one; (0, 0) for a row without visible keys."""
    keys = visible.shape[0]
    first = 0
    while first < keys and not visible[first]:
        first += 1
    if first == keys:
        return 0, 0
    if everything:
        return 0, keys
    last = keys
    while not visible[last - 1]:
        last -= 1
    return first, last


@compiled
@no_type_check
def load(weights, visible, everything, norms2, a, counts, own):
    """Weights, who counts, ‖y‖²; returns (how many count, Σα, Σ|α|)."""
    count = 0
    total = 0.0
    absolute = 0.0
    for i in range(weights.shape[0]):
        seen = visible[i]
        a[i] = weights[i] if seen else 0.0
        counts[i] = 1.0 if seen or everything else 0.0
        own[i] = a[i] * a[i] * norms2[i]
        count += 1 if seen or everything else 0
        total += a[i]
        absolute += abs(a[i])
    return count, total, absolute


@compiled
@no_type_check
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
@no_type_check
def top(a, counts, size, values, places):
    """The `size` largest weights in order, equal ones by lowest index, into values and places."""
    filled = 0
    for i in range(a.shape[0]):
        if counts[i] == 0.0:
            continue
        if filled < size:
            values[filled] = a[i]
            places[filled] = i
            filled += 1
            if filled == size:
                for root in range(size // 2 - 1, -1, -1):
                    _sift(values, places, root, size)
        elif a[i] > values[0]:  # an equal weight further on stays behind
            values[0] = a[i]
            places[0] = i
            _sift(values, places, 0, size)
    for end in range(size - 1, 0, -1):
        values[0], values[end] = values[end], values[0]
        places[0], places[end] = places[end], places[0]
        _sift(values, places, 0, end)


@fused
@no_type_check
def difference2(p, x, q, z):
    """‖p·x − q·z‖² from the vectors."""
    total = 0.0
    for t in range(x.shape[0]):
        d = p * x[t] - q * z[t]
        total += d * d
    return total


@compiled
@no_type_check
def apart2(vectors, gram, norms2, i, j):
    """‖x_i − x_j‖² with all its digits."""
    both = norms2[i] + norms2[j]
    squared = both - 2.0 * gram[i, j]
    if squared < CANCELLED * both:
        return difference2(1.0, vectors[i], 1.0, vectors[j])
    return squared


@compiled
@no_type_check
def nearest_before(vectors, gram, norms2, places, squares):
    """For every key the nearest one before it, and the square of its distance."""
    for i in range(norms2.shape[0]):
        places[i] = -1
        squares[i] = math.inf
        for j in range(i):
            squared = apart2(vectors, gram, norms2, i, j)
            if squared < squares[i]:
                squares[i] = squared
                places[i] = j


@compiled
@no_type_check
def separation2(vectors, gram, norms2, nearest, nearest2, order, counts, first):
    """δ² over the counting keys.

    Keys come in the order of the distance to their nearest predecessor, so the first one that
    counts together with that predecessor ends the search; under a causal mask every one does.
    """
    last = first + counts.shape[0]
    best = math.inf
    for i in order:
        if nearest2[i] >= best:
            break
        if i < first or i >= last or counts[i - first] == 0.0:
            continue
        j = nearest[i]
        if j >= first and counts[j - first] > 0.0:
            best = nearest2[i]
            break
        for j in range(first, i):
            if counts[j - first] > 0.0:
                best = min(best, apart2(vectors, gram, norms2, i, j))
    return best
