"""Embedded Runge–Kutta methods of Dormand and Prince, orders 5 and 8; the coefficients are scipy's.

Both hand out an error estimate and a dense output. Order 5 has six stages and its dense output
costs nothing more; order 8 has twelve, and three more where a state within a step is asked for,
which pays from about seven digits on. Stage s is at the share c[s] of the step, from the changes
a[s] of those before it.
"""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float
from scipy.integrate import DOP853, RK45
from torch import Tensor

from headgauge.particles.systems import Changes, Method, Scalars, States

Size = Callable[[States], Scalars]


def combine(coefficients: np.ndarray, changes: Changes, start: States | None = None) -> States:
    """Σ_s c_s h k_s, added to `start` if there is one, in one pass."""
    weights = torch.as_tensor(coefficients, dtype=changes.dtype, device=changes.device)
    found = (weights @ changes[: len(weights)].flatten(1)).reshape(changes.shape[1:])
    return found if start is None else found.add_(start)


class Fifth:
    order = 5
    a, b, c = RK45.A, RK45.B, RK45.C
    stages = len(b)
    extra: tuple[tuple[np.ndarray, float], ...] = ()  # further stages, for the dense output alone
    whole = Method((*c[1:].tolist(), 1.0), np.vstack([np.c_[a[1:], np.zeros(5)], b]), RK45.E)

    def error(self, changes: Changes, size: Size) -> Scalars:
        """How far the step is off, at most about."""
        return size(combine(RK45.E, changes))

    def dense(self, changes: Changes, moved: States | None, share: Scalars) -> States:
        """How far the state has moved at a share of the step; `moved`, the whole of it, is for the
        other method."""
        weights = self.weights(share)
        if len(share) == 1:  # a product of a vector and a matrix, which is read as it lies
            return (weights[0] @ changes[: weights.shape[1], 0])[None]
        return (weights[:, None] @ changes[: weights.shape[1]].transpose(0, 1))[:, 0]

    def weights(self, share: Scalars) -> Float[Tensor, "batch changes"]:
        """By which `dense` multiplies the changes."""
        polynomials = torch.as_tensor(RK45.P, dtype=share.dtype, device=share.device)
        found = torch.zeros_like(polynomials[:, 0])
        # Number by number: a product of matrices rounds otherwise beside other columns.
        for coefficients in reversed(polynomials.unbind(1)):
            found = (found + coefficients) * share[:, None]
        return found


class Eighth:
    order = 8
    a, b, c = DOP853.A, DOP853.B, DOP853.C
    stages = len(b)
    whole = None
    extra = tuple(
        (row[: 13 + place], float(share))
        for place, (row, share) in enumerate(zip(DOP853.A_EXTRA, DOP853.C_EXTRA, strict=True))
    )

    def error(self, changes: Changes, size: Size) -> Scalars:
        """Hairer's combination of the estimates of order five and three."""
        fifth, third = size(combine(DOP853.E5, changes)), size(combine(DOP853.E3, changes))
        whole = (fifth.square() + 0.01 * third.square()).sqrt()
        return fifth.square() / whole.clamp_min(1e-30)

    def dense(self, changes: Changes, moved: States | None, share: Scalars) -> States:
        assert moved is not None
        first, last = changes[0], changes[self.stages]
        parts = [moved, first - moved, 2 * moved - (last + first)]
        parts += [combine(row, changes) for row in DOP853.D]
        share = share[:, None]
        found = torch.zeros_like(moved)
        for place, part in enumerate(reversed(parts)):
            found = (found + part) * (share if place % 2 == 0 else 1 - share)
        return found


Tableau = Fifth | Eighth
FIFTH, EIGHTH = Fifth(), Eighth()
