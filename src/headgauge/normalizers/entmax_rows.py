"""Compiled rows for α-entmax on the CPU.

With d_i = z_i − max z and ε = α − 1, the weights are p_i = [1 + ε(d_i − t)]₊^{1/ε} for the one
t ≥ 0 at which they sum to 1 (t is log Σ exp d for α → 1). Only keys with d > −1/ε can have
weight, on a usual row a small part, and Newton's iteration touches those alone. It runs on
(Σp)^ε − 1, the distance of a norm of the row from 1: convex and falling in t like Σp − 1 itself,
hence approached from the left without overshooting, but straight for equal logits and for α → 1
where Σp − 1 needs log n steps.
"""

import math
from collections.abc import Callable
from typing import Any, no_type_check

import numpy as np

try:
    import numba
except ImportError:  # the torch versions serve
    numba = None


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """numba's compiler, or nothing where it is missing.

    `no_type_check` below every use keeps the tests' shape checker from wrapping the function
    before numba has read it.
    """
    if numba is None:
        return function
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # nowhere to keep the compiled code: compile once per process
        return numba.njit(nogil=True)(function)


@compiled
@no_type_check
def _find_candidates(z, hidden, reach, values, places):
    """Visible keys less than `reach` below the largest, as (z − max, index); how many.

    −1 where the row contains a NaN or +inf, for which no weights exist.
    """
    top = -math.inf
    for k in range(z.shape[0]):
        # Written so that a NaN gets in: one comparison tells the two rare cases from the usual.
        if not z[k] <= top and not hidden[k]:
            if z[k] != z[k]:
                return -1
            top = z[k]
    if top == math.inf:
        return -1
    count = 0
    for k in range(z.shape[0]):
        below = np.float64(z[k]) - top
        if below > -reach and not hidden[k]:
            values[count] = below
            places[count] = k
            count += 1
    return count


@compiled
@no_type_check
def _weight(below, t, epsilon):
    """p and p^{2−α} of one key (0, 0 outside the support)."""
    y = epsilon * (below - t)
    u = 1.0 + y
    if u <= 0.0:
        return 0.0, 0.0
    if epsilon == 1.0:
        return u, 1.0
    if epsilon == 0.5:
        return u * u, u
    if epsilon == 0.0:
        p = math.exp(below - t)
        return p, p
    p = math.exp(math.log1p(y) / epsilon)
    return p, p / u


@compiled
@no_type_check
def _solve(values, places, count, epsilon, tolerance):
    """t, and how many candidates are left once those without weight are dropped."""
    t = 0.0
    while True:
        total = 0.0
        spread = 0.0
        left = 0
        for j in range(count):
            p, s = _weight(values[j], t, epsilon)
            # Moving t up never brings a key back.
            if p > 0.0:
                total += p
                spread += s
                values[left] = values[j]
                places[left] = places[j]
                left += 1
        count = left
        if not total - 1.0 > tolerance:
            return t, count
        if epsilon == 0.0:
            step = math.log(total)
        else:
            step = -math.expm1(-epsilon * math.log(total)) / epsilon
        moved = t + step * total / spread
        if not moved > t:
            return t, count
        t = moved


@compiled
@no_type_check
def forward(scores, hidden, hidden_row, alpha, tolerance, weights, start, stop):
    keys = scores.shape[1]
    values = np.empty(keys, np.float64)
    places = np.empty(keys, np.int64)
    for row in range(start, stop):
        epsilon = alpha[row % alpha.shape[0]] - 1.0
        reach = 1.0 / epsilon if epsilon > 0.0 else math.inf
        hide = hidden[hidden_row[row]]
        count = _find_candidates(scores[row], hide, reach, values, places)
        if count < 0:
            for k in range(keys):
                weights[row, k] = 0.0 if hide[k] else math.nan
            continue
        t, count = _solve(values, places, count, epsilon, tolerance)
        for j in range(count):
            p, _ = _weight(values[j], t, epsilon)
            weights[row, places[j]] = p


@compiled
@no_type_check
def _curvature(v):
    """(e^v − 1 − v)/v², by its series where the numerator would cancel."""
    if v > 0.5:
        return (math.expm1(v) - v) / (v * v)
    term = 0.5
    result = 0.5
    for k in range(3, 16):
        term *= v / k
        result += term
    return result


@compiled
@no_type_check
def backward(weights, gradient, alpha, to_scores, to_alpha, start, stop):
    keys = weights.shape[1]
    values = np.empty(keys, np.float64)
    places = np.empty(keys, np.int64)
    for row in range(start, stop):
        a = alpha[row % alpha.shape[0]]
        total = 0.0
        pulled = 0.0
        count = 0
        for k in range(keys):
            p = np.float64(weights[row, k])
            if p != 0.0:  # true for a NaN, which must not vanish here
                if a == 2.0:
                    s = 1.0
                elif a == 1.5:
                    s = math.sqrt(p)
                elif a == 1.0:
                    s = p
                else:
                    s = p ** (2.0 - a)
                values[count] = s
                places[count] = k
                count += 1
                total += s
                pulled += s * gradient[row, k]
        mean = pulled / total if count else 0.0
        for j in range(count):
            to_scores[row, places[j]] = values[j] * (gradient[row, places[j]] - mean)
        if to_alpha.shape[0]:
            change = 0.0
            for j in range(count):
                p = np.float64(weights[row, places[j]])
                logarithm = math.log(p)
                drift = -p * logarithm * logarithm * _curvature((1.0 - a) * logarithm)
                change += drift * (gradient[row, places[j]] - mean)
            to_alpha[row] = change
