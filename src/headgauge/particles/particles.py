"""The particles themselves: θ'_j = P_θ A_j/s_j on the sphere, r'_j beside it. The reference.

A state is one row per trajectory: the n·d coordinates of the directions, then the n radii. The
field looks at directions only through θ/‖θ‖, so it does not matter how far a Runge–Kutta stage is
off the sphere, and `project` brings every step back to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import normalize

from headgauge.errors import InputError
from headgauge.particles.attention import Attention
from headgauge.particles.observables import gaps_of
from headgauge.particles.scheme_batch import SchemeBatch
from headgauge.particles.schemes import Scheme
from headgauge.particles.weights import Projections


@dataclass(frozen=True, eq=False)
class Seen:
    """A swarm at one time, as the observables want it."""

    gaps: Float[Tensor, "batch n n"]
    radius: Float[Tensor, "batch n"]
    attention_norm: Float[Tensor, "batch n"]
    speed: Float[Tensor, "batch n"]  # ‖θ'_j‖


@dataclass(frozen=True, eq=False)
class Particles:
    """The system of `system.System` on directions and radii."""

    tokens: int
    dim: int
    attention: Attention
    schemes: SchemeBatch
    matrices: Projections | None = None

    @staticmethod
    def of(
        directions: Float[Tensor, "batch n d"],
        attention: Attention,
        schemes: Scheme | Sequence[Scheme],
        radius: float = 1.0,
    ) -> "tuple[Particles, Float[Tensor, 'batch m']]":
        """The system and its first state; one scheme for all trajectories or one for each."""
        batch, tokens, dim = directions.shape
        if len(attention.beta) != batch:
            raise InputError(f"{len(attention.beta)} values of β for {batch} trajectories")
        if not attention.weights.identity and attention.weights.dim != dim:
            raise InputError(
                f"the matrices have {attention.weights.dim} dimensions, the tokens {dim}"
            )
        if not attention.weights.identity and len(attention.weights.seeds) != batch:
            raise InputError(f"{len(attention.weights.seeds)} seeds for {batch} trajectories")
        if not radius > 0:
            raise InputError(f"a token needs a length above 0, got {radius:g}")
        batched = SchemeBatch.of(schemes, batch, directions.device)
        radii = torch.full_like(directions[..., 0], radius)
        state = torch.cat([normalize(directions, dim=-1).flatten(1), radii], 1)
        return Particles(tokens, dim, attention, batched), state

    def directions(self, state: Float[Tensor, "batch m"]) -> Float[Tensor, "batch n d"]:
        return state[:, : self.tokens * self.dim].unflatten(1, (self.tokens, self.dim))

    def radius(self, state: Float[Tensor, "batch m"]) -> Float[Tensor, "batch n"]:
        return state[:, self.tokens * self.dim :]

    def field(
        self, time: Float[Tensor, "batch"], state: Float[Tensor, "batch m"]
    ) -> Float[Tensor, "batch m"]:
        moved = torch.empty_like(state)
        self._move(time, state, moved)
        return moved

    def _move(
        self,
        time: Float[Tensor, "batch"],
        state: Float[Tensor, "batch m"],
        moved: Float[Tensor, "batch m"],
    ) -> Float[Tensor, "batch n"]:
        """Fill in θ' and r'; ‖A‖."""
        directions = normalize(self.directions(state), dim=-1)
        output = self.attention.output(directions, self.matrices)
        radial = torch.linalg.vecdot(directions, output)
        norm = output.norm(dim=-1)
        slowness, growth = self.schemes.rates(time, self.radius(state), radial, norm)
        turn = torch.addcmul(output, radial[..., None], directions, value=-1)
        torch.mul(turn, slowness[..., None], out=self.directions(moved))
        self.radius(moved).copy_(growth)
        return norm

    def see(self, time: float, state: Float[Tensor, "batch m"]) -> Seen:
        """What the observables are made of; where the matrices change at `time`, the new ones."""
        weights = self.attention.weights
        here = self if weights.identity else replace(self, matrices=weights.at(time, state.dtype))
        now = torch.full_like(state[:, 0], time, dtype=torch.float64)
        moved = torch.empty_like(state)
        norm = here._move(now, state, moved)
        gaps = gaps_of(normalize(self.directions(state), dim=-1))
        return Seen(gaps, self.radius(state), norm, self.directions(moved).norm(dim=-1))

    def project(self, state: Float[Tensor, "batch m"]) -> Float[Tensor, "batch m"]:
        directions = normalize(self.directions(state), dim=-1)
        return torch.cat([directions.flatten(1), self.radius(state)], 1)

    def size(
        self, error: Float[Tensor, "batch m"], state: Float[Tensor, "batch m"]
    ) -> Float[Tensor, "batch"]:
        """The farthest any token is off, in radians; of a radius, as a share of it."""
        off = self.directions(error).norm(dim=-1).amax(-1)
        longer = (self.radius(error) / self.radius(state)).abs().amax(-1)
        return torch.maximum(off, longer)

    def rows(self, index: Int[Tensor, "some"]) -> "Particles":
        matrices = self.matrices and self.matrices.rows(index)
        return replace(
            self,
            attention=self.attention.rows(index),
            schemes=self.schemes.rows(index),
            matrices=matrices,
        )

    def to(self, dtype: torch.dtype) -> "Particles":
        matrices = self.matrices and self.matrices.to(dtype)
        return replace(self, attention=self.attention.to(dtype), matrices=matrices)

    def breaks(self, end: float) -> tuple[float, ...]:
        every = {*self.schemes.breaks(), *self.attention.weights.breaks(end)}
        return tuple(sorted(time for time in every if 0 < time < end))

    def between(self, start: float, end: float) -> "Particles":
        weights = self.attention.weights
        matrices = None if weights.identity else weights.at((start + end) / 2)
        return replace(self, schemes=self.schemes.between(start, end), matrices=matrices)
