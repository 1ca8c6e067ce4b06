"""Compiled: steps of Runge and Kutta's for gaps under softmax, in single precision.

The field is that of `inner_products`. A state is read as it lies: row i of its gaps begins at i·n,
its radii stand behind them. Some rows of W meet all of D at a time, by tiles; W is made where it is
needed and kept nowhere.
"""

import math

import numpy as np

from headgauge.kernels import compiled, literal, summed
from headgauge.particles.tile_rows import HIGH, NARROW, WIDE, narrow, wide
from headgauge.theory.dynamics.schemes import TINY

ROWS = 16  # of W that share a pass over D, which then stays near
LINE = 16  # numbers of a cache line
_PIECE = 4096  # numbers of a state that are added up at once
_MAGNITUDE = np.int32(0x7FFFFFFF)  # the bits of a number but for its sign
_MOST = np.float32(87.0)  # e^−x is a number of single precision up to here
_PER_LN2 = np.float32(1.44269504)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)


@literal
def _exp_of_minus(t):
    """e^−t for t ≥ 0 to the last bit or two, without a call: 2^−k e^y by a series for e^y."""
    near = _MOST if t > _MOST else t
    k = np.int32(near * _PER_LN2 + np.float32(0.5))
    whole = np.float32(k)
    y = (whole * _LN2_HIGH - near) + whole * _LN2_LOW
    p = np.float32(1.9875691500e-4)
    p = p * y + np.float32(1.3981999507e-3)
    p = p * y + np.float32(8.3334519073e-3)
    p = p * y + np.float32(4.1665795894e-2)
    p = p * y + np.float32(1.6666665459e-1)
    p = p * y + np.float32(5.0000001201e-1)
    power = np.int32(np.int32(127 - k) << 23).view(np.float32)
    return power * (p * (y * y) + (y + np.float32(1.0)))


@summed
def _weigh(gaps, beta, weights):
    """e^−βD of a row, which has a gap of 0; their sum."""
    total = np.float32(0.0)
    for j in range(gaps.shape[0]):
        weight = _exp_of_minus(beta * gaps[j])
        weights[j] = weight
        total += weight
    return total


@summed
def _meet_last(weights, gaps, met, begin):
    """met = weights · D from the column `begin` on."""
    for r in range(met.shape[0]):
        for j in range(begin, gaps.shape[1]):
            total = np.float32(0.0)
            for k in range(gaps.shape[0]):
                total += weights[r, k] * gaps[k, j]
            met[r, j] = total


@compiled
def _meet(weights, gaps, met):
    """met = weights · D: where a tile fits, by tiles."""
    n, j = gaps.shape[1], 0
    while j + WIDE <= n:
        for r in range(0, ROWS, HIGH):
            wide(weights, gaps, met, r, j)
        j += WIDE
    while j + NARROW <= n:
        for r in range(0, ROWS, HIGH):
            narrow(weights, gaps, met, r, j)
        j += NARROW
    if j < n:
        _meet_last(weights, gaps, met, j)


@summed
def _spread(weights, met):
    total = np.float32(0.0)
    for j in range(weights.shape[0]):
        total += weights[j] * met[j]
    return total


@summed
def _halve(met, gaps, pulled, kept, own, half):
    """a_i(E_ij − E_ii) − a_i c_i D_ij of a row; `pulled` is a_i over the sum of its weights."""
    for j in range(half.shape[0]):
        half[j] = pulled * (met[j] - own) - kept * gaps[j]


@compiled
def _attend(gaps, radius, beta, share, divides, grows, weights, met, half, growth):
    """The halves of D', of which it is the sum with its mirror image, and r'."""
    n = half.shape[0]
    for first in range(0, n, ROWS):
        for r in range(ROWS):
            i = min(first + r, n - 1)
            weights[ROWS, r] = _weigh(gaps[i], beta, weights[r, :n])
        _meet(weights, gaps, met)
        for r in range(min(ROWS, n - first)):
            i, unit = first + r, 1.0 / np.float64(weights[ROWS, r])
            own = met[r, i] * unit
            radial, norm2 = 1.0 - own, 1.0 - _spread(weights[r, :n], met[r]) * unit * unit
            gain = share / max(math.sqrt(max(norm2, 0.0)), TINY) if divides else share
            # As `theory.dynamics.schemes.rates`.
            pace = gain / np.float64(radius[i]) if grows else gain
            growth[i] = gain * radial if grows else 0.0
            pulled, kept = np.float32(pace * unit), np.float32(pace * radial)
            _halve(met[r], gaps[i], pulled, kept, met[r, i], half[i, :n])


@summed
def _mirror(half, i, size, out):
    """D' of row i, times `size`."""
    for j in range(np.uint64(out.shape[0])):
        out[j] = size * (half[i, j] + half[j, i])


@compiled
def _field(gaps, radius, beta, gains, weights, met, half, size, out):
    """The field at a state, times `size`."""
    n = half.shape[0]
    growth = out[n * n :]
    share, divides, grows = gains
    _attend(gaps, radius, beta, share, divides, grows, weights, met, half, growth)
    for i in range(n):
        _mirror(half, i, size, out[i * n : i * n + n])
        growth[i] *= size


