"""Compiled: distances between keys with all their digits, and δ, the smallest of them."""

import math
from typing import no_type_check

from headgauge.engine.compiling import compiled, from_ordered, fused, ordered


@fused
@no_type_check
def difference2(p, x, q, z):
    """‖p·x − q·z‖² from the vectors."""
    total = 0.0
    for t in range(x.shape[0]):
        d = p * x[t] - q * z[t]
        total += d * d
    return total


@fused
@no_type_check
def _least(gram_row, norms2, stop):
    """min ‖x_j‖² − 2⟨x_i, x_j⟩ over j < stop."""
    least = ordered(gram_row.dtype.type(math.inf))
    for j in range(stop):
        least = min(least, ordered(norms2[j] - (gram_row[j] + gram_row[j])))
    return from_ordered(least)


@compiled
@no_type_check
def nearest_before(vectors, gram, base, norms2, rounding, places, squares, start, stop):
    """For every key the nearest one before it, and the square of its distance.

    `gram` has the rows from key `base` on. Its products, wrong by `rounding` of the squares, only
    say which keys can be the nearest; those are compared by their vectors.
    """
    for at in range(start, stop):
        i = base + at
        places[i] = -1
        squares[i] = math.inf
        if i == 0:
            continue
        least = float(_least(gram[at], norms2, i))
        own = float(norms2[i])
        edge = least + 2.0 * rounding * (3.0 * own + 2.0 * max(own + least, 0.0))
        for j in range(i):
            other = float(norms2[j])
            if other - 2.0 * gram[at, j] <= edge + rounding * other:
                squared = difference2(1.0, vectors[i], 1.0, vectors[j])
                if squared < squares[i]:
                    squares[i] = squared
                    places[i] = j
                if squared == 0.0:
                    break


@compiled
@no_type_check
def separation2(vectors, nearest, nearest2, order, running2, counts, first, width, n):
    """δ² over the n counting keys between `first` and first + `width`.

    For a causal row the smallest so far, `running2`. Else keys come in the order of the distance
    to their nearest predecessor, so the first one that counts together with that predecessor ends
    the search.
    """
    last = first + width
    if first == 0 and n == width:
        return running2[last - 1]
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
                best = min(best, difference2(1.0, vectors[i], 1.0, vectors[j]))
    return best
