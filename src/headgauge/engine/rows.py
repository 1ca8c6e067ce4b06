"""Compiled: every measure of a row for every asked N, in one walk down its ranks.

Keys enter I in the order of their weights. Each brings its row of the Gram matrix: ⟨x_i, s⟩ for all
i grows by α_j⟨x_j, x_i⟩, which costs one pass over the row, whatever the dimension. At an asked N
the measures are read off; the walk stops at the largest. The passes over keys run in the Gram
matrix's precision, everything that is one number per row or rank in float64.
"""

import math
from typing import NamedTuple

import numpy as np

from headgauge.engine.distance_rows import PIECE, enter, farthest2, outside
from headgauge.engine.expected_rows import expected, spreads
from headgauge.engine.loading_rows import Ranks, Row, difference2, load, rank, square
from headgauge.engine.selection_rows import largest_asked
from headgauge.engine.separability_rows import inside, separation2, xi_bounds
from headgauge.kernels import compiled

_LANES = 32  # a row's end is rounded up to this many keys
_ONE = 1e-5  # as in theory.selection.sums_to_one
# ‖a − b‖² from inner products is wrong by about 1e-15(‖a‖² + ‖b‖²), in single precision by 1e-7.
# Below this share of the squares it is taken from the vectors themselves.
CANCELLED = 1e-5
_CANCELLED_SINGLE = 1e-2
# What single precision leaves to double: rows whose sums all cancel, or that are next to nothing.
_CANCELLED_MEAN = 1e-4
_NOTHING = 1e-12
_EFFORT = 1 << 18  # vector entries that may be read to replace lost squares of one row


class Block(NamedTuple):
    """Rows of weights with what was selected in them."""

    weights: np.ndarray
    visible: np.ndarray
    everything: bool  # keys that a row does not see count too
    top_ns: np.ndarray  # rising
    spans: np.ndarray  # `selection_rows.SPAN`
    places: np.ndarray
    means: np.ndarray  # x̄ of every row
    ontos: np.ndarray  # ⟨x_i, x̄⟩


class Shared(NamedTuple):
    """What a `Geometry` knows about the vectors, and the rows of their Gram matrix in use."""

    unit: bool
    vectors: np.ndarray
    norms2: np.ndarray
    nearest: np.ndarray
    nearest2: np.ndarray
    order: np.ndarray
    running2: np.ndarray
    gram: np.ndarray
    gram_at: np.ndarray  # the row of each key in `gram`


class Limits(NamedTuple):
    """What is known of a row before the walk."""

    sums_to_one: bool
    positive: bool
    longest2: float  # largest ‖x‖²
    separation2: float  # δ²
    sphere: float  # M


@compiled
def _add(values, places, begin, end, x, s):
    """s grows by ranks begin…end − 1, one after the other, four at a time: reading and writing s
    costs more than they do. Not fused: opposite terms must leave nothing behind."""
    b = begin
    while b + 4 <= end:
        j0, j1 = np.uint64(places[b]), np.uint64(places[b + 1])
        j2, j3 = np.uint64(places[b + 2]), np.uint64(places[b + 3])
        w0, w1, w2, w3 = values[b], values[b + 1], values[b + 2], values[b + 3]
        for t in range(np.uint64(s.shape[0])):
            more = s[t] + w0 * x[j0, t] + w1 * x[j1, t]
            s[t] = more + w2 * x[j2, t] + w3 * x[j3, t]
        b += 4
    for rest in range(b, end):
        j = places[rest]
        for t in range(s.shape[0]):
            s[t] += values[rest] * x[j, t]


