"""Compiled: what one row's unselected keys say about s: d̃, r and the bounds of Theorem 1.1.

Paper → code: ⟨x_i, s⟩ → `c`, ‖s‖² → `context2`, ᾱ → `mass`, i ∉ I → `left` (1 or 0). With
h_i = ‖y_i‖² − 2α_i⟨x_i, s⟩ it is ‖y_i − s‖² = h_i + ‖s‖², and ‖x_i − s/ᾱ‖² = ‖x_i‖² − 2⟨x_i, s⟩/ᾱ +
‖s‖²/ᾱ². Both are wrong by some roundings of R² with R = Σ_{j∈I}‖y_j‖ (`reach`), because c was added
up term by term; what is less than the share `lost` of R² is taken from the vectors.
"""

import math

import numpy as np

from headgauge.engine.bits import as_bits, from_ordered, ordered
from headgauge.engine.loading_rows import difference2, root
from headgauge.kernels import compiled, fused

# Long rows are added up piece by piece, the pieces in float64; a piece with a lost square in it is
# gone over again, not the whole row. Pieces are told by where they begin and end: a slice would be
# counted as a reference, which costs as much as fifty keys. Unsigned, because an index that might
# be negative keeps a loop from becoming vector code.
PIECE = 512


@fused
def _advance(gram, first, rows, weights, halves, c, reached):
    """c += Σα_j⟨x_j, ·⟩ for the next four selected j; `reached` = min ⟨x_j, ·⟩ − ‖x_j‖²/2 so far.

    Four at a time, because reading and writing c and `reached` costs more than the sums. The rows
    of the Gram matrix and its first column come unsigned: see `PIECE`.
    """
    j0, j1, j2, j3 = rows
    w0, w1, w2, w3 = weights
    k0, k1, k2, k3 = halves
    for i in range(np.uint64(c.shape[0])):
        k = first + i
        p0, p1, p2, p3 = gram[j0, k], gram[j1, k], gram[j2, k], gram[j3, k]
        c[i] += (w0 * p0 + w1 * p1) + (w2 * p2 + w3 * p3)
        f0, f1, f2, f3 = p0 - k0, p1 - k1, p2 - k2, p3 - k3
        # What was there goes in first: compared last, it would be stored under a mask, slowly.
        far = reached[i]
        far = far if far < f0 else f0
        f1 = f1 if f1 < f2 else f2
        far = far if far < f3 else f3
        reached[i] = far if far < f1 else f1


@fused
def _advance_by_two(gram, first, rows, weights, halves, c, reached):
    j0, j1 = rows
    w0, w1 = weights
    k0, k1 = halves
    for i in range(np.uint64(c.shape[0])):
        k = first + i
        p0, p1 = gram[j0, k], gram[j1, k]
        c[i] += w0 * p0 + w1 * p1
        f0, f1 = p0 - k0, p1 - k1
        far = reached[i]
        far = far if far < f0 else f0
        reached[i] = far if far < f1 else f1


@compiled
def enter(gram, gram_at, first, begin, end, values, places, norms2, c, reached):
    """Ranks begin…end − 1 enter I: c and `reached` take in their rows of the Gram matrix."""
    real = gram.dtype.type
    half, column, b = real(0.5), np.uint64(first), begin
    while b + 4 <= end:
        j0, j1, j2, j3 = places[b], places[b + 1], places[b + 2], places[b + 3]
        rows = (
            np.uint64(gram_at[first + j0]),
            np.uint64(gram_at[first + j1]),
            np.uint64(gram_at[first + j2]),
            np.uint64(gram_at[first + j3]),
        )
        weights = real(values[b]), real(values[b + 1]), real(values[b + 2]), real(values[b + 3])
        halves = half * norms2[j0], half * norms2[j1], half * norms2[j2], half * norms2[j3]
        _advance(gram, column, rows, weights, halves, c, reached)
        b += 4
    while b < end:
        # Where one is left, it comes again with weight 0.
        other = min(b + 1, end - 1)
        j0, j1 = places[b], places[other]
        rows = np.uint64(gram_at[first + j0]), np.uint64(gram_at[first + j1])
        weights = real(values[b]), real(values[other]) if other > b else real(0.0)
        _advance_by_two(
            gram, column, rows, weights, (half * norms2[j0], half * norms2[j1]), c, reached
        )
        b += 2


