"""Compiled: every measure of a row for every asked N, in one walk down its ranks.

Keys enter I in the order of their weights. Each brings its row of the Gram matrix: ⟨x_i, s⟩ for all
i grows by α_j⟨x_j, x_i⟩, which costs one pass over the row, whatever the dimension. At an asked N
the measures are read off; the walk stops at the largest. The passes over keys run in the Gram
matrix's precision, everything that is one number per row or rank in float64.
"""

import math
from typing import no_type_check

import numpy as np

from headgauge.engine import distance_rows as near
from headgauge.engine.compiling import compiled, fused
from headgauge.engine.expected_rows import expected, spreads
from headgauge.engine.loading_rows import load, load_seen, tails
from headgauge.engine.selection_rows import largest_asked
from headgauge.engine.separability_rows import inside, xi_bounds
from headgauge.engine.separation_rows import difference2, separation2

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
_advance, _outside = near.advance, near.outside
_reach_further, _farthest = near.reach_further, near.farthest
_PIECE = near.PIECE
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


@compiled
@no_type_check
def _enter(gram, gram_at, first, begin, end, values, places, norms2, c, reached):
    """Ranks begin…end − 1 enter I: c and `reached` take in their rows of the Gram matrix."""
    real = gram.dtype.type
    zero = real(0.0)
    for b in range(begin, end, 4):
        # Where fewer than four are left, the last one again, with weight 0.
        e1, e2, e3 = min(b + 1, end - 1), min(b + 2, end - 1), min(b + 3, end - 1)
        j0, j1, j2, j3 = places[b], places[e1], places[e2], places[e3]
        _advance(
            gram,
            np.uint64(first),
            np.uint64(gram_at[first + j0]),
            np.uint64(gram_at[first + j1]),
            np.uint64(gram_at[first + j2]),
            np.uint64(gram_at[first + j3]),
            real(values[b]),
            real(values[e1]) if b + 1 < end else zero,
            real(values[e2]) if b + 2 < end else zero,
            real(values[e3]) if b + 3 < end else zero,
            norms2[j0], norms2[j1], norms2[j2], norms2[j3], c, reached,
        )  # fmt: skip


@compiled
@no_type_check
def _add(values, places, begin, end, x, s):
    """s grows by ranks begin…end − 1. Not fused: opposite terms must leave nothing behind."""
    for b in range(begin, end):
        j = places[b]
        weight = values[b]
        for t in range(s.shape[0]):
            s[t] += weight * x[j, t]


@fused
@no_type_check
def _square(x):
    total = 0.0
    for t in range(x.shape[0]):
        total += float(x[t]) * float(x[t])
    return total


@compiled
@no_type_check
def _walk(
    x, mean, mean2, a, own, onto, k2, counts, spread, c, left, reached, gram, gram_at, first, n,
    longest2, one, positive, apart2, sphere, top_ns, asked, values, places, tail, longest, s, piece,
    own_b, h_b, exact, out, told,
):  # fmt: skip
    """All measures of a row at its asked N. False where single precision cannot answer."""
    single = gram.itemsize == 4
    lost = _CANCELLED_SINGLE if single else CANCELLED
    width, dim = x.shape
    left[:] = counts
    c[:] = 0.0
    reached[:] = -math.inf
    s[:] = 0.0
    mass, reach, rest, rest2, chosen2 = 0.0, 0.0, 0.0, 0.0, 0.0
    entered, effort, exactly = 0, 0, 0
    for at in range(asked):
        chosen = top_ns[at]
        _enter(gram, gram_at, first, entered, chosen, values, places, k2, c, reached)
        _add(values, places, entered, chosen, x, s)
        for b in range(entered, chosen):
            j = places[b]
            left[j] = 0.0
            mass += values[b]
            reach += abs(values[b]) * math.sqrt(k2[j])
            chosen2 = max(chosen2, float(k2[j]))
            if b > 0:
                rest += values[b]
                rest2 += values[b] * values[b]
        entered = chosen
        n_left = n - chosen
        context2 = _square(s)
        away, away2, r2, weighted, far2, losses = _outside(
            x, a, own, c, k2, left, reached, s, context2, mass, reach, lost, piece
        )
        out[at, 0] = away
        out[at, 1], out[at, 2], out[at, 3], more = expected(
            x, mean, mean2, a, own, onto, k2, counts, spread, n, chosen, places[0], lost, piece
        )
        effort += (losses + more) * dim
        all_near = one and n_left > 0 and far2 < lost * (chosen2 + longest2)
        if single and (all_near or effort > _EFFORT):
            return False
        if all_near:
            if exactly == 0:
                exact[:] = 0.0
            _reach_further(x, left[:width], places, exactly, chosen, exact)
            exactly = chosen
            far2 = _farthest(left[:width], exact)
        bracket = mass * n_left - tail[chosen]
        if one:
            out[at, 4] = tail[chosen] * math.sqrt(far2) + math.sqrt(chosen2) * bracket
        if positive:
            length = math.sqrt(context2) / mass if mass > 0.0 else 0.0
            out[at, 5] = weighted + length * bracket
        # ‖Σ_{i∉I}(s − y_i)‖ = ‖(n + 1)s − x̄‖ for n unselected keys.
        squared = difference2(n_left + 1.0, s, 1.0, mean) if n_left > 0 else 0.0
        out[at, 6] = math.sqrt(squared)
        out[at, 7] = math.sqrt(n_left * away2)
        held, told[at] = inside(
            x, a, own, c, left, s, context2, reach, r2, longest[chosen], chosen, places, own_b, h_b
        )
        radius = math.sqrt(r2)
        out[at, 8] = radius
        out[at, 9] = held
        out[at, 10] = held / chosen
        out[at, 11], out[at, 12], out[at, 13] = xi_bounds(
            chosen, values, rest, rest2, apart2, sphere, radius
        )
    return True


