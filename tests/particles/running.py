"""From a system to its states at the asked times."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from headgauge.particles import integrate, sphere
from headgauge.particles.systems import System


def states_at(
    system: System, state: Tensor, times: Sequence[float], tolerance: float = 1e-10
) -> Tensor:
    """times × batch × m."""
    kept = integrate.states_at(system, state, times, tolerance)
    assert not kept.isnan().any()
    return kept.transpose(0, 1)


def rk4(system: System, state: Tensor, end: float, steps: int) -> Tensor:
    """The state at `end` by the classic method after equal steps from 0; between two breaks they
    are as many as fit."""
    for start, stop in pairwise((0.0, *system.breaks(end), end)):
        here = system.between(start, stop, torch.float64)
        count = max(1, round(steps * (stop - start) / end))
        h = (stop - start) / count
        for step in range(count):
            time = torch.full_like(state[:, 0], start + step * h)
            k1 = here.field(time, state)
            k2 = here.field(time + h / 2, state + h / 2 * k1)
            k3 = here.field(time + h / 2, state + h / 2 * k2)
            k4 = here.field(time + h, state + h * k3)
            state = here.project(state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    return state


def numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def uniform(batch: int, n: int = 5, d: int = 6) -> Tensor:
    """Swarms of uniform directions, each from its own seed."""
    return torch.stack([sphere.uniform(n, d, seed) for seed in range(batch)])
