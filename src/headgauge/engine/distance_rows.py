"""Compiled: what one row's unselected keys say about s: d̃, r and the bounds of Theorem 1.1.

Paper → code: ⟨x_i, s⟩ → `c`, ‖s‖² → `context2`, ᾱ → `mass`, i ∉ I → `left` (1 or 0). Then
‖y_i − s‖² = ‖y_i‖² − 2α_i⟨x_i, s⟩ + ‖s‖², and ‖x_i − s/ᾱ‖² = ‖x_i‖² − 2⟨x_i, s⟩/ᾱ + ‖s‖²/ᾱ².
Both are wrong by about 1e-15 R² with R = Σ_{j∈I}‖y_j‖ (`reach`), because c was added up term by
term; what is small beside R² is taken from the vectors.
"""

import math
from typing import no_type_check

import numpy as np

from headgauge.engine.compiling import INFINITE, compiled, fused
from headgauge.engine.selection_rows import CANCELLED, difference2


@fused
@no_type_check
def advance(gram_row, weight, norm2, c, outer):
    """c += α_j⟨x_j, ·⟩ for the next selected j; the largest ‖x_i − x_j‖² on the way.

    `outer` is ‖x_i‖² for the keys that no asked N selects, −∞ for the others.
    """
    far = np.int64(0)
    for i in range(c.shape[0]):
        product = gram_row[i]
        c[i] += weight * product
        apart = outer[i] + norm2 - 2.0 * product
        apart = apart if apart > 0.0 else 0.0
        far = max(far, np.float64(apart).view(np.int64))
    return np.int64(far).view(np.float64)


@compiled
@no_type_check
def farthest2(vectors, norms2, outer, j, squared, largest2):
    """max ‖x_i − x_j‖² over the outer keys: what `advance` found, unless its digits are lost."""
    if squared < CANCELLED * (norms2[j] + largest2):
        squared = 0.0
        for i in range(outer.shape[0]):
            if outer[i] >= 0.0:
                squared = max(squared, difference2(1.0, vectors[i], 1.0, vectors[j]))
    return squared


@compiled
@no_type_check
def crossing2(vectors, gram_row, norms2, places, chosen, size, reached):
    """max ‖x_i − x_j‖² with i among the ranks after `chosen`, j among those up to it.

    `reached[e]` is the largest so far for the key of rank e; one more selected key updates it.
    """
    best = 0.0
    j = places[chosen - 1]
    for e in range(chosen, size):
        i = places[e]
        both = norms2[j] + norms2[i]
        squared = both - 2.0 * gram_row[i]
        if squared < CANCELLED * both:
            squared = difference2(1.0, vectors[i], 1.0, vectors[j])
        reached[e] = max(reached[e], squared)
        best = max(best, reached[e])
    return best


@fused
@no_type_check
def _quickly(a, own, c, norms2, left, context2, inverse):
    centroid2 = context2 * inverse * inverse
    total = 0.0
    squares = 0.0
    away = 0.0
    least = INFINITE
    closest = INFINITE
    for i in range(a.shape[0]):
        u = own[i] - 2.0 * a[i] * c[i] + context2
        u = u if u > 0.0 else 0.0
        v = norms2[i] - 2.0 * inverse * c[i] + centroid2
        v = v if v > 0.0 else 0.0
        total += left[i] * math.sqrt(u)
        squares += left[i] * u
        away += left[i] * a[i] * math.sqrt(v)
        # A selected key must not be the nearest one.
        u = u if left[i] > 0.0 else math.inf
        v = v if left[i] * a[i] > 0.0 else math.inf
        least = min(least, np.float64(u).view(np.int64))
        closest = min(closest, np.float64(v).view(np.int64))
    least2 = np.int64(least).view(np.float64)
    closest2 = np.int64(closest).view(np.float64)
    return total, squares, away, least2, closest2


@compiled
@no_type_check
def _carefully(vectors, a, own, c, norms2, left, context, context2, inverse, small, reach2):
    centroid2 = context2 * inverse * inverse
    total = 0.0
    squares = 0.0
    away = 0.0
    least = math.inf
    for i in range(a.shape[0]):
        if left[i] == 0.0:
            continue
        u = own[i] - 2.0 * a[i] * c[i] + context2
        if u < CANCELLED * reach2:
            u = difference2(a[i], vectors[i], 1.0, context)
        total += math.sqrt(u)
        squares += u
        least = min(least, u)
        if a[i] > 0.0:
            v = norms2[i] - 2.0 * inverse * c[i] + centroid2
            if v < small:
                v = difference2(1.0, vectors[i], inverse, context)
            away += a[i] * math.sqrt(v)
    return total, squares, away, least


@compiled
@no_type_check
def outside(vectors, a, own, c, norms2, left, context2, mass, reach, chosen, values, places, s):
    """(d̃, Σ‖y_i − s‖², r², Σα_i‖x_i − s/ᾱ‖) over the unselected keys.

    `s` is scratch: the context vector is formed only where digits were lost.
    """
    inverse = 1.0 / mass if mass > 0.0 else 0.0
    reach2 = reach * reach
    small = CANCELLED * reach2 * inverse * inverse
    total, squares, away, least, closest = _quickly(a, own, c, norms2, left, context2, inverse)
    if least < CANCELLED * reach2 or closest < small:
        context(vectors, chosen, values, places, s)
        total, squares, away, least = _carefully(
            vectors, a, own, c, norms2, left, s, context2, inverse, small, reach2
        )
    return total, squares, least, away


@compiled
@no_type_check
def context(vectors, chosen, values, places, s):
    """s itself."""
    s[:] = 0.0
    for b in range(chosen):
        for t in range(s.shape[0]):
            s[t] += values[b] * vectors[places[b], t]


@compiled
@no_type_check
def sandwich_lower2(
    vectors, context2, with_mean, mean, mean2, n_left, reach, chosen, values, places, s
):
    """‖(n + 1)s − x̄‖² = ‖Σ_{i∉I}(s − y_i)‖² for n unselected keys."""
    times = n_left + 1.0
    squared = times * times * context2 - 2.0 * times * with_mean + mean2
    if squared < CANCELLED * (times * reach) ** 2:
        context(vectors, chosen, values, places, s)
        squared = difference2(times, s, 1.0, mean)
    return squared
