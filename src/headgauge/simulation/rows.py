"""The rows of a simulation's smaller tables: the reduction, its rates, and the 2-sphere."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.particles import equiangular, schemes, sphere
from headgauge.particles.attention import Attention
from headgauge.particles.integrate import states_at
from headgauge.particles.rates import final_rates, initial_velocity
from headgauge.particles.schemes import Scheme
from headgauge.particles.systems import Particles
from headgauge.runs.dynamics_schema import RateRow
from headgauge.threads import one_thread

UNNORMALISED = "unnormalised"


def curve_rows(
    chosen: Sequence[Scheme],
    tokens: int,
    beta: float,
    times: Float[Tensor, "times"],
    radius: float = 1.0,
) -> list[dict[str, Any]]:
    """GammaRow: the reduction of every scheme, and of unnormalised attention on the sphere."""
    columns = ("gamma", "log_gap", "radius", "attention_norm", "velocity")
    rows = []
    baseline = [schemes.get("post_ln")]
    for some, names, normalised in (
        (chosen, [each.name for each in chosen], True),
        (baseline, [UNNORMALISED], False),
    ):
        n, betas = [tokens] * len(some), [beta] * len(some)
        found = equiangular.solve_many(some, n, betas, times, 0.0, radius, normalised)
        parts = {column: getattr(found, column).tolist() for column in columns}
        rows += [
            {"scheme": name, "tokens": tokens, "beta": beta, "time": at}
            | {column: part[place][number] for column, part in parts.items()}
            for place, name in enumerate(names)
            for number, at in enumerate(times.tolist())
        ]
    return rows


def rate_rows(
    schemes: Sequence[Scheme], tokens: int, beta: float, radius: float = 1.0
) -> list[dict[str, Any]]:
    """RateRow of every scheme: its initial velocity and, where it is reached, its final rate."""
    with one_thread():
        final = final_rates(schemes, tokens, beta)
        initial = [initial_velocity(scheme, tokens, beta, radius) for scheme in schemes]
    rows = []
    for scheme, velocity, (reduced, particles) in zip(schemes, initial, final, strict=True):
        name: Any = scheme.name
        theory = scheme.initial_velocity(tokens, beta, radius)
        law = scheme.velocity_text
        rows.append(RateRow(name, "initial velocity", law, "t", theory, *velocity))
        if reduced is not None:
            law, slopes = scheme.final_text, (scheme.final_rate, reduced, particles)
            rows.append(RateRow(name, "final rate", law, scheme.clock_text, *slopes))
    return [asdict(row) for row in rows]


def sphere_rows(
    schemes: Sequence[Scheme],
    particles: int,
    beta: float,
    times: Float[Tensor, "times"],
    seed: int = 0,
    radius: float = 1.0,
) -> list[dict[str, Any]]:
    """SphereRow for every scheme, time and particle on the 2-sphere, to look at; Q = K = V = I.

    Every scheme has the same start.
    """
    start = sphere.uniform(particles, 3, seed).expand(len(schemes), -1, -1)
    attention = Attention(torch.full((len(schemes),), beta, dtype=torch.float64))
    system, state = Particles.of(start, attention, schemes, radius)
    kept = states_at(system, state, times, 1e-6)
    rows = []
    for scheme, moving in zip(schemes, kept, strict=True):
        places, radii = system.directions(moving).tolist(), system.radius(moving).tolist()
        rows += [
            {"scheme": scheme.name, "beta": beta, "time": time, "particle": particle}
            | dict(zip("xyz", place, strict=True))
            | {"radius": radii[number][particle]}
            for number, time in enumerate(times.tolist())
            for particle, place in enumerate(places[number])
        ]
    return rows
