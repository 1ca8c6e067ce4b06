"""Compiled: N_s and the ξ bounds of Theorem 2 for one row and one N.

Paper → code: r → `radius`, ξ_i² = M²Σ_{j≠i}α_j² + (M² − δ²/2)[(Σ_{j≠i}α_j)² − Σ_{j≠i}α_j²]. Whether
‖y_i − s‖ ≤ r is asked of h_i = ‖y_i‖² − 2α_i⟨x_i, s⟩ and the least h of the others: ‖s‖², which is
common to both, would take the digits of small weights with it.
"""

import math
from typing import no_type_check

from headgauge.engine.compiling import compiled
from headgauge.engine.separation_rows import difference2
from headgauge.theory.normalization.separability import GUARD

# What rounding can move ‖y_i − s‖² and r² apart, in units of the squares they were made of: in
# float64, theory's own rounding included.
ROUNDING = 1e-12
_SINGLE = 2.0**-24


@compiled
@no_type_check
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
@no_type_check
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
@no_type_check
def _exact_radius2(vectors, a, own, c, left, s, edge):
    """r² in float64, from the unselected keys with h ≤ edge."""
    least = math.inf
    for i in range(vectors.shape[0]):
        if left[i] > 0.0 and own[i] - 2.0 * float(a[i]) * c[i] <= edge:
            least = min(least, difference2(float(a[i]), vectors[i], 1.0, s))
    return least


@compiled
@no_type_check
def inside(
    vectors, a, own, c, left, s, context2, reach, radius2, longest2, chosen, places, own_b, h_b
):
    """(N_s, how it was told: 0 as it came, 1 from the vectors, 2 not to be told but by theory).

    own_b and h_b are scratch, one number for each rank.
    """
    radius = math.sqrt(radius2)
    if chosen == 1 or radius == math.inf:
        return chosen, 0
    length = math.sqrt(context2)
    told = 0
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
            return count, 0
        told = 1
        edge = least + 3.0 * noise * longest * (2.0 * reach + longest)
        radius = math.sqrt(_exact_radius2(vectors, a, own, c, left, s, edge))
        for b in range(chosen):
            i = places[b]
            h_b[b] = difference2(float(a[i]), vectors[i], 1.0, s)
    else:
        for b in range(chosen):
            h_b[b] += context2
    count, certain = _counted(own_b, h_b, length, reach, radius, chosen)
    return count, told if certain else 2


@compiled
@no_type_check
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
