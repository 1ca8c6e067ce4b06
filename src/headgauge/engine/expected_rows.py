"""Compiled: the three forms of E (Theorem 1.2) for one row and one N.

Paper → code: α_i → `a`, ‖y_i‖² → `own`, ‖x_i‖² → `norms2`, ⟨x_i, x̄⟩ → `onto`, ‖x̄‖² → `mean2`.
With ν = N/(n − 1) over the n counting keys, from these alone:

    ‖(α_i + ν)x_i − x̄‖² = (α_i + ν)²‖x_i‖² − 2(α_i + ν)⟨x_i, x̄⟩ + ‖x̄‖²
    ‖m_i‖² = (1 + ν)²‖y_i‖² − 2ν(1 + ν)α_i⟨x_i, x̄⟩ + ν²‖x̄‖².

x̄ is formed as a vector first, so both lose digits only where they are small beside ‖x̄‖²; there
they are taken from the vectors.
"""

import math

import numpy as np

from headgauge.engine.bits import as_bits, from_ordered
from headgauge.engine.distance_rows import PIECE, mend, roots
from headgauge.engine.loading_rows import difference2, root
from headgauge.kernels import compiled, fused


@fused
def _centred2(row, share, small, squares):
    """‖y_i − x̄/n‖² and the largest of them."""
    a, own, onto, counts = row.a, row.own, row.onto, row.counts
    zero = a.dtype.type(0.0)
    largest = as_bits(zero)
    for i in range(a.shape[0]):
        squared = own[i] - (share + share) * a[i] * onto[i] + small
        squared = squared if squared > zero else zero
        squared = squared * counts[i]
        squares[i] = squared
        largest = max(largest, as_bits(squared))
    return from_ordered(largest)


@fused
def _sum(values):
    total = 0.0
    for i in range(values.shape[0]):
        total += float(values[i])
    return total


@fused
def _rest(squares, total, share, spread):
    zero = squares.dtype.type(0.0)
    for i in range(squares.shape[0]):
        rest = total - squares[i] - squares[i] * share
        spread[i] = rest if rest > zero else zero


@compiled
def spreads(row, lost, squares):
    """V_i up to the factor that depends on N: Σ_{j≠i}‖z_j‖² − ‖z_i‖²/(n − 1), z centred y.

    Returns whether it could be told: in single precision not where all z nearly vanish.
    """
    real = row.a.dtype.type
    share = 1.0 / row.n
    small = row.mean2 * share * share
    top = _centred2(row, real(share), real(small), squares)
    largest = 0
    while squares[largest] < top:
        largest += 1
    squares[largest] = 0.0
    total = _sum(squares)
    if total < 10.0 * lost * row.n * small:
        if squares.itemsize == 4:
            return False
        squares[largest] = top
        for i in range(row.x.shape[0]):
            if row.counts[i] > 0.0 and squares[i] < lost * small:
                squares[i] = difference2(row.a[i], row.x[i], share, row.mean)
        for i in range(row.x.shape[0]):
            if squares[i] > squares[largest]:
                largest = i
        top = squares[largest]
        squares[largest] = 0.0
        total = _sum(squares)
    squares[largest] = top
    apart = 1.0 / max(row.n - 1, 1)
    _rest(squares, real(total + top), real(apart), row.spread)
    # Only the largest can be more than half of the sum: its rest was added up without it.
    row.spread[largest] = max(total - top * apart, 0.0)
    return True


@fused
def _quickly(a, own, onto, norms2, counts, spread, mean2, nu, factor, begin, end):
    real = a.dtype.type
    zero, one, infinite = real(0.0), real(1.0), real(math.inf)
    twice = (nu + nu) * (one + nu)
    grown = (one + nu) * (one + nu)
    shrunk = nu * nu * mean2
    printed, lower, upper = zero, zero, zero
    least_printed, least_lower = as_bits(infinite), as_bits(infinite)
    for i in range(np.uint64(begin), np.uint64(end)):
        q = a[i] + nu
        p2 = q * (q * norms2[i] - (onto[i] + onto[i])) + mean2
        m2 = grown * own[i] - twice * a[i] * onto[i] + shrunk
        p2 = p2 if p2 > zero else zero
        m2 = m2 if m2 > zero else zero
        printed += counts[i] * root(p2)
        lower += counts[i] * root(m2)
        upper += counts[i] * root(m2 + factor * spread[i])
        p2 = p2 if counts[i] > zero else infinite
        m2 = m2 if counts[i] > zero else infinite
        least_printed = min(least_printed, as_bits(p2))
        least_lower = min(least_lower, as_bits(m2))
    return printed, lower, upper, from_ordered(least_printed), from_ordered(least_lower)


