"""Compiled: the measures of a row that need no N."""

import math
from typing import no_type_check

import numpy as np

from headgauge.engine.compiling import compiled, fused

_EPSILON = float(np.finfo(np.float64).eps)


@fused
@no_type_check
def _secular(weights, first, second, nu, missing):
    """Σ p_i ν/(ν + δ_i) and its slope over all keys and the missing mass, ν > 0.

    The largest weight is among the keys here, with 0 as its weight's share (see `_eigenvalue`).
    """
    total = missing * (nu / (nu + second))
    slope = (missing / (nu + second)) * (second / (nu + second))
    for i in range(weights.shape[0]):
        p = weights[i]
        offset = second - p
        offset = offset if offset > 0.0 else 0.0
        share = 1.0 / (nu + offset)
        total += p * (nu * share)
        slope += (p * share) * (offset * share)
    # The largest key has offset 0 and came in with its whole weight.
    return total - first, slope


@compiled
@no_type_check
def _secular_sharp(weights, largest, second, nu, missing):
    """The same with the largest left out key by key, where subtracting it would lose digits."""
    total = 0.0
    slope = 0.0
    for i in range(weights.shape[0] + 1):
        if i == largest:
            continue
        p = weights[i] if i < weights.shape[0] else missing
        offset = second - weights[i] if i < weights.shape[0] else second
        if offset > 0.0:
            total += p * (nu / (nu + offset))
            slope += (p / (nu + offset)) * (offset / (nu + offset))
        else:
            total += p  # ν/(ν + 0) is 1, also in the limit ν → 0
    return total, slope


@compiled
@no_type_check
def _eigenvalue(weights, missing):
    """λ₁ of diag(p) − ppᵀ: `theory.sensitivity.solve_secular` for one row."""
    largest = 0
    for i in range(weights.shape[0]):
        if weights[i] > weights[largest]:
            largest = i
    first = weights[largest]
    second = 0.0
    rest = missing
    for i in range(weights.shape[0]):
        if i != largest:
            second = max(second, weights[i])
            rest += weights[i]
    if rest == missing and second == 0.0:
        return first * missing
    gap = first - second
    start = (2.0 * first * rest - second) * (1.0 + 8.0 * _EPSILON)
    nu = min(gap, max(start, 0.0))
    for _ in range(100):
        if nu > 0.0 and first < 0.5:
            total, slope = _secular(weights, first, second, nu, missing)
        else:
            total, slope = _secular_sharp(weights, largest, second, nu, missing)
        derivative = -total + (gap - nu) * slope - first
        step = ((gap - nu) * total - first * nu) / derivative if derivative < 0.0 else 0.0
        moved = min(max(nu - step, 0.0), gap)
        done = abs(nu - moved) <= 4.0 * _EPSILON * (nu + second)
        nu = moved
        if done:
            break
    return second + nu


@compiled
@no_type_check
def concentration(weights, alive, out, start, stop):
    """out[:, row] = entropy, ‖∇α‖₂; rows without a visible key stay as they are."""
    for row in range(start, stop):
        if not alive[row]:
            continue
        entropy = 0.0
        total = 0.0
        positive = True
        for p in weights[row]:
            total += p
            if p > 0.0:
                entropy -= p * math.log(p)
            elif p != 0.0:  # negative or NaN
                positive = False
        out[0, row] = entropy if positive else math.nan
        missing = 0.0 if abs(total - 1.0) <= 1e-5 else 1.0 - total
        if positive and missing >= 0.0:
            out[1, row] = _eigenvalue(weights[row], missing)


@compiled
@no_type_check
def critical(ordered, alive, out, start, stop):
    """Λ of rows whose negated logits are sorted: sup_k log k/gap_k."""
    keys = ordered.shape[1]
    logs = np.log(np.arange(1.0, keys + 1.0))
    for row in range(start, stop):
        if not alive[row]:
            continue
        best = 0.0
        low = np.float64(ordered[row, 0])
        for k in range(1, keys):
            gap = ordered[row, k] - low
            if gap == 0.0:
                best = math.inf
            elif gap > 0.0:
                best = max(best, logs[k] / gap)
            else:  # NaN, from a NaN logit or two infinite ones
                best = math.nan
                break
        out[row] = best