@summed
def _put(numbers, begin, end, point):
    for m in range(np.uint64(begin), np.uint64(end)):
        point[m] = np.float32(numbers[m])


@summed
def _nothing(begin, end, point):
    for m in range(np.uint64(begin), np.uint64(end)):
        point[m] = np.float32(0.0)


@summed
def _add(share, change, begin, end, point):
    for m in range(np.uint64(begin), np.uint64(end)):
        point[m] += share * change[m]


@compiled
def _combine(row, changes, b, begin, end, point):
    """point += Σ_s row_s · changes_s between two places."""
    for s in range(row.shape[0]):
        if row[s] != 0.0:
            _add(row[s], changes[s, b], begin, end, point)


@summed
def _arrive(before, moved, begin, end, after, point):
    for m in range(np.uint64(begin), np.uint64(end)):
        new = before[m] + np.float64(moved[m])
        after[m] = new
        point[m] = np.float32(new)


@summed
def _scale(numbers, size, out):
    for m in range(out.shape[0]):
        out[m] = size * numbers[m]


@literal
def _largest(numbers, begin, end):
    """max |x|; a NaN is larger than all else, as its bits are."""
    largest = np.int32(0)
    for m in range(np.uint64(begin), np.uint64(end)):
        bits = np.int32(np.float32(numbers[m]).view(np.int32) & _MAGNITUDE)
        largest = np.int32(max(largest, bits))
    return np.float64(np.int32(largest).view(np.float32))


@literal
def _largest_share(numbers, wholes):
    largest = 0.0
    for i in range(numbers.shape[0]):
        share = abs(np.float64(numbers[i]) / np.float64(wholes[i]))
        largest = share if not share <= largest else largest
    return largest


@compiled
def _steps(state, slope, changes, method, size, gains, beta, room, out, which):
    rows, errors = method
    shares, divides, grows = gains
    bases, points, halves, all_weights, all_met = room
    after, slopes, sizes = out
    n, stages = halves.shape[1], rows.shape[0]
    m = state.shape[1]
    for b in range(*which):
        base, point, half, weights, met = bases[b], points[b], halves[b], all_weights[b], all_met[b]
        gaps, radius = point[: n * n].reshape(n, n), point[n * n :]
        _put(state[b], 0, m, base)
        _scale(slope[b], size[b], changes[0, b])
        for stage in range(stages):
            # A piece at a time, which stays near.
            for begin in range(0, m, _PIECE):
                end = min(begin + _PIECE, m)
                if stage < stages - 1:
                    _put(base, begin, end, point)
                    _combine(rows[stage], changes, b, begin, end, point)
                else:
                    _nothing(begin, end, point)
                    _combine(rows[stage], changes, b, begin, end, point)
                    _arrive(state[b], point, begin, end, after[b], point)
            now = shares[stage, b], divides[b], grows[stage, b]
            last = stage == stages - 1
            reached = slopes[b] if last else changes[stage + 1, b]
            unit = np.float32(1.0) if last else size[b]
            _field(gaps, radius, beta[b], now, weights, met, half, unit, reached)
        _scale(slopes[b], size[b], changes[stages, b])
        for begin in range(0, m, _PIECE):
            end = min(begin + _PIECE, m)
            _nothing(begin, end, base)
            _combine(errors, changes, b, begin, end, base)
        sizes[b, 0] = _largest(base, 0, n * n)
        sizes[b, 1] = _largest(point, 0, n * n)
        sizes[b, 2] = _largest_share(base[n * n :], radius)


@compiled
def _within(before, changes, weights, which, order, moved, out, places):
    m = before.shape[1]
    for begin in range(0, m, _PIECE):
        end = min(begin + _PIECE, m)
        for place in range(*places):
            row = order[place]
            b = which[row]
            _nothing(begin, end, moved)
            _combine(weights[row], changes, b, begin, end, moved)
            _arrive(before[b], moved, begin, end, out[row], moved)


@compiled
def within(before, changes, weights, which, order, out, start, stop):
    """out[row] = before[b] + Σ_s weights[row, s] · changes[s, b] with b = which[row], in an order
    by b."""
    moved = np.empty(before.shape[1], np.float32)
    _within(before, changes, weights, which, order, moved, out, (start, stop))


@compiled
def steps(state, slope, changes, method, size, gains, beta, room, out, start, stop):
    """A step of Runge and Kutta's of each trajectory b, from state[b] and the field there.

    `method` is a row of coefficients for the point of each further stage, the last for the step's
    end, and a row for its error; `gains` what multiplies A at each of these points, whether it is
    divided by ‖A‖ and whether the stream grows. Filled are changes[s, b], h times the field of each
    stage, and of `out` the state at the end, the field there, and the largest error of a gap, gap,
    and error of a radius as a share of it. `room` begins where cache lines begin, which what a
    kernel asks for may not.
    """
    _steps(state, slope, changes, method, size, gains, beta, room, out, (start, stop))
