"""Compiled: the measures of a row that need no N, from rows of float32 or float64.

Rows are read in their own precision and added up in float64; there is no copy of a matrix.
"""

import math

import numpy as np

from headgauge.engine.bits import as_bits, from_ordered
from headgauge.engine.selection_rows import span_of
from headgauge.engine.sharpness_rows import BUCKETS, critical, largest
from headgauge.kernels import literal, summed

_NAMES = ("entropy", "sink_weight", "jacobian_norm", "max_logit", "critical")
MEASURES = np.dtype([(name, np.float64) for name in _NAMES])

_EPSILON = float(np.finfo(np.float64).eps)
_LEFT = 1e-13  # how far λ₁ may stay from the root, in units of itself
_TINY = float(np.finfo(np.float64).tiny)
_MINUS_ZERO = np.int64(np.float64(-0.0).view(np.int64))
_ONE = 1e-5  # as in theory.selection.sums_to_one
_LN2 = math.log(2.0)
_TO_ROOT_HALF = np.int64(0x3FF0000000000000 - 0x3FE6A09E667F3BCD)


@summed
def _bits(p):
    """The bits of a weight, for weights ≥ 0 in their order; those of −0 are those of 0."""
    bits = np.float64(p).view(np.int64)
    return bits if bits != _MINUS_ZERO else np.int64(0)


@summed
def _log(p):
    """log p for p ≥ 0 to the last bit or two, without a call, so that loops over it stay vectors.

    p = 2^k m with m between √½ and √2, s = (m − 1)/(m + 1) and log m = 2 artanh s, by fdlibm's
    polynomial. Finite at p = 0, where 0·log 0 is to be 0.
    """
    bits = _bits(p)
    k = (((bits + _TO_ROOT_HALF) >> 52) & 0x7FF) - 1023
    f = np.int64(bits - (k << 52)).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    tail = 1.818357216161805012e-01 + z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01)
    tail = 2.857142874366239149e-01 + z * (2.222219843214978396e-01 + z * tail)
    tail = z * (6.666666666666735130e-01 + z * (3.999999999940941908e-01 + z * tail))
    return np.float64(np.int32(k)) * _LN2 + (f - s * (f - tail))


@summed
def _extremes(row):
    """The bits of the smallest and of the largest weight, for weights ≥ 0, as wide as they are."""
    real = row.dtype.type
    nothing, minus = as_bits(real(0.0)), as_bits(real(-0.0))
    lowest, highest = as_bits(real(math.inf)), nothing
    for i in range(row.shape[0]):
        bits = as_bits(row[i])
        bits = bits if bits != minus else nothing
        lowest = min(lowest, bits)
        highest = max(highest, bits)
    return lowest, highest


@summed
def _second(row, highest):
    """The bits of the largest weight below the largest, and how many weights are the largest."""
    nothing = as_bits(row.dtype.type(0.0))
    second, ties = nothing, 0
    for i in range(row.shape[0]):
        bits = as_bits(row[i])
        second = max(second, bits if bits < highest else nothing)
        ties += bits == highest
    return second, ties


@summed
def _sums(row, second, unit):
    """−Σ p log p, Σ p; and over p < p₂: Σ p, Σ p(p₂ − p)/p₂; and how many p are p₂."""
    entropy, total, mass, moment = 0.0, 0.0, 0.0, 0.0
    ties = 0
    for i in range(row.shape[0]):
        p = np.float64(row[i])
        entropy -= p * _log(p)
        total += p
        ties += p == second
        other = p if p < second else 0.0
        mass += other
        moment += other * ((second - other) * unit)
    return entropy, total, mass, moment, ties


@summed
def _poles(row, second, nu):
    """Σ p/(ν + δ) and Σ p/(ν + δ)² over p < p₂, δ = p₂ − p, with ν and δ in units of p₂."""
    unit = 1.0 / second
    value, slope = 0.0, 0.0
    for i in range(row.shape[0]):
        p = np.float64(row[i])
        p = p if p < second else 0.0
        share = 1.0 / (nu + (second - p) * unit)
        value += p * share
        slope += (p * share) * share
    return value, slope


@literal
def _two_poles(p1, p2, gap, ties, mass, offset):
    """The root ν of p₁/(g − ν) = t p₂/ν + a/(ν + d), with ν and d = `offset` in units of p₂.

    In these units it is (p₁ + t p₂ + a)ν² + ((p₁ + t p₂)d − g(t + a/p₂))ν = g t d.
    """
    heavy = p1 + ties * p2
    scale = ties + mass / p2
    a = (heavy + mass) / scale
    b = heavy * offset / scale - gap
    c = gap * ties * offset / scale
    root = math.sqrt(b * b + 4.0 * a * c)
    return 2.0 * c / (b + root) if b > 0.0 else (root - b) / (2.0 * a)


