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
from jaxtyping import Float
from torch import Tensor

from headgauge.errors import InputError
from headgauge.particles.integrate import states_at
from headgauge.particles.schemes import Scheme, SchemeBatch
from headgauge.particles.systems import Scalars, Some, States, System
from headgauge.threads import one_thread

OverTime = Float[Tensor, "*batch times"]


@dataclass(frozen=True, eq=False)
class Reduced:
    """A solution at the asked times; `log_gap` is log(1 − γ)."""

    time: Float[Tensor, "times"]
    gamma: OverTime
    log_gap: OverTime
    radius: OverTime
    attention_norm: OverTime
    velocity: OverTime


@dataclass(frozen=True, eq=False)
class Equiangular(System):
    """Two numbers per trajectory, (log(1 − γ), log r)."""

    tokens: Scalars
    beta: Scalars
    normalised: bool = True

    def attend(
        self, log_gap: Float[Tensor, "batch *times"]
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """γ, u(1 + (n−1)γ), ⟨θ, A⟩ and ‖A‖."""
        shape = (-1, *[1] * (log_gap.ndim - 1))
        tokens, beta = (each.to(log_gap.dtype).reshape(shape) for each in (self.tokens, self.beta))
        others = tokens - 1
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

    def field(self, time: Scalars, state: States) -> States:
        radius = state[:, 1].exp()
        _, pull, radial, norm = self.attend(state[:, 0])
        pace, growth = self.schemes.rates(time, radius, radial, norm)
        return torch.stack([-2 * pace * pull, growth / radius], 1)

    def size(self, error: States, state: States) -> Scalars:
        """As a share of what is large: no sum has more digits than its largest term."""
        return (error / (1 + state.abs())).abs().amax(-1)

    def only(self, index: Some) -> "Equiangular":
        tokens, beta = self.tokens[index], self.beta[index]
        return replace(self, tokens=tokens, beta=beta, schemes=self.schemes.only(index))


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
    parts = {name: part[0] for name, part in vars(found).items() if name != "time"}
    return Reduced(found.time, **parts)


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
    batch = len(schemes)
    if not len(tokens) == len(beta) == batch:
        raise InputError(f"{batch} schemes, {len(tokens)} values of n and {len(beta)} of β")
    if min(tokens) < 2:
        raise InputError(f"a swarm needs at least 2 tokens, got {min(tokens)}")
    if not -1 / (max(tokens) - 1) <= gamma0 < 1:
        raise InputError(f"{max(tokens)} tokens cannot all have the cosine {gamma0:g}")
    if not radius0 > 0:
        raise InputError(f"a token needs a length above 0, got {radius0:g}")
    start = [math.log1p(-gamma0), math.log(radius0)]
    state = torch.tensor([start], dtype=torch.float64).repeat(batch, 1)
    n, betas = (torch.tensor(each, dtype=torch.float64) for each in (tokens, beta))
    system = Equiangular(n, betas, normalised, schemes=SchemeBatch.of(schemes, batch))
    with one_thread():
        kept = states_at(system, state, times, tolerance)
    log_gap, radius = kept[..., 0], kept[..., 1].exp()
    gamma, _, _, norm = system.attend(log_gap)
    fields = [system.field(times[[i]].expand(batch), kept[:, i]) for i in range(len(times))]
    velocity = -torch.stack(fields, 1)[..., 0] * torch.exp(log_gap)
    return Reduced(times, gamma, log_gap, radius, norm, velocity)
