"""Compiled: every measure of a row for every asked N, in one walk down its ranks.

Keys enter I one by one in the order of their weights. Each brings its row of the Gram matrix:
⟨x_i, s⟩ for all i grows by α_j⟨x_j, x_i⟩, which costs one pass over the row, whatever the
dimension. At an asked N the measures are read off; the walk stops at the largest.
"""

import math
from typing import no_type_check

import numpy as np

from headgauge.engine import distance_rows as near
from headgauge.engine import selection_rows as pick
from headgauge.engine.compiling import compiled
from headgauge.engine.expected_rows import expected, spreads
from headgauge.engine.separability_rows import inside, xi_bounds

# The places of the measures in the kernel's output.
FIELDS = (
    "distance",
    "expected_printed",
    "expected_appendix",
    "expected_upper",
    "bound_printed",
    "bound_centroid",
    "bound_lower",
    "bound_upper",
    "radius",
    "separable_count",
    "separability",
    "separability_printed_lower",
    "separability_printed_upper",
    "separability_lower",
)

# The functions by names that numba can freeze into the kernel.
_span, _load, _top, _separation2 = pick.span, pick.load, pick.top, pick.separation2
_advance, _farthest2, _crossing2 = near.advance, near.farthest2, near.crossing2
_outside, _sandwich_lower2 = near.outside, near.sandwich_lower2
_ONE = 1e-5  # as in theory.selection.sums_to_one


@compiled
@no_type_check
def _largest_asked(top_ns, limit):
    """How many of the asked N (rising) a row can answer."""
    asked = 0
    while asked < top_ns.shape[0] and top_ns[asked] <= limit:
        asked += 1
    return asked


@compiled
@no_type_check
def _fill_outer(norms2, counts, size, places, outer):
    """‖x_i‖² where no asked N selects i, −∞ elsewhere; returns their largest."""
    largest = 0.0
    for i in range(outer.shape[0]):
        outer[i] = norms2[i] if counts[i] > 0.0 else -math.inf
    for b in range(size):
        outer[places[b]] = -math.inf
    for i in range(outer.shape[0]):
        largest = max(largest, outer[i])
    return largest


@compiled
@no_type_check
def _largest_norm(norms2, counts):
    largest = 0.0
    for i in range(norms2.shape[0]):
        if counts[i] > 0.0:
            largest = max(largest, norms2[i])
    return math.sqrt(largest)


@compiled
@no_type_check
def measure(
    weights, visible, everything, unit, vectors, gram, norms2, nearest, nearest2, order, means,
    ontos, top_ns, out, doubtful, start, stop,
):  # fmt: skip
    """Fill out[field, row, N] and mark in doubtful[row, N] what the reference has to decide."""
    keys, dim = vectors.shape
    scratch = np.empty((8, keys))
    size = min(keys, top_ns[-1])
    values, reached, tail = np.empty(size), np.empty(size), np.empty(size + 1)
    places = np.empty(size, np.int64)
    s = np.empty(dim)
    for row in range(start, stop):
        first, last = _span(visible[row % visible.shape[0]], everything)
        if last == first:
            continue
        width = last - first
        a, counts, own = scratch[0, :width], scratch[1, :width], scratch[2, :width]
        c, left, outer = scratch[3, :width], scratch[4, :width], scratch[5, :width]
        squares, spread = scratch[6, :width], scratch[7, :width]
        x, k2, mean = vectors[first:last], norms2[first:last], means[row]
        onto = ontos[row, first:last]
        n, total, absolute = _load(
            weights[row, first:last], visible[row % visible.shape[0], first:last], everything,
            k2, a, counts, own,
        )  # fmt: skip
        asked = _largest_asked(top_ns, n if everything else n - 1)
        if asked == 0 or not absolute < math.inf:
            continue
        size = top_ns[asked - 1]
        _top(a, counts, size, values, places)
        mean2 = 0.0
        for t in range(dim):
            mean2 += mean[t] * mean[t]
        spreads(x, mean, mean2, a, own, onto, counts, n, squares, spread)
        separation2 = _separation2(vectors, gram, norms2, nearest, nearest2, order, counts, first)
        sphere = 1.0 if unit else _largest_norm(k2, counts)
        positive = absolute == total
        one = positive and abs(total - 1.0) <= _ONE
        longest2 = _fill_outer(k2, counts, size, places, outer)
        # 1 − ᾱ is added up from below: subtracting would lose a sharp row's digits.
        left[:] = counts
        for b in range(size):
            left[places[b]] = 0.0
        tail[size] = 0.0
        for i in range(width):
            tail[size] += left[i] * a[i]
        for b in range(size - 1, -1, -1):
            tail[b] = tail[b + 1] + values[b]
        left[:] = counts
        c[:] = 0.0
        reached[:size] = 0.0
        context2, mass, reach, rest, rest2, with_mean = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        far2, chosen2 = 0.0, 0.0
        at = 0
        for b in range(size):
            j = places[b]
            context2 += values[b] * (2.0 * c[j] + values[b] * k2[j])
            gram_row = gram[first + j, first:last]
            far = _advance(gram_row, values[b], k2[j], c, outer)
            if n > size:
                far2 = max(far2, _farthest2(x, k2, outer, j, far, longest2))
            crossed2 = _crossing2(x, gram_row, k2, places, b + 1, size, reached)
            left[j] = 0.0
            mass += values[b]
            reach += abs(values[b]) * math.sqrt(k2[j])
            with_mean += values[b] * onto[j]
            chosen2 = max(chosen2, k2[j])
            if b > 0:
                rest += values[b]
                rest2 += values[b] * values[b]
            if b + 1 < top_ns[at]:
                continue
            chosen = b + 1
            n_left = n - chosen
            context2 = max(context2, 0.0)
            away, away2, r2, weighted = _outside(
                x, a, own, c, k2, left, context2, mass, reach, chosen, values, places, s
            )
            radius = math.sqrt(r2)
            out[0, row, at] = away
            out[1, row, at], out[2, row, at], out[3, row, at] = expected(
                x, mean, mean2, a, own, onto, k2, counts, spread, n, chosen
            )
            bracket = mass * n_left - tail[chosen]
            if one:
                d1 = math.sqrt(max(far2, crossed2))
                out[4, row, at] = tail[chosen] * d1 + math.sqrt(chosen2) * bracket
            if positive:
                length = math.sqrt(context2) / mass if mass > 0.0 else 0.0
                out[5, row, at] = weighted + length * bracket
            out[6, row, at] = 0.0
            if n_left > 0:
                lower2 = _sandwich_lower2(
                    x, context2, with_mean, mean, mean2, n_left, reach, chosen, values, places, s
                )
                out[6, row, at] = math.sqrt(lower2)
            out[7, row, at] = math.sqrt(n_left * away2)
            out[8, row, at] = radius
            held, certain = inside(own, a, c, context2, reach, radius, chosen, places)
            out[9, row, at] = held
            out[10, row, at] = held / chosen
            doubtful[row, at] = not certain
            out[11, row, at], out[12, row, at], out[13, row, at] = xi_bounds(
                chosen, values, rest, rest2, separation2, sphere, radius
            )
            at += 1