@literal
def _eigenvalue(row, p1, p2, ties, mass, moment, missing):
    """λ₁ of diag(p) − ppᵀ, the zero of Σ p_i/(p_i − λ) between p₂ and p₁.

    With λ = p₂ + ν and δ_i = p₂ − p_i it solves p₁/(p₁ − p₂ − ν) = t p₂/ν + r(ν), where t weights
    are p₂ and r(ν) = Σ p_i/(ν + δ_i) over those below. Each step puts a/(ν + d) with r's value and
    slope at the present ν in r's place; the first, all their mass at its mean offset. 1/r is
    concave, so r is never below its stand-in and no step passes the root; the stand-in is closer
    than a tangent, so what a step of h leaves is below h²/ν. Two passes are usual.
    """
    gap = p1 - p2
    mass += missing
    moment += missing
    if mass <= 0.0:
        return p2 * (1.0 + _two_poles(p1, p2, gap, ties, 0.0, 0.0))
    nu = _two_poles(p1, p2, gap, ties, mass, moment / mass)
    for _ in range(100):
        value, slope = _poles(row, p2, nu)
        hidden = missing / (nu + 1.0)
        value += hidden
        slope += hidden / (nu + 1.0)
        if not slope > 0.0:
            break
        offset = max(value / slope - nu, 0.0)
        moved = _two_poles(p1, p2, gap, ties, value * (value / slope), offset)
        step = moved - nu
        done = step * step <= _LEFT * nu * (1.0 + nu) or abs(step) <= 4.0 * _EPSILON
        nu = moved
        if done:
            break
    return p2 * (1.0 + nu)


@literal
def _concentration(row):
    """Entropy and ‖∇α‖₂ of a row; NaN where they mean nothing."""
    lowest, highest = _extremes(row)
    # A negative weight, or NaN.
    if lowest < 0 or highest > as_bits(row.dtype.type(math.inf)):
        return math.nan, math.nan
    below, equal = _second(row, highest)
    p1, p2 = np.float64(from_ordered(highest)), np.float64(from_ordered(below))
    entropy, total, mass, moment, ties = _sums(row, p2, 1.0 / p2 if p2 >= _TINY else 0.0)
    missing = 0.0 if abs(total - 1.0) <= _ONE else 1.0 - total
    if not missing >= 0.0:
        return entropy, math.nan
    if equal > 1:
        return entropy, p1
    if p2 < _TINY:
        return entropy, p1 * missing
    return entropy, _eigenvalue(row, p1, p2, ties, mass, moment, missing)


@literal
def _gather(row, seen, first, last, kept):
    """The visible entries side by side; how many there are."""
    size = 0
    for i in range(first, last):
        if seen[i]:
            kept[size] = row[i]
            size += 1
    return size


@literal
def measure(visible, weights, logits, uncapped, logs, out, start, stop):
    """Fill out[row]; rows without a visible key stay as they are.

    `logits` and `uncapped` have no rows where there are none; without `uncapped` the largest logit
    is that of `logits`. logs[k] = log(k + 1).
    """
    keys = weights.shape[1]
    gaps, kept = np.empty(keys + 1), np.empty(keys + 1)
    places, table = np.empty(keys + 1, np.int32), np.empty((4, BUCKETS + 1), np.int64)
    few = np.empty(keys, weights.dtype)
    room = gaps, kept, places, table
    _rows(visible, weights, logits, uncapped, logs, few, room, out, (start, stop))


@literal
def _rows(visible, weights, logits, uncapped, logs, few, room, out, which):
    gaps, kept, places, table = room
    for row in range(*which):
        seen = visible[row % visible.shape[0]]
        first, last, count = span_of(seen)
        if count == 0:
            continue
        found = out[row]
        found["sink_weight"] = weights[row, 0] if seen[0] else 0.0
        whole = count == last - first
        size = 0 if whole else _gather(weights[row], seen, first, last, few)
        entries = weights[row, first:last] if whole else few[:size]
        found["entropy"], found["jacobian_norm"] = _concentration(entries)
        if len(logits):
            size = 0 if whole else _gather(logits[row], seen, first, last, few)
            entries = logits[row, first:last] if whole else few[:size]
            top = largest(entries)
            found["max_logit"] = top
            found["critical"] = critical(entries, top, logs, gaps, kept, places, table)
        if len(uncapped):
            size = 0 if whole else _gather(uncapped[row], seen, first, last, few)
            entries = uncapped[row, first:last] if whole else few[:size]
            found["max_logit"] = largest(entries)