@fused
def _printed2(a, onto, norms2, mean2, nu, squares):
    for i in range(a.shape[0]):
        q = a[i] + nu
        squares[i] = q * (q * norms2[i] - (onto[i] + onto[i])) + mean2


@fused
def _lower2(a, own, onto, shrunk, grown, twice, squares):
    for i in range(a.shape[0]):
        squares[i] = grown * own[i] - twice * a[i] * onto[i] + shrunk


@fused
def _widened(squares, spread, factor):
    for i in range(squares.shape[0]):
        squares[i] += factor * spread[i]


@compiled
def _carefully(
    vectors, mean, a, own, onto, norms2, counts, spread, mean2, nu, factor, small, squares
):
    """The three sums over a piece with each lost square from the vectors; how many were lost."""
    real = a.dtype.type
    _printed2(a, onto, norms2, real(mean2), real(nu), squares)
    lost, _ = mend(squares, small, counts, a, nu, 1.0, vectors, 1.0, mean)
    printed = roots(counts, squares)[0]
    grown = 1.0 + nu
    twice = 2.0 * nu * grown
    _lower2(a, own, onto, real(nu * nu * mean2), real(grown * grown), real(twice), squares)
    more, _ = mend(squares, small * nu * nu, counts, a, 0.0, grown, vectors, nu, mean)
    lower = roots(counts, squares)[0]
    _widened(squares, spread, real(factor))
    return printed, lower, roots(counts, squares)[0], lost + more


@compiled
def _alone(x, mean, a, own, onto, norm2, spread, mean2, nu, factor, small):
    """The terms of one key, and how many squares were lost."""
    lost = 0
    q = a + nu
    p2 = q * (q * norm2 - 2.0 * onto) + mean2
    if p2 < small:
        p2 = difference2(q, x, 1.0, mean)
        lost += 1
    grown = 1.0 + nu
    m2 = grown * (grown * own - 2.0 * nu * a * onto) + nu * nu * mean2
    if m2 < small * nu * nu:
        m2 = difference2(grown * a, x, nu, mean)
        lost += 1
    return math.sqrt(p2), math.sqrt(m2), math.sqrt(m2 + factor * spread), lost


@compiled
def expected(
    vectors, mean, mean2, a, own, onto, norms2, counts, spread, n, drawn, heaviest, lost, squares
):
    """E as printed, eq. (24) and the upper side of the sandwich, for `drawn` = N of n keys; and
    how many squares were lost. `squares` is scratch for a piece.

    The key with the largest weight is often nearly all of x̄. It is taken by itself, or most pieces
    would be gone over again for its sake.
    """
    real = a.dtype.type
    nu = drawn / (n - 1.0) if n > 1 else 0.0
    factor = 0.0
    if drawn < n - 1:
        factor = drawn * (n - 1.0 - drawn) / ((n - 1.0) * (n - 2.0))
    small = lost * mean2
    printed, lower, upper, losses = _alone(
        vectors[heaviest], mean, float(a[heaviest]), float(own[heaviest]), float(onto[heaviest]),
        float(norms2[heaviest]), float(spread[heaviest]), mean2, nu, factor, small,
    )  # fmt: skip
    counts[heaviest] = 0.0
    for begin in range(0, a.shape[0], PIECE):
        end = min(begin + PIECE, a.shape[0])
        more, centre, above, least_printed, least_lower = _quickly(
            a, own, onto, norms2, counts, spread, real(mean2), real(nu), real(factor), begin, end
        )
        if least_printed < small or least_lower < small * nu * nu:
            more, centre, above, some = _carefully(
                vectors[begin:end], mean, a[begin:end], own[begin:end], onto[begin:end],
                norms2[begin:end], counts[begin:end], spread[begin:end], mean2, nu, factor, small,
                squares[: end - begin],
            )  # fmt: skip
            losses += some
        printed += more
        lower += centre
        upper += above
    counts[heaviest] = 1.0
    left_out = (n - drawn) / n
    return left_out * printed, left_out * lower, left_out * upper, losses
