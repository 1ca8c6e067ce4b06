"""What moves, and the reference: θ'_j = P_θ A_j/s_j on the sphere, r'_j beside it.

A state is one row per trajectory. That of `Particles` has the n·d coordinates of the directions,
then the n radii. The field looks at directions only through θ/‖θ‖, so it does not matter how far a
Runge–Kutta stage is off the sphere, and `project` brings every step back to it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import normalize

from headgauge.errors import InputError
from headgauge.particles.attention import Attention, Projections
from headgauge.particles.schemes import Scheme, SchemeBatch
from headgauge.theory.dynamics.observables import gaps_of

Scalars = Float[Tensor, "batch"]
States = Float[Tensor, "batch m"]
Changes = Float[Tensor, "stages batch m"]  # h·k of each stage; the last is that of the step's end
PerToken = Float[Tensor, "batch n"]
Some = Int[Tensor, "some"]  # numbers of trajectories


class Method(NamedTuple):
    """A tableau for whole steps: of each stage but the first the share of the step it is at and a
    row of coefficients, the last for the step's end; and the row of the error."""

    shares: tuple[float, ...]
    rows: Float[np.ndarray, "stages stages"]
    error: Float[np.ndarray, "changes"]


class Step(NamedTuple):
    """Where a step has come to, the field there, and how large its error is."""

    state: States
    slope: States
    error: Scalars


@dataclass(frozen=True, eq=False)
class System(ABC):
    """What an integrator asks: y' = field(t, y), one row of y per trajectory.

    Times are in double precision always, states in that of the stages.
    """

    schemes: SchemeBatch = field(kw_only=True)

    @abstractmethod
    def field(self, time: Scalars, state: States) -> States: ...

    def step(
        self,
        method: Method,
        time: Scalars,
        size: Scalars,
        state: States,
        slope: States,
        changes: Changes,
    ) -> Step | None:
        """A whole step from a state and the field there, where that is faster; `changes` are filled
        in. None: nothing was done, and `field` serves."""
        return None

    def within(
        self, which: Some, weights: Float[Tensor, "some changes"], before: States, changes: Changes
    ) -> Float[Tensor, "some m"] | None:
        """States of some trajectories within a step that `step` made: each that before it and its
        row of weights times its changes."""
        return None

    def compiled(self, dtype: torch.dtype, state: States) -> bool:
        """Whether `step` makes the steps of such a state in such a precision, on threads of its
        own."""
        return False

    @abstractmethod
    def size(self, error: States, state: States) -> Scalars:
        """How large an error is, as the tolerance counts."""

    @abstractmethod
    def only(self, index: Some) -> "System":
        """The system of some of the trajectories."""

    def project(self, state: States) -> States:
        """The nearest state that can be, in its place."""
        return state

    def breaks(self, end: float) -> tuple[float, ...]:
        """Times at which the field jumps."""
        return tuple(sorted(time for time in self.schemes.breaks() if 0 < time < end))

    def between(self, start: float, end: float, dtype: torch.dtype) -> "System":
        """The system as it is between two breaks; `dtype` is the precision of the stages."""
        return replace(self, schemes=self.schemes.between(start, end))


Seen = tuple[Float[Tensor, "batch n n"], dict[str, PerToken]]
"""Of a swarm at one time the gaps, and by name r_j, ‖A_j‖ and ‖θ'_j‖."""


@dataclass(frozen=True, eq=False)
class Swarm(System):
    """n tokens that attend to each other; the last n numbers of a state are their radii."""

    attention: Attention
    tokens: int
    matrices: Projections | None = field(default=None, kw_only=True)

    @abstractmethod
    def see(self, time: float, state: States) -> Seen:
        """What the observables are made of, in the state's precision."""

    def radius(self, state: States) -> PerToken:
        return state[:, -self.tokens :]

    def only(self, index: Some) -> "Swarm":
        attention, schemes = self.attention.only(index), self.schemes.only(index)
        return replace(self, attention=attention, schemes=schemes)

    def breaks(self, end: float) -> tuple[float, ...]:
        return tuple(sorted({*super().breaks(end), *self.attention.weights.breaks(end)}))

    def between(self, start: float, end: float, dtype: torch.dtype) -> "Swarm":
        matrices = self.attention.matrices((start + end) / 2, dtype)
        return replace(self, schemes=self.schemes.between(start, end), matrices=matrices)


def check_batch(attention: Attention, batch: int, radius: float) -> None:
    if len(attention.beta) != batch:
        raise InputError(f"{len(attention.beta)} values of β for {batch} trajectories")
    if not radius > 0:
        raise InputError(f"a token needs a length above 0, got {radius:g}")


@dataclass(frozen=True, eq=False)
class Particles(Swarm):
    """Directions and radii, under any matrices."""

    dim: int

    @staticmethod
    def of(
        directions: Float[Tensor, "batch n d"],
        attention: Attention,
        schemes: Scheme | Sequence[Scheme],
        radius: float = 1.0,
    ) -> "tuple[Particles, States]":
        """The system and its first state; one scheme for all trajectories or one for each."""
        batch, tokens, dim = directions.shape
        check_batch(attention, batch, radius)
        weights = attention.weights
        if not weights.identity and weights.dim != dim:
            raise InputError(f"the matrices have {weights.dim} dimensions, the tokens {dim}")
        batched = SchemeBatch.of(schemes, batch)
        radii = torch.full_like(directions[..., 0], radius)
        state = torch.cat([normalize(directions, dim=-1).flatten(1), radii], 1)
        return Particles(attention, tokens, dim, schemes=batched), state

    def directions(self, state: States) -> Float[Tensor, "batch n d"]:
        return state[:, : self.tokens * self.dim].unflatten(1, (self.tokens, self.dim))

    def field(self, time: Scalars, state: States) -> States:
        return self._move(time, state)[0]

    def _move(self, time: Scalars, state: States) -> tuple[States, PerToken]:
        """θ' and r', and ‖A‖."""
        moved = torch.empty_like(state)
        directions = normalize(self.directions(state), dim=-1)
        output = self.attention.output(directions, self.matrices)
        radial = torch.linalg.vecdot(directions, output)
        norm = output.norm(dim=-1)
        pace, growth = self.schemes.rates(time, self.radius(state), radial, norm)
        turn = torch.addcmul(output, radial[..., None], directions, value=-1)
        torch.mul(turn, pace[..., None], out=self.directions(moved))
        self.radius(moved).copy_(growth)
        return moved, norm

    def see(self, time: float, state: States) -> Seen:
        """Where the matrices change at `time`, with the new ones."""
        now = torch.full_like(state[:, 0], time, dtype=torch.float64)
        here = replace(self, matrices=self.attention.matrices(time, state.dtype))
        moved, norm = here._move(now, state)
        gaps = gaps_of(normalize(self.directions(state), dim=-1))
        speed = self.directions(moved).norm(dim=-1)
        return gaps, {"radius": self.radius(state), "attention_norm": norm, "speed": speed}

    def project(self, state: States) -> States:
        directions = self.directions(state)
        normalize(directions, dim=-1, out=directions)
        return state

    def size(self, error: States, state: States) -> Scalars:
        """The farthest any token is off, in radians; of a radius, as a share of it."""
        off = self.directions(error).norm(dim=-1).amax(-1)
        longer = (self.radius(error) / self.radius(state)).abs().amax(-1)
        return torch.maximum(off, longer)
