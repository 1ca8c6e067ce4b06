"""Compiled: δ, the smallest distance between keys, and N_s and the ξ bounds of Theorem 2.

Paper → code: r → `radius`, ξ_i² = M²Σ_{j≠i}α_j² + (M² − δ²/2)[(Σ_{j≠i}α_j)² − Σ_{j≠i}α_j²]. Whether
‖y_i − s‖ ≤ r is asked of h_i = ‖y_i‖² − 2α_i⟨x_i, s⟩ and the least h of the others: ‖s‖², which is
common to both, would take the digits of small weights with it.
"""

import math

import numpy as np

from headgauge.engine.bits import from_ordered, ordered
from headgauge.engine.exponential_rows import exp_of_minus
from headgauge.engine.loading_rows import difference2
from headgauge.kernels import compiled, fused
from headgauge.theory.normalization.separability import GUARD

# What rounding can move ‖y_i − s‖² and r² apart, in units of the squares they were made of: in
# float64, theory's own rounding included.
ROUNDING = 1e-12
_SINGLE = 2.0**-24
_SOME = 64  # keys that are looked at together


@fused
def _least(gram_row, norms2, stop):
    """min ‖x_j‖² − 2⟨x_i, x_j⟩ over j < stop."""
    least = ordered(gram_row.dtype.type(math.inf))
    for j in range(stop):
        least = min(least, ordered(norms2[j] - (gram_row[j] + gram_row[j])))
    return from_ordered(least)


@fused
def _within(gram_row, norms2, edge, rounding, begin, end):
    """How many j have ‖x_j‖² − 2⟨x_i, x_j⟩ within rounding of the edge, at most."""
    count = np.int32(0)
    for j in range(np.uint64(begin), np.uint64(end)):
        apart = norms2[j] - (gram_row[j] + gram_row[j])
        count = np.int32(count + np.int32(apart <= edge + rounding * norms2[j]))
    return count


@compiled
def nearest_before(vectors, gram, base, norms2, rounding, places, squares, start, stop):
    """For every key the nearest one before it, and the square of its distance.

    `gram` has the rows from key `base` on. Its products, wrong by `rounding` of the squares, only
    say which keys can be the nearest; those are compared by their vectors.
    """
    real = gram.dtype.type
    for at in range(start, stop):
        i = base + at
        places[i] = -1
        squares[i] = math.inf
        if i == 0:
            continue
        least = float(_least(gram[at], norms2, i))
        own = float(norms2[i])
        edge = least + 2.0 * rounding * (3.0 * own + 2.0 * max(own + least, 0.0))
        wide = edge + rounding * abs(edge)  # so that single precision leaves nobody out
        for begin in range(0, i, _SOME):
            end = min(begin + _SOME, i)
            if not _within(gram[at], norms2, real(wide), real(2.0 * rounding), begin, end):
                continue
            for j in range(begin, end):
                other = float(norms2[j])
                if other - 2.0 * gram[at, j] <= edge + rounding * other:
                    squared = difference2(1.0, vectors[i], 1.0, vectors[j])
                    if squared < squares[i]:
                        squares[i] = squared
                        places[i] = j
            if squares[i] == 0.0:
                break


@compiled
def separation2(row, shared):
    """δ² over the counting keys of a row.

    For a causal row the smallest so far, `running2`. Else keys come in the order of the distance
    to their nearest predecessor, so the first one that counts together with that predecessor ends
    the search.
    """
    first, counts, nearest2 = row.first, row.counts, shared.nearest2
    last = first + row.x.shape[0]
    if first == 0 and row.n == last:
        return shared.running2[last - 1]
    best = math.inf
    for i in shared.order:
        if nearest2[i] >= best:
            break
        if i < first or i >= last or counts[i - first] == 0.0:
            continue
        j = shared.nearest[i]
        if j >= first and counts[j - first] > 0.0:
            best = nearest2[i]
            break
        for j in range(first, i):
            if counts[j - first] > 0.0:
                best = min(best, difference2(1.0, row.x[i - first], 1.0, row.x[j - first]))
    return best


@fused
def _counted(y, distances2, length, reach, radius, chosen):
    """(N_s, how many it is not certain of) from squared distances in float64.

    Uncertain is a key whose distance comes so near r + 1e-9(‖s‖ + ‖y_i‖) that rounding could
    decide; the caller then asks the reference.
    """
    count, uncertain = 0, 0
    for b in range(chosen):
        limit = radius + GUARD * (length + y[b])
        gap = distances2[b] - limit * limit
        # r may belong to a key that is much longer than what was selected; r ≥ ‖y_j‖ − ‖s‖.
        doubt = ROUNDING * (y[b] * y[b] + (reach + radius) * (reach + radius))
        count += gap <= 0.0
        uncertain += abs(gap) <= doubt
    return count, uncertain


