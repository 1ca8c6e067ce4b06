"""The rows of a simulation's tables but for its swarms: the reduction, its rates, the phase
diagram, the 2-sphere."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import product
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.particles import Attention, InnerProducts, Particles, equiangular, rates, sphere
from headgauge.particles.integrate import integrate, states_at
from headgauge.particles.schemes import PostLn, Scheme
from headgauge.runs.dynamics_schema import RateRow
from headgauge.simulation.settings import SimulationSettings
from headgauge.theory.dynamics.observables import TOGETHER, gaps_of
from headgauge.threads import one_thread

UNNORMALISED = "unnormalised"
CURVE_TIMES, PHASE_TIMES, SPHERE_TIMES = 241, 61, 61
LATER = 3  # the curves and the phase diagram go on for so many horizons
LARGEST_BETA = 12.0  # of the phase diagram
TOLERANCE = 1e-4  # of FLOOR: a hundredth of the gap at which a pair counts as one
FLOOR = 0.1
_AT_ONCE = 1 << 19  # numbers in the states of one batch: 2 MB in single precision, a cache's worth

Rows = list[dict[str, Any]]


def curve_rows(settings: SimulationSettings) -> Rows:
    """GammaRow: the reduction of every scheme, and of unnormalised attention on the sphere."""
    columns = ("gamma", "log_gap", "radius", "attention_norm", "velocity")
    chosen, times = settings.chosen(), settings.times(LATER * settings.horizon, CURVE_TIMES)
    rows = []
    for schemes, names, normalised in (
        (chosen, [scheme.name for scheme in chosen], True),
        ([PostLn()], [UNNORMALISED], False),
    ):
        n, beta = [settings.tokens] * len(schemes), [settings.beta] * len(schemes)
        found = equiangular.solve_many(schemes, n, beta, times, 0.0, settings.radius, normalised)
        parts = {column: getattr(found, column).tolist() for column in columns}
        rows += [
            {"scheme": name, "tokens": settings.tokens, "beta": settings.beta, "time": at}
            | {column: part[place][number] for column, part in parts.items()}
            for place, name in enumerate(names)
            for number, at in enumerate(times.tolist())
        ]
    return rows


def rate_rows(settings: SimulationSettings) -> Rows:
    """RateRow of every scheme: its initial velocity and, where it is reached, its final rate."""
    schemes, tokens, start = settings.chosen(), settings.tokens, (settings.beta, settings.radius)
    with one_thread():
        final = rates.final_rates(schemes, tokens, settings.beta)
        initial = [rates.initial_velocity(scheme, tokens, *start) for scheme in schemes]
    rows = []
    for scheme, velocity, (reduced, particles) in zip(schemes, initial, final, strict=True):
        name: Any = scheme.name
        theory = scheme.initial_velocity(tokens, *start)
        law = scheme.velocity_text
        rows.append(RateRow(name, "initial velocity", law, "t", theory, *velocity))
        if reduced is not None:
            law, slopes = scheme.final_text, (scheme.final_rate, reduced, particles)
            rows.append(RateRow(name, "final rate", law, scheme.clock_text, *slopes))
    return [asdict(row) for row in rows]


def phase_rows(
    settings: SimulationSettings, device: str, progress: Callable[[float], object]
) -> Rows:
    """PhaseRow for every scheme, dimension, β and time, from uniform starts, Q = K = V = I.

    The inner products of all schemes, values of β and seeds are simulated side by side; the
    dimension matters through the start alone.
    """
    tokens, dims, seeds = settings.phase_tokens, settings.phase_dims, settings.phase_seeds
    schemes, times = settings.chosen(), settings.times(LATER * settings.horizon, PHASE_TIMES)
    betas = torch.linspace(LARGEST_BETA / settings.phase_betas, LARGEST_BETA, settings.phase_betas)
    betas = [round(beta, 6) for beta in betas.tolist()]
    starts = {}
    for dim in dims:
        swarms = [sphere.uniform(tokens, dim, seed) for seed in range(seeds)]
        starts[dim] = torch.stack([gaps_of(swarm) for swarm in swarms]).to(device)
    kinds = list(product(dims, schemes, betas))
    at_once = max(1, _AT_ONCE // (seeds * tokens**2))
    shares: dict[tuple[int, Scheme, float], list[float]] = {}
    for begin in range(0, len(kinds), at_once):
        some = kinds[begin : begin + at_once]
        shares |= zip(some, _shares_together(some, starts, times).tolist(), strict=True)
        progress(min(1.0, (begin + at_once) / len(kinds)))
    return [
        {"scheme": scheme.name, "tokens": tokens, "dim": dim, "beta": beta, "time": time}
        | {"probability": share, "seeds": seeds}
        for scheme, dim, beta in product(schemes, dims, betas)
        for time, share in zip(times.tolist(), shares[dim, scheme, beta], strict=True)
    ]


def _shares_together(
    kinds: Sequence[tuple[int, Scheme, float]],
    starts: dict[int, Float[Tensor, "seeds n n"]],
    times: Float[Tensor, "times"],
) -> Float[Tensor, "kinds times"]:
    """The share of merged pairs of tokens, over seeds, for each (dimension, scheme, β)."""
    gaps = torch.cat([starts[dim] for dim, _, _ in kinds])
    seeds = len(gaps) // len(kinds)
    schemes = [scheme for _, scheme, _ in kinds for _ in range(seeds)]
    beta = torch.tensor([beta for _, _, beta in kinds], dtype=torch.float64)
    attention = Attention(beta.repeat_interleave(seeds).to(gaps.device))
    system, state = InnerProducts.of(gaps, attention, schemes, floor=FLOOR)
    found = torch.zeros(len(gaps), len(times), dtype=torch.float64)
    tokens = system.tokens

    def saved(number: int, rows: Tensor, states: Tensor) -> None:
        together = (system.gaps(states) <= 1 - TOGETHER).sum((-2, -1)) - tokens
        found[rows.cpu(), number] = together.to("cpu", torch.float64) / (tokens * (tokens - 1))

    integrate(system, state, times, saved, TOLERANCE)
    return found.reshape(len(kinds), seeds, len(times)).mean(1)


def sphere_rows(settings: SimulationSettings) -> Rows:
    """SphereRow for every scheme, time and particle on the 2-sphere, to look at; Q = K = V = I.

    Every scheme has the same start.
    """
    schemes, times = settings.chosen(), settings.times(settings.horizon, SPHERE_TIMES)
    start = sphere.uniform(settings.sphere_particles, 3, settings.seed)
    attention = Attention(torch.full((len(schemes),), settings.beta, dtype=torch.float64))
    directions = start.expand(len(schemes), -1, -1)
    system, state = Particles.of(directions, attention, schemes, settings.radius)
    rows = []
    for scheme, moving in zip(schemes, states_at(system, state, times, 1e-6), strict=True):
        places, radii = system.directions(moving).tolist(), system.radius(moving).tolist()
        rows += [
            {"scheme": scheme.name, "beta": settings.beta, "time": time, "particle": particle}
            | dict(zip("xyz", place, strict=True))
            | {"radius": radii[number][particle]}
            for number, time in enumerate(times.tolist())
            for particle, place in enumerate(places[number])
        ]
    return rows