@fused
def _quickly(a, own, c, norms2, left, reached, context2, inverse, begin, end):
    real = a.dtype.type
    zero, infinite = real(0.0), real(math.inf)
    centroid2 = context2 * inverse * inverse
    twice = inverse + inverse
    total, squares, away = zero, zero, zero
    least, closest = ordered(infinite), as_bits(infinite)
    far = as_bits(zero)
    for i in range(np.uint64(begin), np.uint64(end)):
        h = own[i] - (a[i] + a[i]) * c[i]
        u = h + context2
        u = u if u > zero else zero
        v = norms2[i] - twice * c[i] + centroid2
        v = v if v > zero else zero
        total += left[i] * root(u)
        squares += left[i] * u
        outside = left[i] * a[i]
        away += outside * root(v)
        # A selected key must not be the nearest one. Below zero the bits are too.
        h = h if left[i] > zero else infinite
        v = v if outside > zero else infinite
        apart = norms2[i] - (reached[i] + reached[i])
        apart = apart if left[i] > zero else zero
        least = min(least, ordered(h))
        closest = min(closest, as_bits(v))
        far = max(far, as_bits(apart))
    return total, squares, away, from_ordered(least), from_ordered(closest), from_ordered(far)


@fused
def _distances2(a, own, c, left, context2, u):
    """‖y_i − s‖², 0 for selected keys."""
    for i in range(a.shape[0]):
        u[i] = left[i] * (own[i] - (a[i] + a[i]) * c[i] + context2)


@fused
def _from_centroid2(c, norms2, left, centroid2, twice, v):
    for i in range(c.shape[0]):
        v[i] = left[i] * (norms2[i] - twice * c[i] + centroid2)


@fused
def roots(weights, squares):
    """(Σ w√q, Σ q)."""
    zero = squares.dtype.type(0.0)
    total, total2 = zero, zero
    for i in range(squares.shape[0]):
        total += weights[i] * math.sqrt(squares[i])
        total2 += squares[i]
    return total, total2


@compiled
def mend(squares, small, counts, a, p, q, vectors, r, z):
    """Squares below `small` anew, as ‖(p + q·a_i)x_i − r·z‖² from the vectors; 0 where a key does
    not count. Returns how many were lost and the least of them."""
    lost, least = 0, math.inf
    for i in range(squares.shape[0]):
        if squares[i] < small:
            square = 0.0
            if counts[i] > 0.0:
                square = difference2(p + q * a[i], vectors[i], r, z)
                least = min(least, square)
                lost += 1
            squares[i] = square
    return lost, least


@compiled
def _carefully(vectors, a, own, c, norms2, left, s, context2, inverse, small, nearby, h, u):
    """A piece's sums with each lost square from the vectors, r² in it, how many were lost."""
    real = a.dtype.type
    _distances2(a, own, c, left, real(context2), u)
    lost, least = mend(u, small, left, a, 0.0, 1.0, vectors, 1.0, s)
    least = least if lost else h + context2
    total, squares = roots(left, u)
    _from_centroid2(c, norms2, left, real(context2 * inverse * inverse), real(2.0 * inverse), u)
    for i in range(a.shape[0]):
        if u[i] < nearby:
            u[i] = 0.0
            if left[i] * a[i] > 0.0:
                u[i] = difference2(1.0, vectors[i], inverse, s)
                lost += 1
    return total, squares, roots(a, u)[0], least, lost


@compiled
def outside(vectors, a, own, c, norms2, left, reached, s, context2, mass, reach, lost, u):
    """(d̃, Σ‖y_i − s‖², r², Σα_i‖x_i − s/ᾱ‖, max ‖x_i − x_j‖², lost squares) over i ∉ I, j ∈ I.

    `u` is scratch for a piece.
    """
    real = a.dtype.type
    inverse = 1.0 / mass if mass > 0.0 else 0.0
    small = lost * reach * reach
    nearby = small * inverse * inverse
    total, squares, away, least = 0.0, 0.0, 0.0, math.inf
    far, losses = 0.0, 0
    for begin in range(0, a.shape[0], PIECE):
        end = min(begin + PIECE, a.shape[0])
        more, more2, farther, h, closest, apart = _quickly(
            a, own, c, norms2, left, reached, real(context2), real(inverse), begin, end
        )
        far = max(far, float(apart))
        nearest = float(h) + context2
        if nearest < small or closest < nearby:
            more, more2, farther, nearest, some = _carefully(
                vectors[begin:end], a[begin:end], own[begin:end], c[begin:end], norms2[begin:end],
                left[begin:end], s, context2, inverse, small, nearby, float(h), u[: end - begin],
            )  # fmt: skip
            losses += some
        total += more
        squares += more2
        away += farther
        least = min(least, nearest)
    return total, squares, max(least, 0.0), away, far, losses


@compiled
def farthest2(vectors, left, places, begin, end, exact):
    """max ‖x_i − x_j‖² over i ∉ I, j ∈ I; exact[i] is that of i over the ranks before `begin`."""
    far = 0.0
    for i in range(vectors.shape[0]):
        if left[i] > 0.0:
            for b in range(begin, end):
                exact[i] = max(exact[i], difference2(1.0, vectors[i], 1.0, vectors[places[b]]))
            far = max(far, exact[i])
    return far
