"""Compiled: one row's weights as the walk needs them, and what its unselected ranks add up to."""

import math
from typing import no_type_check

from headgauge.engine.compiling import as_bits, compiled, from_ordered, fused


@fused
@no_type_check
def load(weights, norms2, width, a, counts, own):
    """Weights, who counts, ‖y‖²; returns (Σα, Σ|α|, Σ‖y‖, largest ‖x‖²)."""
    zero = a.dtype.type(0.0)
    total, negative, lengths = 0.0, 0.0, 0.0
    longest = as_bits(zero)
    for i in range(width):
        weight = weights[i]
        a[i] = weight
        own[i] = weight * weight * norms2[i]
        counts[i] = 1.0
        total += float(weight)
        longest = max(longest, as_bits(norms2[i]))
    for i in range(width):
        lengths += math.sqrt(own[i])
        negative += float(a[i] if a[i] < zero else zero)
    for i in range(width, a.shape[0]):
        a[i] = 0.0
        own[i] = 0.0
        counts[i] = 0.0
    return total, total - 2.0 * negative, lengths, float(from_ordered(longest))


@compiled
@no_type_check
def load_seen(weights, seen, everything, norms2, width, a, counts, own):
    """The same where some keys in between do not count or have no weight."""
    total, negative, lengths, longest = 0.0, 0.0, 0.0, 0.0
    a[:] = 0.0
    own[:] = 0.0
    counts[:] = 0.0
    for i in range(width):
        if seen[i]:
            a[i] = weights[i]
            own[i] = a[i] * a[i] * norms2[i]
        if seen[i] or everything:
            counts[i] = 1.0
            longest = max(longest, norms2[i])
        total += a[i]
        negative += min(a[i], 0.0)
        lengths += math.sqrt(own[i])
    return total, total - 2.0 * negative, lengths, longest


@fused
@no_type_check
def _remainder(a, own, left):
    """Σα and the largest ‖y‖² over `left`."""
    total = 0.0
    longest = as_bits(a.dtype.type(0.0))
    for i in range(a.shape[0]):
        total += float(left[i] * a[i])
        longest = max(longest, as_bits(left[i] * own[i]))
    return total, from_ordered(longest)


@compiled
@no_type_check
def tails(a, own, counts, left, size, values, places, tail, longest):
    """tail[b] = Σα outside the first b ranks, added up from below: 1 − ᾱ would lose a sharp row's
    digits. longest[b] = max ‖y‖² there."""
    left[:] = counts
    for b in range(size):
        values[b] = a[places[b]]
        left[places[b]] = 0.0
    tail[size], longest[size] = _remainder(a, own, left)
    for b in range(size - 1, -1, -1):
        tail[b] = tail[b + 1] + values[b]
        longest[b] = max(longest[b + 1], float(own[places[b]]))
