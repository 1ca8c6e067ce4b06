"""How fast γ leaves an orthogonal start and how it ends, measured; the formulas are only compared.

The initial velocity is the difference quotient of integrated γ at four ever shorter times,
extrapolated to 0. The final rate is the slope of log(1 − γ) against the scheme's own clock, late.
Each is taken twice: on the equiangular reduction, and on n simulated tokens.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.particles import sphere
from headgauge.particles.attention import Attention
from headgauge.particles.equiangular import solve, solve_many
from headgauge.particles.inner_products import InnerProducts
from headgauge.particles.integrate import states_at
from headgauge.particles.schemes import Scheme
from headgauge.particles.systems import Particles
from headgauge.theory.dynamics.observables import gaps_of, pair_values

_SHORT = 0.04  # the longest of the first times, as a share of the time in which γ' changes
_HALVINGS = 4
_COLLAPSED = -25.0  # log(1 − γ) at which the tokens are as good as one
_APART = -5.0  # above it the end has not begun
_DECADES = 6  # the reduction ends at t = 10⁶
_TOLERANCE = 1e-5  # of 1 − γ: two late values of its logarithm differ by a few tenths or more
_LATE = 0.75  # the particles' slope is taken from this share of their time on


def initial_velocity(
    scheme: Scheme, tokens: int, beta: float, radius: float = 1.0
) -> tuple[float, float]:
    """γ'(0) of the reduction and of `tokens` simulated particles from an orthogonal start."""
    times = _first_times(scheme, tokens, beta, radius)
    reduced = solve(scheme, tokens, beta, times, radius0=radius).gamma
    start = sphere.equiangular(tokens, tokens)[None]
    system, state = Particles.of(start, _attention(beta), scheme, radius)
    states = states_at(system, state, times, 1e-12)[0]
    gamma = 1 - pair_values(gaps_of(system.directions(states))).mean(-1)
    return _slope_at_zero(times, reduced), _slope_at_zero(times, gamma)


def final_rates(
    schemes: Sequence[Scheme], tokens: int, beta: float
) -> list[tuple[float | None, float | None]]:
    """The late slope of log(1 − γ) against `scheme.clock`, of the reduction and of particles.

    None where they have not come together by t = 10⁶. All reductions go in one batch.
    """
    times = torch.logspace(0, _DECADES, 1 + 8 * _DECADES, dtype=torch.float64)
    batch = len(schemes)
    found = solve_many(schemes, [tokens] * batch, [beta] * batch, times, tolerance=1e-6)
    rates = []
    for scheme, log_gap in zip(schemes, found.log_gap, strict=True):
        changed = max(scheme.breaks(), default=0.0)
        if log_gap[-1] > _APART or times[-2] <= changed:
            rates.append((None, None))
            continue
        late = _slope(scheme, times[-2:], log_gap[-2:])
        together = (log_gap <= _COLLAPSED).nonzero()
        end = times[together[0, 0]] if len(together) else times[-1]
        last = torch.tensor([_LATE, 1.0], dtype=torch.float64) * end
        rates.append((late, _slope(scheme, last, _particles(scheme, tokens, beta, last))))
    return rates


def _attention(beta: float) -> Attention:
    return Attention(torch.tensor([beta], dtype=torch.float64))


def _first_times(scheme: Scheme, tokens: int, beta: float, radius: float) -> Float[Tensor, "times"]:
    """h/8, h/4, h/2 and h; γ' changes by a share of at most about 2/s in a unit of time."""
    nothing = torch.zeros(1, dtype=torch.float64)
    norm = solve(scheme, tokens, beta, nothing, radius0=radius).attention_norm
    slow = scheme.speed_factor(nothing, torch.full_like(norm, radius), norm)
    longest = min([_SHORT * slow.item(), *(at / 2 for at in scheme.breaks())])
    return longest * 2.0 ** torch.arange(1 - _HALVINGS, 1, dtype=torch.float64)


def _slope_at_zero(times: Float[Tensor, "times"], gamma: Float[Tensor, "times"]) -> float:
    """Richardson's table for the one-sided quotient, whose error is a series in h, h², h³, …"""
    table = (gamma / times).flip(0)
    for order in range(1, len(times)):
        table = table[1:] + (table[1:] - table[:-1]) / (2**order - 1)
    return table.item()


def _particles(
    scheme: Scheme, tokens: int, beta: float, times: Float[Tensor, "times"]
) -> Float[Tensor, "times"]:
    """log(1 − γ) of simulated particles; their inner products keep the digits of 1 − γ."""
    gaps = gaps_of(sphere.equiangular(tokens, tokens))[None]
    system, state = InnerProducts.of(gaps, _attention(beta), scheme)
    states = states_at(system, state, times, _TOLERANCE)[0]
    return pair_values(system.gaps(states)).mean(-1).log()


def _slope(scheme: Scheme, times: Float[Tensor, "2"], log_gap: Float[Tensor, "2"]) -> float:
    return (log_gap.diff() / scheme.clock(times).diff()).item()
