"""Compiled: N_s and the ξ bounds of Theorem 2 for one row and one N.

Paper → code: r → `radius`, ξ_i² = M²Σ_{j≠i}α_j² + (M² − δ²/2)[(Σ_{j≠i}α_j)² − Σ_{j≠i}α_j²].
"""

import math
from typing import no_type_check

from headgauge.engine.compiling import compiled
from headgauge.theory.separability import GUARD

# What rounding can move ‖y_i − s‖² and r² apart, in units of the squares they were made of.
ROUNDING = 1e-12


@compiled
@no_type_check
def inside(own, a, c, context2, reach, radius, chosen, places):
    """(N_s, whether it is certain).

    Uncertain is a key whose distance comes so near r + 1e-9(‖s‖ + ‖y_i‖) that rounding could
    decide; the caller then asks the reference.
    """
    if chosen == 1 or radius == math.inf:
        return chosen, True
    count = 0
    certain = True
    length = math.sqrt(max(context2, 0.0))
    for b in range(chosen):
        i = places[b]
        limit = radius + GUARD * (length + math.sqrt(own[i]))
        gap = own[i] - 2.0 * a[i] * c[i] + context2 - limit * limit
        # r may belong to a key that is much longer than what was selected; r ≥ ‖y_j‖ − ‖s‖.
        doubt = ROUNDING * (own[i] + (reach + radius) ** 2)
        if gap <= 0.0:
            count += 1
        if abs(gap) <= doubt:
            certain = False
    return count, certain


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
