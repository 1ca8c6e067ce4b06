"""Compiled: δ, the smallest distance between keys, and N_s and the ξ bounds of Theorem 2.

Paper → code: r → `radius`, ξ_i² = M²Σ_{j≠i}α_j² + (M² − δ²/2)[(Σ_{j≠i}α_j)² − Σ_{j≠i}α_j²]. Whether
‖y_i − s‖ ≤ r is asked of h_i = ‖y_i‖² − 2α_i⟨x_i, s⟩ and the least h of the others: ‖s‖², which is
common to both, would take the digits of small weights with it.
"""

import math

from headgauge.engine.bits import from_ordered, ordered
from headgauge.engine.loading_rows import difference2
from headgauge.kernels import compiled, fused
from headgauge.theory.normalization.separability import GUARD

# What rounding can move ‖y_i − s‖² and r² apart, in units of the squares they were made of: in
# float64, theory's own rounding included.
ROUNDING = 1e-12
_SINGLE = 2.0**-24


@fused
def _least(gram_row, norms2, stop):
    """min ‖x_j‖² − 2⟨x_i, x_j⟩ over j < stop."""
    least = ordered(gram_row.dtype.type(math.inf))
    for j in range(stop):
        least = min(least, ordered(norms2[j] - (gram_row[j] + gram_row[j])))
    return from_ordered(least)


@compiled
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


@compiled
def _counted(own, distances2, length, reach, radius, chosen):
    """(N_s, whether it is certain) from squared distances in float64.

    Uncertain is a key whose distance comes so near r + 1e-9(‖s‖ + ‖y_i‖) that rounding could
    decide; the caller then asks the reference.
    """
    count = 0
    certain = True
    for b in range(chosen):
        limit = radius + GUARD * (length + math.sqrt(own[b]))
        gap = distances2[b] - limit * limit
        # r may belong to a key that is much longer than what was selected; r ≥ ‖y_j‖ − ‖s‖.
        doubt = ROUNDING * (own[b] + (reach + radius) ** 2)
        if gap <= 0.0:
            count += 1
        if abs(gap) <= doubt:
            certain = False
    return count, certain


@compiled
def _roughly_counted(own, h, least, length, reach, radius, longest, noise, chosen):
    """The same from h in single precision, wrong by `noise` of what it was added up from."""
    count = 0
    certain = True
    beyond = noise * longest * (2.0 * reach + longest)
    for b in range(chosen):
        y = math.sqrt(own[b])
        guard = GUARD * (length + y)
        gap = h[b] - least - guard * (2.0 * radius + guard)
        if gap <= 0.0:
            count += 1
        if abs(gap) <= beyond + noise * y * (2.0 * reach + y):
            certain = False
    return count, certain


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
    vectors, a, own, c, left, s, context2, reach, radius2, longest2, chosen, places, own_b, h_b
):
    """(N_s, whether it is certain: else only theory can tell).

    own_b and h_b are scratch, one number for each rank.
    """
    radius = math.sqrt(radius2)
    # All weights zero: every key is where s is.
    if chosen == 1 or radius == math.inf or (radius == 0.0 and reach == 0.0):
        return chosen, True
    length = math.sqrt(context2)
    for b in range(chosen):
        i = places[b]
        own_b[b] = own[i]
        h_b[b] = own[i] - 2.0 * float(a[i]) * c[i]
    if a.itemsize == 4:
        noise = _SINGLE * (chosen + vectors.shape[1] + 8)
        longest = math.sqrt(longest2)
        least = radius2 - context2
        count, certain = _roughly_counted(
            own_b, h_b, least, length, reach, radius, longest, noise, chosen
        )
        if certain:
            return count, True
        edge = least + 3.0 * noise * longest * (2.0 * reach + longest)
        radius = math.sqrt(_exact_radius2(vectors, a, own, c, left, s, edge))
        for b in range(chosen):
            i = places[b]
            h_b[b] = difference2(float(a[i]), vectors[i], 1.0, s)
    else:
        for b in range(chosen):
            h_b[b] += context2
    return _counted(own_b, h_b, length, reach, radius, chosen)


@compiled
def xi_bounds(chosen, values, rest, rest2, separation2, sphere, radius):
    """(printed lower, printed upper, counted lower) for the ranks up to `chosen`.

    rest and rest2 are Σα and Σα² over the selected keys without the first, the only one that can
    be more than half of the sum.
    """
    m2 = sphere * sphere
    inner = m2 - separation2 / 2.0
    total = 0.0
    terms = 0.0
    counted = 0
    for b in range(chosen):
        v = values[b]
        others = rest if b == 0 else rest + values[0] - v
        others2 = rest2 if b == 0 else rest2 + values[0] * values[0] - v * v
        cross = others * others - others2
        squared = m2 * others2
        # A single key has δ = ∞ and no cross term.
        if cross > 0.0:
            squared += inner * cross
        xi = math.sqrt(squared) if squared > 0.0 else 0.0
        total += xi
        if sphere > 0.0:
            terms += math.exp(-((radius - xi) ** 2) / (16.0 * m2))
        else:
            terms = math.nan
        if xi <= radius:
            counted += 1
    lower = 1.0
    if total > 0.0:
        lower = -math.inf if radius == 0.0 else 1.0 - total / (radius * chosen)
    return lower, terms / chosen, counted / chosen
