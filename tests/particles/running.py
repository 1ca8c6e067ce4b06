"""From a system to its states at the asked times."""

from collections.abc import Sequence

import torch
from torch import Tensor

from headgauge.particles import starts
from headgauge.particles.integrate import integrate
from headgauge.particles.system import System


def states_at(
    system: System, state: Tensor, times: Sequence[float], tolerance: float = 1e-10
) -> Tensor:
    """times × batch × m."""
    kept = torch.full((len(times), *state.shape), torch.nan, dtype=torch.float64)

    def saved(number: int, rows: Tensor, states: Tensor) -> None:
        kept[number, rows] = states

    integrate(system, state, times, saved, tolerance)
    assert not kept.isnan().any()
    return kept


def numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def uniform(batch: int, n: int = 5, d: int = 6) -> Tensor:
    """Swarms of uniform directions, each from its own seed."""
    return torch.stack([starts.uniform(n, d, seed) for seed in range(batch)])
