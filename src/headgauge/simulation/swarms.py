"""Swarms under several schemes and seeds: simulated, observed over time, put into rows.

Where Q = K = V = I the inner products are simulated, else the particles. All schemes of a seed
start from the same places under the same matrices and go through time together, each with its own
steps; several seeds do where a step is made trajectory by trajectory, so that no thread waits.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.errors import InputError
from headgauge.normalizers import asked_rules
from headgauge.particles import Attention, InnerProducts, Particles, Weights, sphere
from headgauge.particles.integrate import SINGLE, integrate
from headgauge.particles.schemes import Scheme
from headgauge.particles.systems import States, Swarm
from headgauge.runs.dynamics_schema import SwarmRow
from headgauge.theory.dynamics import observables

FLOOR = 1e-4  # of a gap: a pair is one at 1e-3, and a token's speed goes like the root of a gap
STEEPEST = 300.0  # β: e^{2β} must be a number
_AT_ONCE = 1 << 21  # numbers in the states of seeds that go together
_TOKEN_SEED = 7_919  # the tokens of a seed are not drawn from the numbers of its matrices


def check_beta(beta: float) -> None:
    if not 0 < beta <= STEEPEST:
        raise InputError(f"β must be above 0 and at most {STEEPEST:g}, got {beta:g}")


@dataclass(frozen=True)
class SwarmKind:
    """What is simulated, but for the schemes; `beta` is β, `radius` r₀."""

    tokens: int = 256
    dim: int = 512
    beta: float = 5.0
    weights: str = "identity"
    heads: int = 1
    causal: bool = False
    rule: str = "softmax"
    radius: float = 1.0
    seeds: tuple[int, ...] = tuple(range(20))

    def __post_init__(self) -> None:
        if self.tokens < 2 or self.dim < 2:
            raise InputError(
                f"a swarm needs 2 tokens and 2 dimensions or more: {self.tokens}, {self.dim}"
            )
        if not self.seeds:
            raise InputError("a swarm needs at least one seed")
        check_beta(self.beta)
        if not 0 < self.radius < math.inf:
            raise InputError(f"a token needs a length above 0, got {self.radius:g}")

    def attention(self, trajectories: int, seed: int, device: str) -> Attention:
        """That of one seed's trajectories."""
        rule = None if self.rule == "softmax" else asked_rules(self.rule)[0].rule()
        beta = torch.full((trajectories,), self.beta, dtype=torch.float64, device=device)
        weights = Weights(self.weights, self.dim, seed, device)
        return Attention(beta, weights, self.heads, self.causal, rule)


@dataclass(frozen=True, eq=False)
class Swarms:
    """What was seen: one number per scheme, seed and time."""

    kind: SwarmKind
    schemes: tuple[Scheme, ...]
    times: Float[Tensor, "times"]
    seen: dict[str, Float[Tensor, "schemes seeds times"]]

    def rows(self) -> list[dict[str, Any]]:
        """SwarmRow: means over seeds, and the band of the mean cosine."""
        columns = {field.name for field in fields(SwarmRow)}
        fixed = {name: value for name, value in asdict(self.kind).items() if name in columns}
        fixed["seeds"] = len(self.kind.seeds)
        band = torch.tensor(observables.BAND, dtype=torch.float64)
        ends = observables.quantiles(self.seen["mean_cosine"].movedim(1, -1), band).tolist()
        rows = []
        for at, scheme in enumerate(self.schemes):
            for number, time in enumerate(self.times.tolist()):
                row = {"scheme": scheme.name, "time": time}
                row |= dict(zip(("low", "high"), ends[at][number], strict=True))
                for name, values in self.seen.items():
                    row[name] = float(values[at, :, number].mean())
                rows.append(fixed | row)
        return rows

    def collapse(self) -> list[dict[str, Any]]:
        """CollapseRow: when the farthest pair is one."""
        gaps = (1 - self.seen["least_cosine"]).movedim(-1, 0)
        collapses = observables.time_to_collapse(self.times, gaps)
        found = []
        for scheme, times in zip(self.schemes, collapses, strict=True):
            there = times[~times.isnan()]
            every = times.nan_to_num(nan=torch.inf).sort().values
            middle = float((every[(len(every) - 1) // 2] + every[len(every) // 2]) / 2)
            row = {"weights": self.kind.weights, "scheme": scheme.name, "seeds": len(times)}
            row["collapsed"] = len(there) / len(times)
            row["time"] = middle if middle < torch.inf else None
            row["low"] = float(there.min()) if len(there) else None
            row["high"] = float(there.max()) if len(there) == len(times) else None
            found.append(row)
        return found


def swarms(
    schemes: Sequence[Scheme],
    kind: SwarmKind,
    times: Float[Tensor, "times"],
    tolerance: float = 1e-5,
    device: str = "cpu",
    progress: Callable[[float], object] = lambda share: None,
) -> Swarms:
    """Simulate every scheme from every seed; `progress` gets the share that is done."""
    shape = len(schemes), len(kind.seeds), len(times)
    seen: dict[str, Tensor] = {}
    # What was computed in single precision is looked at in single precision.
    seen_in = torch.float32 if tolerance >= SINGLE else torch.float64
    at_once = _together(schemes, kind, seen_in, device)
    for first in range(0, len(kind.seeds), at_once):
        some = kind.seeds[first : first + at_once]
        system, state = _begin(schemes, kind, some, device)

        def saved(
            number: int, which: Tensor, states: Tensor, system: Swarm = system, first: int = first
        ) -> None:
            gaps, tokens = system.only(which).see(float(times[number]), states.to(seen_in))
            means = {name: values.mean(-1) for name, values in tokens.items()}
            at, scheme = which.cpu() // len(schemes), which.cpu() % len(schemes)
            for name, value in (observables.observe(gaps, kind.beta) | means).items():
                kept = seen.setdefault(name, torch.empty(shape, dtype=torch.float64))
                kept[scheme, first + at, number] = value.to("cpu", torch.float64)
            share = (number + 1) / len(times)
            progress(min(1.0, (first + share * at_once) / len(kind.seeds)))

        integrate(system, state, times, saved, tolerance)
    return Swarms(kind, tuple(schemes), times, seen)


def _begin(
    schemes: Sequence[Scheme], kind: SwarmKind, seeds: Sequence[int], device: str
) -> tuple[Swarm, States]:
    """All schemes of each seed; of one seed where its matrices are drawn."""
    starts = [sphere.uniform(kind.tokens, kind.dim, _TOKEN_SEED + seed) for seed in seeds]
    many = list(schemes) * len(seeds)
    attention = kind.attention(len(many), seeds[0], device)
    if attention.pairs_suffice:
        gaps = torch.stack([observables.gaps_of(each.to(device)) for each in starts])
        gaps = gaps.repeat_interleave(len(schemes), 0)
        return InnerProducts.of(gaps, attention, many, kind.radius, FLOOR)
    places = starts[0].to(device).expand(len(schemes), -1, -1)
    return Particles.of(places, attention, schemes, kind.radius)


def _together(schemes: Sequence[Scheme], kind: SwarmKind, stages: torch.dtype, device: str) -> int:
    """How many seeds go through time together."""
    system, state = _begin(schemes, kind, kind.seeds[:1], device)
    return max(1, _AT_ONCE // state.numel()) if system.compiled(stages, state) else 1