@fused
def _roughly_counted(y, h, least, length, reach, radius, longest, noise, chosen):
    """The same from h in single precision, wrong by `noise` of what it was added up from."""
    count, uncertain = 0, 0
    beyond = noise * longest * (2.0 * reach + longest)
    for b in range(chosen):
        guard = GUARD * (length + y[b])
        gap = h[b] - least - guard * (2.0 * radius + guard)
        count += gap <= 0.0
        uncertain += abs(gap) <= beyond + noise * y[b] * (2.0 * reach + y[b])
    return count, uncertain


@compiled
def _exact_radius2(vectors, a, own, c, left, s, edge):
    """r² in float64, from the unselected keys with h ≤ edge."""
    least = math.inf
    for i in range(vectors.shape[0]):
        if left[i] > 0.0 and own[i] - 2.0 * float(a[i]) * c[i] <= edge:
            least = min(least, difference2(float(a[i]), vectors[i], 1.0, s))
    return least


@compiled
def inside(
    vectors, a, own, c, left, s, context2, reach, radius2, longest2, chosen, values, places, y, h
):
    """(N_s, whether it is certain: else only theory can tell).

    `y` has ‖y‖ of every rank; `h` is scratch, one number for each.
    """
    radius = math.sqrt(radius2)
    # All weights zero: every key is where s is.
    if chosen == 1 or radius == math.inf or (radius == 0.0 and reach == 0.0):
        return chosen, True
    length = math.sqrt(context2)
    for b in range(chosen):
        i = places[b]
        h[b] = own[i] - 2.0 * values[b] * c[i]
    if a.itemsize == 4:
        noise = _SINGLE * (chosen + vectors.shape[1] + 8)
        longest = math.sqrt(longest2)
        least = radius2 - context2
        count, uncertain = _roughly_counted(
            y, h, least, length, reach, radius, longest, noise, chosen
        )
        if uncertain == 0:
            return count, True
        edge = least + 3.0 * noise * longest * (2.0 * reach + longest)
        radius = math.sqrt(_exact_radius2(vectors, a, own, c, left, s, edge))
        for b in range(chosen):
            i = places[b]
            h[b] = difference2(values[b], vectors[i], 1.0, s)
    else:
        for b in range(chosen):
            h[b] += context2
    count, uncertain = _counted(y, h, length, reach, radius, chosen)
    return count, uncertain == 0


@fused
def _xi_terms(values, begin, end, others, others2, m2, inner, radius, unit):
    """Of ranks begin…end − 1: Σξ, Σ exp(−(r − ξ)²/16M²), how many ξ ≤ r."""
    total, terms = 0.0, 0.0
    counted = 0
    for b in range(begin, end):
        v = values[b]
        rest = others - v
        rest2 = others2 - v * v
        cross = rest * rest - rest2
        cross = cross if cross > 0.0 else 0.0
        squared = m2 * rest2 + inner * cross
        xi = math.sqrt(squared if squared > 0.0 else 0.0)
        gap = (radius - xi) * (radius - xi) * unit
        total += xi
        terms += exp_of_minus(gap)
        counted += xi <= radius
    return total, terms, counted


@compiled
def xi_bounds(chosen, values, rest, rest2, separation2, sphere, radius):
    """(printed lower, printed upper, counted lower) for the ranks up to `chosen`.

    rest and rest2 are Σα and Σα² over the selected keys without the first, the only one that can
    be more than half of the sum.
    """
    m2 = sphere * sphere
    # A single key has δ = ∞ and no cross term.
    inner = m2 - separation2 / 2.0 if separation2 < math.inf else 0.0
    unit = 1.0 / (16.0 * m2) if m2 > 0.0 else 0.0
    top = values[0]
    total, terms, counted = _xi_terms(
        values, 1, chosen, rest + top, rest2 + top * top, m2, inner, radius, unit
    )
    cross = rest * rest - rest2
    squared = m2 * rest2 + (inner * cross if cross > 0.0 else 0.0)
    xi = math.sqrt(squared) if squared > 0.0 else 0.0
    total += xi
    terms += math.exp(-((radius - xi) ** 2) * unit)
    counted += xi <= radius
    if not m2 > 0.0:
        terms = math.nan
    lower = 1.0
    if total > 0.0:
        lower = -math.inf if radius == 0.0 else 1.0 - total / (radius * chosen)
    return lower, terms / chosen, counted / chosen
