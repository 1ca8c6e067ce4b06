"""Compiled: how far the weights of a row move, for `finite_differences`.

`changes`: ‖softmax((l + εv)/T) − softmax(l/T)‖/ε for a list of ε. With p = softmax(l/T), δ the step
of each logit beyond that of the largest weight and e = expm1(δ), the change of the weights is
p(e − S)/(1 + S), S = Σ p e: nothing in it cancels. Steps of many units, where e would overflow, are
taken by softmax itself.

`mean_over_directions`: E‖∇α v‖ over random directions, exactly (`theory.finite_difference`).
"""

import math

import numpy as np

from headgauge.engine.exponential_rows import exp_of_minus, expm1
from headgauge.kernels import literal, summed

_FAR = 30.0  # of δ: beyond it nothing small is left to protect
_LOW, _HIGH = math.log(1e-3), math.log(1e4)  # beyond them the integrand is e^{±t} to 1e-6
_FACTORS = 32  # each below 1e9: their product stays in range
_NEGLIGIBLE = 1e-10  # of ‖C‖_F: keys that add up to less change the mean by no more than that


@summed
def _near(p, relative, step, moved):
    """The norm of the change, for keys that have weight."""
    total = 0.0
    for j in range(p.shape[0]):
        moved[j] = expm1(relative[j] * step)
        total += p[j] * moved[j]
    squares = 0.0
    for j in range(p.shape[0]):
        change = p[j] * (moved[j] - total)
        squares += change * change
    return math.sqrt(squares) / (1.0 + total)


@summed
def _far(p, scores, direction, inverse, epsilon, moved):
    """The same by softmax, for all keys that are seen; `inverse` is 1/T."""
    highest = -math.inf
    for j in range(p.shape[0]):
        moved[j] = (scores[j] + epsilon * direction[j]) * inverse
        highest = moved[j] if moved[j] > highest else highest
    total = 0.0
    for j in range(p.shape[0]):
        moved[j] = exp_of_minus(highest - moved[j])
        total += moved[j]
    squares = 0.0
    for j in range(p.shape[0]):
        change = moved[j] / total - p[j]
        squares += change * change
    return math.sqrt(squares)


@summed
def _largest(p):
    """The largest weight, and how many are not 0: a NaN is not, and must not vanish."""
    highest, count = 0.0, 0
    for j in range(p.shape[0]):
        highest = p[j] if p[j] > highest else highest
        count += p[j] != 0.0
    return highest, count


@summed
def _beyond(v, scores, own, relative):
    """The steps beyond the winner's, and the largest of a key that is seen."""
    highest = 0.0
    for j in range(v.shape[0]):
        relative[j] = v[j] - own
        seen = relative[j] if scores[j] > -math.inf else 0.0
        highest = seen if seen > highest else highest
    return highest


@literal
def changes(weights, scores, directions, temperatures, epsilons, out, start, stop):
    """out (rows, ε). Row r of `weights` is at temperature r // S and of query r % S, with S the
    rows of `scores`; `directions` has a row for each or one per query. −inf is a key not seen."""
    queries = scores.shape[0]
    shared = directions.shape[0] == queries
    moved = np.empty(weights.shape[1])
    kept, relative = np.empty_like(moved), np.empty_like(moved)
    for row in range(start, stop):
        query = row % queries
        temperature = temperatures[row // queries]
        p, v = weights[row], directions[query if shared else row]
        top, count = _largest(p)
        winner = 0
        while winner + 1 < p.shape[0] and p[winner] != top:
            winner += 1
        highest = _beyond(v, scores[query], v[winner], relative)
        heavy = p
        if 2 * count < p.shape[0]:  # cold: most keys have no weight at all
            heavy, count = kept, 0
            for j in range(p.shape[0]):
                if p[j] != 0.0:
                    kept[count], relative[count] = p[j], relative[j]
                    count += 1
        else:
            count = p.shape[0]
        for at in range(epsilons.shape[0]):
            step = epsilons[at] / temperature
            if highest * step > _FAR:
                change = _far(p, scores[query], v, 1.0 / temperature, epsilons[at], moved)
            else:
                change = _near(heavy[:count], relative[:count], step, moved)
            out[row, at] = change / epsilons[at]


@summed
def _size(rest, first):
    """1 − p₁ as the sum of the rest, and ‖C‖_F from terms that do not cancel."""
    q = 0.0
    for j in range(rest.shape[0]):
        q += rest[j]
    if q <= 0.0:
        return 0.0
    own, shares, squares = 0.0, 0.0, 0.0
    for j in range(rest.shape[0]):
        squares += rest[j] * rest[j]
    pairs = 0.0
    for j in range(rest.shape[0]):
        share = rest[j] / q
        share *= share
        complement = first + q - rest[j]
        own += share * complement * complement
        shares += share
        pairs += share * (squares - rest[j] * rest[j])
    return q * math.sqrt(first * first + own + 2.0 * first * first * shares + pairs)


@summed
def _parts(rest, shares, first, u, begin, end):
    """Re w and Im w of the determinant, and Π(1 + θ²p²), over some keys."""
    real, imaginary, product = 0.0, 0.0, 1.0
    for j in range(np.uint64(begin), np.uint64(end)):
        scaled = u * shares[j]
        factor = 1.0 + scaled * scaled
        damped = scaled * (first - rest[j]) / factor
        real += scaled * damped
        imaginary += damped
        product *= factor
    return real, imaginary, product


@literal
def _log_det(rest, shares, first, u):
    """log det(I + θ²C²), a logarithm for as many factors as cannot overflow."""
    total, real, imaginary = 0.0, 0.0, 0.0
    for begin in range(0, rest.shape[0], _FACTORS):
        end = min(begin + _FACTORS, rest.shape[0])
        more, turned, product = _parts(rest, shares, first, u, begin, end)
        real += more
        imaginary += turned
        total += math.log(product)
    return total + math.log1p(2.0 * real + real * real + imaginary * imaginary)


@literal
def mean_over_directions(weights, nodes, out, start, stop):
    """E‖C z‖ for a normal vector z, for rows that sum to one."""
    step = (_HIGH - _LOW) / (nodes - 1)
    rest = np.empty(weights.shape[1])
    shares = np.empty_like(rest)  # of ‖C‖_F: θ itself overflows next to a one-hot row
    for row in range(start, stop):
        p = weights[row]
        at = 0
        for j in range(1, p.shape[0]):
            if p[j] > p[at]:
                at = j
        first = p[at]
        count = 0
        for j in range(p.shape[0]):
            if j != at and p[j] != 0.0:  # true for a NaN, which must not vanish here
                rest[count] = p[j]
                count += 1
        unit = _size(rest[:count], first)
        if unit == 0.0:
            out[row] = 0.0 * first
            continue
        cut = _NEGLIGIBLE * unit / max(count, 1)
        kept = 0
        for j in range(count):
            if rest[j] > cut:
                rest[kept] = rest[j]
                shares[kept] = rest[j] / unit
                kept += 1
        total = 0.0
        for node in range(nodes):
            log_u = _LOW + node * step
            u = math.exp(log_u)
            log_det = _log_det(rest[:kept], shares[:kept], first, u)
            value = -math.expm1(-0.5 * log_det) * math.exp(-log_u)
            total += value
            if node == 0 or node == nodes - 1:
                total += value / math.expm1(step)
        out[row] = math.sqrt(2.0 / math.pi) * step * total * unit
