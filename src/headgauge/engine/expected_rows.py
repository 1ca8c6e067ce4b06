"""Compiled: the three forms of E (Theorem 1.2) for one row and one N.

Paper → code: α_i → `a`, ‖y_i‖² → `own`, ‖x_i‖² → `norms2`, ⟨x_i, x̄⟩ → `onto`, ‖x̄‖² → `mean2`.
With ν = N/(n − 1) over the n counting keys, from these alone:

    ‖(α_i + ν)x_i − x̄‖² = (α_i + ν)²‖x_i‖² − 2(α_i + ν)⟨x_i, x̄⟩ + ‖x̄‖²
    ‖m_i‖² = (1 + ν)²‖y_i‖² − 2ν(1 + ν)α_i⟨x_i, x̄⟩ + ν²‖x̄‖².

x̄ is formed as a vector first, so both lose digits only where they are small beside ‖x̄‖²; there
they are taken from the vectors.
"""

import math
from typing import no_type_check

import numpy as np

from headgauge.engine.compiling import INFINITE, compiled, fused
from headgauge.engine.selection_rows import CANCELLED, difference2


@compiled
@no_type_check
def spreads(vectors, mean, mean2, a, own, onto, counts, n, squares, spread):
    """V_i up to the factor that depends on N: Σ_{j≠i}‖z_j‖² − ‖z_i‖²/(n − 1), z centred y."""
    share = 1.0 / n
    small = mean2 * share * share
    largest = 0
    total = 0.0
    for i in range(a.shape[0]):
        square = own[i] - 2.0 * share * a[i] * onto[i] + small
        if square < CANCELLED * small:
            square = difference2(a[i], vectors[i], share, mean)
        squares[i] = square if counts[i] > 0.0 else 0.0
        if squares[i] > squares[largest]:
            largest = i
    for i in range(a.shape[0]):
        if i != largest:
            total += squares[i]
    # Only the largest can be more than half of the sum: its rest was added up without it.
    top = squares[largest]
    for i in range(a.shape[0]):
        rest = total if i == largest else total + top - squares[i]
        spread[i] = max(rest - squares[i] / max(n - 1, 1), 0.0)


@fused
@no_type_check
def _quickly(a, own, onto, norms2, counts, spread, mean2, nu, factor):
    twice = 2.0 * nu * (1.0 + nu)
    grown = (1.0 + nu) * (1.0 + nu)
    shrunk = nu * nu * mean2
    printed = 0.0
    lower = 0.0
    upper = 0.0
    least_printed = INFINITE
    least_lower = INFINITE
    for i in range(a.shape[0]):
        q = a[i] + nu
        p2 = q * (q * norms2[i] - 2.0 * onto[i]) + mean2
        m2 = grown * own[i] - twice * a[i] * onto[i] + shrunk
        p2 = p2 if p2 > 0.0 else 0.0
        m2 = m2 if m2 > 0.0 else 0.0
        printed += counts[i] * math.sqrt(p2)
        lower += counts[i] * math.sqrt(m2)
        upper += counts[i] * math.sqrt(m2 + factor * spread[i])
        least_printed = min(least_printed, np.float64(p2).view(np.int64))
        least_lower = min(least_lower, np.float64(m2).view(np.int64))
    least_printed2 = np.int64(least_printed).view(np.float64)
    least_lower2 = np.int64(least_lower).view(np.float64)
    return printed, lower, upper, least_printed2, least_lower2


@compiled
@no_type_check
def _carefully(vectors, mean, a, own, onto, norms2, counts, spread, mean2, nu, factor):
    twice = 2.0 * nu * (1.0 + nu)
    grown = (1.0 + nu) * (1.0 + nu)
    shrunk = nu * nu * mean2
    printed = 0.0
    lower = 0.0
    upper = 0.0
    for i in range(a.shape[0]):
        if counts[i] == 0.0:
            continue
        q = a[i] + nu
        p2 = q * (q * norms2[i] - 2.0 * onto[i]) + mean2
        if p2 < CANCELLED * mean2:
            p2 = difference2(q, vectors[i], 1.0, mean)
        m2 = grown * own[i] - twice * a[i] * onto[i] + shrunk
        if m2 < CANCELLED * shrunk:
            m2 = difference2((1.0 + nu) * a[i], vectors[i], nu, mean)
        printed += math.sqrt(p2)
        lower += math.sqrt(m2)
        upper += math.sqrt(m2 + factor * spread[i])
    return printed, lower, upper


@compiled
@no_type_check
def expected(vectors, mean, mean2, a, own, onto, norms2, counts, spread, n, drawn):
    """E as printed, eq. (24) and the upper side of the sandwich, for `drawn` = N of n keys."""
    nu = drawn / (n - 1.0) if n > 1 else 0.0
    factor = 0.0
    if drawn < n - 1:
        factor = drawn * (n - 1.0 - drawn) / ((n - 1.0) * (n - 2.0))
    printed, lower, upper, least_printed, least_lower = _quickly(
        a, own, onto, norms2, counts, spread, mean2, nu, factor
    )
    if least_printed < CANCELLED * mean2 or least_lower < CANCELLED * nu * nu * mean2:
        printed, lower, upper = _carefully(
            vectors, mean, a, own, onto, norms2, counts, spread, mean2, nu, factor
        )
    left_out = (n - drawn) / n
    return left_out * printed, left_out * lower, left_out * upper
