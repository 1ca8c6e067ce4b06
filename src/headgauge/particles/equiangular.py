"""The equiangular reduction: Q = K = V = I, all cosines γ, all lengths r, two numbers per scheme.

With Z = e^β + (n−1)e^{βγ}

    γ' = (1/s)·2e^{βγ}(1 − γ)(1 + (n−1)γ)/Z
    ⟨θ, A⟩ = (e^β + (n−1)γe^{βγ})/Z
    ‖A‖² = (e^{2β} + 2(n−1)γe^{β(1+γ)} + (n−1)e^{2βγ}(1 + (n−2)γ))/Z²

A token attends to itself with the weight w = e^β/Z and to each other one with u = e^{βγ}/Z; the
rest is counting. Unnormalised attention has w = e^β/n and u = e^{βγ}/n instead.

The state is (log(1 − γ), log r): (log(1 − γ))' = −2u(1 + (n−1)γ)/s has no cancellation however late
it is, and all powers are taken relative to e^β.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headgauge.errors import InputError
from headgauge.particles.integrate import integrate
from headgauge.particles.scheme_batch import SchemeBatch
from headgauge.particles.schemes import Scheme
from headgauge.threads import one_thread


@dataclass(frozen=True, eq=False)
class Reduced:
    """A solution at the asked times; `log_gap` is log(1 − γ)."""

    time: Float[Tensor, "times"]
    gamma: Float[Tensor, "*batch times"]
    log_gap: Float[Tensor, "*batch times"]
    radius: Float[Tensor, "*batch times"]
    attention_norm: Float[Tensor, "*batch times"]
    velocity: Float[Tensor, "*batch times"]


@dataclass(frozen=True, eq=False)
class Equiangular:
    """The system of `system.System` on (log(1 − γ), log r)."""

    tokens: Float[Tensor, "batch"]
    beta: Float[Tensor, "batch"]
    schemes: SchemeBatch
    normalised: bool = True

    def attend(
        self, log_gap: Float[Tensor, "batch *times"]
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """γ, u(1 + (n−1)γ), ⟨θ, A⟩ and ‖A‖."""
        shape = (-1, *[1] * (log_gap.ndim - 1))
        others, beta = self.tokens.reshape(shape) - 1, self.beta.reshape(shape)
        gap = torch.exp(log_gap)
        gamma = -torch.expm1(log_gap)
        fall = torch.exp(-beta * gap)  # e^{β(γ−1)}
        if self.normalised:
            own = 1 / (1 + others * fall)
        else:
            own = torch.exp(beta) / (others + 1) * torch.ones_like(gamma)
        other = own * fall
        radial = own + others * gamma * other
        square = own**2 + 2 * others * gamma * own * other
        square = square + others * (1 + (others - 1) * gamma) * other**2
        pull = other * (1 + others * gamma)
        return gamma, pull, radial, square.clamp_min(0).sqrt()

    def field(
        self, time: Float[Tensor, "batch"], state: Float[Tensor, "batch m"]
    ) -> Float[Tensor, "batch m"]:
        radius = state[:, 1].exp()
        _, pull, radial, norm = self.attend(state[:, 0])
        slowness, growth = self.schemes.rates(time, radius, radial, norm)
        return torch.stack([-2 * slowness * pull, growth / radius], 1)

    def project(self, state: Float[Tensor, "batch m"]) -> Float[Tensor, "batch m"]:
        return state

    def size(
        self, error: Float[Tensor, "batch m"], state: Float[Tensor, "batch m"]
    ) -> Float[Tensor, "batch"]:
        """As a share of what is large: no sum has more digits than its largest term."""
        return (error / (1 + state.abs())).abs().amax(-1)

    def rows(self, index: Int[Tensor, "some"]) -> "Equiangular":
        return replace(
            self,
            tokens=self.tokens[index],
            beta=self.beta[index],
            schemes=self.schemes.rows(index),
        )

    def to(self, dtype: torch.dtype) -> "Equiangular":
        return replace(self, tokens=self.tokens.to(dtype), beta=self.beta.to(dtype))

    def breaks(self, end: float) -> tuple[float, ...]:
        return tuple(time for time in self.schemes.breaks() if 0 < time < end)

    def between(self, start: float, end: float) -> "Equiangular":
        return replace(self, schemes=self.schemes.between(start, end))


def solve(
    scheme: Scheme,
    tokens: int,
    beta: float,
    times: Float[Tensor, "times"],
    gamma0: float = 0.0,
    radius0: float = 1.0,
    normalised: bool = True,
) -> Reduced:
    """One scheme from γ₀ and r₀."""
    found = solve_many([scheme], [tokens], [beta], times, gamma0, radius0, normalised)
    parts = (found.gamma, found.log_gap, found.radius, found.attention_norm, found.velocity)
    return Reduced(found.time, *(part[0] for part in parts))


def solve_many(
    schemes: Sequence[Scheme],
    tokens: Sequence[int],
    beta: Sequence[float],
    times: Float[Tensor, "times"],
    gamma0: float = 0.0,
    radius0: float = 1.0,
    normalised: bool = True,
    tolerance: float = 1e-12,
) -> Reduced:
    """A batch: one scheme, n and β per trajectory."""
    _check(tokens, gamma0, radius0)
    batch = len(schemes)
    if not len(tokens) == len(beta) == batch:
        raise InputError(f"{batch} schemes, {len(tokens)} values of n and {len(beta)} of β")
    log_gap0, log_radius0 = math.log1p(-gamma0), math.log(radius0)
    state = torch.tensor([[log_gap0, log_radius0]], dtype=torch.float64).repeat(batch, 1)
    system = Equiangular(
        torch.tensor(tokens, dtype=torch.float64),
        torch.tensor(beta, dtype=torch.float64),
        SchemeBatch.of(schemes, batch, state.device),
        normalised,
    )
    kept = torch.empty(batch, len(times), 2, dtype=torch.float64)

    def saved(number: int, rows: Tensor, states: Tensor) -> None:
        kept[rows, number] = states

    with one_thread():
        integrate(system, state, times, saved, tolerance)
    log_gap, radius = kept[..., 0], kept[..., 1].exp()
    gamma, _, _, norm = system.attend(log_gap)
    fields = [system.field(times[[i]].expand(batch), kept[:, i]) for i in range(len(times))]
    velocity = -torch.stack(fields, 1)[..., 0] * torch.exp(log_gap)
    return Reduced(times, gamma, log_gap, radius, norm, velocity)


def _check(tokens: Sequence[int], gamma0: float, radius0: float) -> None:
    if min(tokens) < 2:
        raise InputError(f"a swarm needs at least 2 tokens, got {min(tokens)}")
    if not -1 / (max(tokens) - 1) <= gamma0 < 1:
        raise InputError(f"{max(tokens)} tokens cannot all have the cosine {gamma0:g}")
    if not radius0 > 0:
        raise InputError(f"a token needs a length above 0, got {radius0:g}")
