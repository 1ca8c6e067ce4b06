"""Particles on the 2-sphere, to look at: every scheme from the same start."""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.particles import starts
from headgauge.particles.attention import Attention
from headgauge.particles.integrate import integrate
from headgauge.particles.particles import Particles
from headgauge.particles.schemes import Scheme


def sphere_rows(
    schemes: Sequence[Scheme],
    particles: int,
    beta: float,
    times: Float[Tensor, "times"],
    seed: int = 0,
    radius: float = 1.0,
) -> list[dict[str, Any]]:
    """SphereRow for every scheme, time and particle; Q = K = V = I."""
    directions = starts.uniform(particles, 3, seed).expand(len(schemes), -1, -1)
    attention = Attention(torch.full((len(schemes),), beta, dtype=torch.float64))
    system, state = Particles.of(directions, attention, schemes, radius)
    kept = torch.empty(len(schemes), len(times), particles, 4, dtype=torch.float64)

    def saved(number: int, rows: Tensor, states: Tensor) -> None:
        places, radii = system.directions(states), system.radius(states)
        kept[rows, number] = torch.cat([places, radii[..., None]], -1)

    integrate(system, state, times, saved, 1e-6)
    return [
        {
            "scheme": scheme.name,
            "beta": beta,
            "time": time,
            "particle": particle,
            **dict(zip(("x", "y", "z", "radius"), values, strict=True)),
        }
        for scheme, moving in zip(schemes, kept, strict=True)
        for time, there in zip(times.tolist(), moving, strict=True)
        for particle, values in enumerate(there.tolist())
    ]