@compiled
def _walk(row, ranks, limits, shared, top_ns, s, piece, exact, out):
    """All measures of a row at its asked N. False where single precision cannot answer.

    `s`, `piece` (of a row) and `exact` (a double per key) are scratch. Bundles are undone here,
    once for a row: handing one on counts a reference to every array.
    """
    x, mean, mean2, n, first = row.x, row.mean, row.mean2, row.n, row.first
    a, own, onto, norms2, counts = row.a, row.own, row.onto, row.norms2, row.counts
    left, c, reached, spread = row.left, row.c, row.reached, row.spread
    values, places, tail, longest = ranks.values, ranks.places, ranks.tail, ranks.longest
    y, h = ranks.y, ranks.h
    gram, gram_at = shared.gram, shared.gram_at
    single = gram.itemsize == 4
    lost = _CANCELLED_SINGLE if single else CANCELLED
    c[:], reached[:], s[:] = 0.0, math.inf, 0.0
    for i in range(counts.shape[0]):  # a copy by slices takes a second to compile
        left[i] = counts[i]
    mass, reach, rest, rest2, chosen2 = 0.0, 0.0, 0.0, 0.0, 0.0
    # A plain 0 would be a type of its own, and what it is handed to compiled twice.
    entered, effort, exactly = np.int64(0), 0, np.int64(0)
    for at in range(top_ns.shape[0]):
        chosen = top_ns[at]
        enter(gram, gram_at, first, entered, chosen, values, places, norms2, c, reached)
        _add(values, places, entered, chosen, x, s)
        for b in range(entered, chosen):
            j = places[b]
            left[j] = 0.0
            mass += values[b]
            reach += abs(values[b]) * math.sqrt(norms2[j])
            chosen2 = max(chosen2, float(norms2[j]))
            if b > 0:
                rest += values[b]
                rest2 += values[b] * values[b]
        entered = chosen
        n_left = n - chosen
        context2 = square(s)
        away, away2, r2, weighted, far2, losses = outside(
            x, a, own, c, norms2, left, reached, s, context2, mass, reach, lost, piece
        )
        printed, appendix, upper, more = expected(
            x, mean, mean2, a, own, onto, norms2, counts, spread, n, chosen, places[0], lost, piece
        )
        effort += (losses + more) * s.shape[0]
        near = far2 < lost * (chosen2 + limits.longest2)
        all_near = limits.sums_to_one and n_left > 0 and near
        if single and (all_near or effort > _EFFORT):
            return False
        if all_near:
            if exactly == 0:
                exact[:] = 0.0
            far2 = farthest2(x, left, places, exactly, chosen, exact)
            exactly = chosen
        found = out[at]
        found["distance"] = away
        found["expected_printed"] = printed
        found["expected_appendix"] = appendix
        found["expected_upper"] = upper
        bracket = mass * n_left - tail[chosen]
        if limits.sums_to_one:
            found["bound_printed"] = tail[chosen] * math.sqrt(far2) + math.sqrt(chosen2) * bracket
        if limits.positive:
            length = math.sqrt(context2) / mass if mass > 0.0 else 0.0
            found["bound_centroid"] = weighted + length * bracket
        # ‖Σ_{i∉I}(s − y_i)‖ = ‖(n + 1)s − x̄‖ for n unselected keys.
        squared = difference2(n_left + 1.0, s, 1.0, mean) if n_left > 0 else 0.0
        found["bound_lower"] = math.sqrt(squared)
        found["bound_upper"] = math.sqrt(n_left * away2)
        held, certain = inside(
            x, a, own, c, left, s, context2, reach, r2, longest[chosen], chosen, values, places, y,
            h,
        )  # fmt: skip
        found["doubtful"] = 0.0 if certain else 1.0
        radius = math.sqrt(r2)
        found["radius"] = radius
        found["separable_count"] = held
        found["separability"] = held / chosen
        below, above, counted = xi_bounds(
            chosen, values, rest, rest2, limits.separation2, limits.sphere, radius
        )
        found["separability_printed_lower"] = below
        found["separability_printed_upper"] = above
        found["separability_lower"] = counted
    return True


@compiled
def _rows(block, shared, scratch, by_rank, s, piece, exact, out, hard, begin, end):
    """`measure` with the room it needs: where nothing is allocated, nothing is counted."""
    single = shared.gram.itemsize == 4
    lost = _CANCELLED_SINGLE if single else CANCELLED
    for at in range(begin, end):
        span = block.spans[at]
        first, last, n = span["first"], span["end"], span["n"]
        asked = largest_asked(block.top_ns, n, block.everything)
        if n == 0 or asked == 0:
            continue
        wide = (last - first + _LANES - 1) // _LANES * _LANES
        a, counts, own = scratch[0, :wide], scratch[1, :wide], scratch[2, :wide]
        norms2, mean = shared.norms2[first : first + wide], block.means[at]
        seen = block.visible[at % block.visible.shape[0], first:last]
        total, absolute, lengths, longest2 = load(
            block.weights[at, first:last], seen, block.everything, norms2, a, counts, own
        )
        row = Row(
            shared.vectors[first:last], a, own, norms2, block.ontos[at, first : first + wide],
            counts, scratch[3, :wide], scratch[4, :wide], scratch[5, :wide], scratch[6, :wide],
            mean, square(mean), first, n,
        )  # fmt: skip
        ranks = Ranks(by_rank[0], block.places[at], by_rank[1], by_rank[2], by_rank[3], by_rank[4])
        rank(row, ranks, block.top_ns[asked - 1])
        top = abs(ranks.values[0]) * math.sqrt(norms2[ranks.places[0]])
        nothing = absolute > 0.0 and top < _NOTHING
        faint = nothing or row.mean2 < _CANCELLED_MEAN * lengths * lengths
        hard[at] = (single and faint) or not spreads(row, lost, scratch[7, :wide])
        if hard[at]:
            continue
        positive = absolute == total
        limits = Limits(
            positive and abs(total - 1.0) <= _ONE, positive, longest2, separation2(row, shared),
            1.0 if shared.unit else math.sqrt(longest2),
        )  # fmt: skip
        top_ns = block.top_ns[:asked]
        hard[at] = not _walk(row, ranks, limits, shared, top_ns, s, piece, exact, out[at])


@compiled
def measure(block, shared, out, hard, start, stop):
    """Fill out[row, N], and hard[row] with whether single precision cannot answer."""
    keys, dim = shared.vectors.shape
    real = shared.gram.dtype
    exact = np.empty(0 if shared.gram.itemsize == 4 else keys)
    scratch, piece = np.empty((8, keys + _LANES), real), np.empty(PIECE, real)
    by_rank = np.empty((5, min(keys, block.top_ns[-1]) + 1))
    _rows(block, shared, scratch, by_rank, np.empty(dim), piece, exact, out, hard, start, stop)