@compiled
@no_type_check
def measure(
    weights, visible, everything, unit, vectors, norms2, gram, gram_at, nearest, nearest2, order,
    running2, means, ontos, top_ns, spans, all_places, out, told, hard, start, stop,
):  # fmt: skip
    """Fill out[row, N, field]; say in told[row, N] how N_s was told (see `inside`) and in hard[row]
    which rows single precision cannot answer."""
    keys, dim = vectors.shape
    single = gram.itemsize == 4
    lost = _CANCELLED_SINGLE if single else CANCELLED
    scratch = np.empty((8, keys + _LANES), gram.dtype)
    exact = np.empty(0 if single else keys)
    piece = np.empty(_PIECE, gram.dtype)
    most = min(keys, top_ns[-1])
    values, tail, longest = np.empty(most), np.empty(most + 1), np.empty(most + 1)
    own_b, h_b = np.empty(most), np.empty(most)
    s = np.empty(dim)
    for row in range(start, stop):
        first, end, n = spans[row, 0], spans[row, 1], spans[row, 2]
        asked = largest_asked(top_ns, n, everything)
        if n == 0 or asked == 0:
            continue
        places = all_places[row]
        width = end - first
        wide = (width + _LANES - 1) // _LANES * _LANES
        a, counts, own = scratch[0, :wide], scratch[1, :wide], scratch[2, :wide]
        c, left, reached = scratch[3, :wide], scratch[4, :wide], scratch[5, :wide]
        squares, spread = scratch[6, :wide], scratch[7, :wide]
        x, k2, mean = vectors[first:end], norms2[first : first + wide], means[row]
        onto = ontos[row, first : first + wide]
        alpha, seen = weights[row, first:end], visible[row % visible.shape[0], first:end]
        if n == width and not everything:
            total, absolute, lengths, longest2 = load(alpha, k2, width, a, counts, own)
        else:
            total, absolute, lengths, longest2 = load_seen(
                alpha, seen, everything, k2, width, a, counts, own
            )
        positive = absolute == total
        one = positive and abs(total - 1.0) <= _ONE
        tails(a, own, counts, left, top_ns[asked - 1], values, places, tail, longest)
        mean2 = _square(mean)
        hard[row] = single and (
            mean2 < _CANCELLED_MEAN * lengths * lengths
            or (absolute > 0.0 and abs(values[0]) * math.sqrt(k2[places[0]]) < _NOTHING)
        )
        if hard[row]:
            continue
        hard[row] = not spreads(x, mean, mean2, a, own, onto, counts, n, lost, squares, spread)
        if hard[row]:
            continue
        apart2 = separation2(vectors, nearest, nearest2, order, running2, counts, first, width, n)
        sphere = 1.0 if unit else math.sqrt(longest2)
        hard[row] = not _walk(
            x, mean, mean2, a, own, onto, k2, counts, spread, c, left, reached, gram, gram_at,
            first, n, longest2, one, positive, apart2, sphere, top_ns, asked, values, places, tail,
            longest, s, piece, own_b, h_b, exact, out[row], told[row],
        )  # fmt: skip
