"""Compiled: one row as the walk over its ranks needs it."""

import math
from typing import NamedTuple

import numpy as np

from headgauge.engine.bits import as_bits, from_ordered
from headgauge.kernels import compiled, fused, rooted


class Row(NamedTuple):
    """The keys of a row between the first and the last that counts, with zeros after them."""

    x: np.ndarray  # vectors, without the zeros
    a: np.ndarray  # α
    own: np.ndarray  # ‖y‖²
    norms2: np.ndarray  # ‖x‖²
    onto: np.ndarray  # ⟨x_i, x̄⟩
    counts: np.ndarray  # 1 where a key counts
    left: np.ndarray  # 1 where it counts and is not selected
    c: np.ndarray  # ⟨x_i, s⟩
    reached: np.ndarray  # min ⟨x_i, x_j⟩ − ‖x_j‖²/2 over the selected j
    spread: np.ndarray  # V_i up to the factor that depends on N
    mean: np.ndarray  # x̄
    mean2: float  # ‖x̄‖²
    first: int  # the place of its first key among all vectors
    n: int  # how many keys count


class Ranks(NamedTuple):
    """The largest weights of a row, in order; `h` is room for a number each."""

    values: np.ndarray
    places: np.ndarray
    tail: np.ndarray  # Σα outside the first b ranks
    longest: np.ndarray  # max ‖y‖² there
    y: np.ndarray  # ‖y‖
    h: np.ndarray


@rooted
def root(x):
    """√x of a number ≥ 0 that is finite."""
    return math.sqrt(x)


@fused
def difference2(p, x, q, z):
    """‖p·x − q·z‖² from the vectors."""
    total = 0.0
    for t in range(x.shape[0]):
        d = p * x[t] - q * z[t]
        total += d * d
    return total


@fused
def square(x):
    total = 0.0
    for t in range(x.shape[0]):
        total += float(x[t]) * float(x[t])
    return total


@fused
def load(weights, seen, everything, norms2, a, counts, own):
    """Weights, who counts, ‖y‖²; returns (Σα, Σ|α|, Σ‖y‖, largest ‖x‖² of those that count)."""
    zero, one = a.dtype.type(0.0), a.dtype.type(1.0)
    width = weights.shape[0]
    total, negative, lengths = 0.0, 0.0, 0.0
    longest = as_bits(zero)
    for i in range(width):
        # Read always: what is read under a condition keeps the loop from becoming vector code.
        weight, visible = weights[i], seen[i]
        weight = weight if visible else zero
        counting = one if visible | everything else zero
        a[i] = weight
        own[i] = weight * weight * norms2[i]
        counts[i] = counting
        total += float(weight)
        longest = max(longest, as_bits(counting * norms2[i]))
    for i in range(width):
        lengths += math.sqrt(own[i])
        negative += float(a[i] if a[i] < zero else zero)
    a[width:], counts[width:], own[width:] = zero, zero, zero
    # numba's float() leaves a float32 what it is, and M is made of this.
    return total, total - 2.0 * negative, lengths, np.float64(from_ordered(longest))


@fused
def _remainder(a, own, left):
    """Σα and the largest ‖y‖² over `left`."""
    total = 0.0
    longest = as_bits(a.dtype.type(0.0))
    for i in range(a.shape[0]):
        total += float(left[i] * a[i])
        longest = max(longest, as_bits(left[i] * own[i]))
    return total, from_ordered(longest)


@compiled
def rank(row, ranks, size):
    """The first `size` ranks' weights, and what lies outside them, added up from below: 1 − ᾱ
    would lose a sharp row's digits."""
    for i in range(row.counts.shape[0]):
        row.left[i] = row.counts[i]
    for b in range(size):
        ranks.values[b] = row.a[ranks.places[b]]
        ranks.y[b] = math.sqrt(float(row.own[ranks.places[b]]))
        row.left[ranks.places[b]] = 0.0
    ranks.tail[size], ranks.longest[size] = _remainder(row.a, row.own, row.left)
    for b in range(size - 1, -1, -1):
        ranks.tail[b] = ranks.tail[b + 1] + ranks.values[b]
        ranks.longest[b] = max(ranks.longest[b + 1], float(row.own[ranks.places[b]]))
