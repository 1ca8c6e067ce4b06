"""Rows D9 to D11: who is ahead, for how long, and one layer over a long context."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from headgauge.claims.dynamics import NOTES, attention
from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import highest, lowest
from headgauge.particles import InnerProducts, Particles, equiangular, rates, schemes, sphere
from headgauge.particles.attention import Projections
from headgauge.particles.integrate import states_at
from headgauge.theory.dynamics import clocks, long_context
from headgauge.theory.dynamics.observables import gaps_of


def _faster(directions: Tensor, beta: float, value: float = 1.0) -> Tensor:
    """Each token's speed under Peri-LN over that under Pre-LN, Q = K = I and V = `value`·I."""
    speeds = []
    for name in ("peri_ln", "pre_ln"):
        system, state = Particles.of(directions[None], attention(beta, 1), schemes.get(name), 1.7)
        one = torch.eye(directions.shape[-1], dtype=torch.float64)
        system = replace(system, matrices=Projections(one, one, value * one))
        moved = system.field(torch.zeros(1, dtype=torch.float64), state)
        speeds.append(system.directions(moved)[0].norm(dim=-1))
    return speeds[0] / speeds[1]


@claim(
    "D9",
    "arXiv 2510.22026, the case for Peri-LN: early layers",
    Verdict.TRUE,
    seen_in=f"{NOTES}; the abstract calls Peri-LN a particularly effective choice",
)
def peri_ahead() -> Finding:
    """For Q = K = V = I Peri-LN moves the early layers faster than Pre-LN.

    At the same tokens and lengths each token moves 1/‖A_j‖ times as fast, and ‖A_j‖ < 1, a mean of
    unit vectors, until all tokens are one.

    From orthogonal tokens the factor at t = 0 is 1/‖A(0)‖ = (e^β+n−1)/√(e^{2β}+n−1): between √2 and
    √n for n − 1 ≥ e^β, and at most 1 + (n−1)e^{−β}. Where n ≪ e^β that is little, but it speaks of
    t = 0 alone: at n = 16, β = 6 it is 1.04, then ‖A‖ falls to .82 and γ = .5 comes 14 % sooner,
    though at t = 6.7 and not 7.7 million: neither gets anywhere in a model's depth. With a V that
    makes ‖A_j‖ > 1 Peri-LN is the slower one.

    In theory.dynamics.clocks: peri_over_pre, times_to; in particles.rates: initial_velocity.
    """
    gains, off = {}, []
    for tokens, beta in ((8, 1.0), (32, 2.0), (16, 6.0), (16, 8.0)):
        peri, pre = (
            rates.initial_velocity(schemes.get(name), tokens, beta)[1]
            for name in ("peri_ln", "pre_ln")
        )
        gains[tokens, beta] = peri / pre
        off.append(abs(peri / pre / clocks.peri_over_pre(tokens, beta) - 1))
    swarms = [
        (sphere.uniform(12, dim, seed=dim), beta) for dim in (2, 3, 30) for beta in (0.5, 6.0)
    ]
    for directions, beta in swarms:
        norms = attention(beta, 1).output(directions[None], None)[0].norm(dim=-1)
        off.append(highest((_faster(directions, beta) * norms - 1).abs()))
    least = lowest(_faster(directions, beta).amin() for directions, beta in swarms)
    outside = highest(
        highest([gain - min(1 + m, math.sqrt(n)), math.sqrt(2) - gain if m >= 1 else -1.0])
        for (n, beta), gain in gains.items()
        for m in [(n - 1) * math.exp(-beta)]
    )
    doubled = highest(_faster(sphere.equiangular(16, 16), 8.0, value=2.0))
    pre, peri = clocks.times_to(0.5, 16, 6.0)
    return Finding(
        printed=lowest(gains.values()) > 1 and least > 1,
        corrected=highest(off) < 1e-4
        and outside <= 0
        and doubled < 1
        and 0.13 < 1 - peri / pre < 0.15,
        numbers={
            **{
                f"Peri-LN over Pre-LN at t=0, n={tokens}, e^beta={math.exp(beta):.0f}": gain
                for (tokens, beta), gain in gains.items()
            },
            "the same of a token in uniform swarms, smallest": least,
            "largest relative difference from 1/|A|": highest(off),
            "Peri-LN over Pre-LN with V = 2I, n=16, beta=8": doubled,
            "time to gamma=.5 at n=16, beta=6, Pre-LN": pre,
            "the same, Peri-LN": peri,
        },
    )


@claim(
    "D11",
    "arXiv 2510.22026, the case for Peri-LN: late layers",
    Verdict.TRUE,
    seen_in=f"{NOTES}; the abstract calls Peri-LN a particularly effective choice",
)
def same_curve() -> Finding:
    """For Q = K = V = I and tokens at equal angles Peri-LN uses the early layers better than Pre-LN
    and collapses only polynomially, as Pre-LN does.

    Equiangular tokens share one ‖A‖ < 1, so Peri-LN is Pre-LN with dt/‖A‖ for dt: it runs along the
    same curve of γ and r and is never behind (D9).

    And more: the C of C/t² is the same for both, and the lead grows to a fixed time. In the end
    Peri-LN's 1−γ is smaller by the share 2·lead/t, so a layer notices it as long as t is not much
    larger than the lead: that is 5.8 at n = 256, β = 5 and 4.1 million at n = 16, β = 6. LN-Scaling
    is Post-LN at the time 2(√(t+1)−1), for every swarm whose matrices do not change in time.

    In theory.dynamics.clocks: times_to, lead, post_ln_time; in particles.equiangular: solve_many.
    """
    # Per n and β a time far beyond the lead.
    ends = {(8, 1.0): 1e3, (256, 5.0): 1e3, (16, 6.0): 1e9}
    halfway = [clocks.times_to(0.5, *at) for at in ends]
    times = torch.tensor(sorted({*sum(halfway, ()), *ends.values()}), dtype=torch.float64)
    pair = [schemes.get("pre_ln"), schemes.get("peri_ln")]
    tokens, beta = [n for n, _ in ends for _ in pair], [b for _, b in ends for _ in pair]
    found = equiangular.solve_many(pair * len(ends), tokens, beta, times, tolerance=1e-7)
    ahead = found.log_gap[::2] - found.log_gap[1::2]
    product = 2 * found.radius.log() + found.log_gap
    apart = (product[::2, -1] - product[1::2, -1]).abs()
    place = {time: k for k, time in enumerate(times.tolist())}
    there, leads = [], {}
    for row, (at, end) in enumerate(ends.items()):
        told = [found.gamma[2 * row + k, place[halfway[row][k]]] for k in range(2)]
        there += [(gamma - 0.5).abs() for gamma in told]
        # C/t² with one C: Pre-LN needs 1 + lead/t times as long to the same gap.
        late = end * math.expm1(ahead[row, place[end]].item() / 2)
        leads[at] = late, clocks.lead(*at)
    # Post-LN at the time that LN-Scaling's clock shows, tokens at random.
    gaps = gaps_of(sphere.uniform(8, 4, seed=5))[None]
    clocked = []
    for name, end in {"ln_scaling": 24.0, "post_ln": clocks.post_ln_time(24.0)}.items():
        system, state = InnerProducts.of(gaps, attention(2.0, 1), schemes.get(name))
        clocked.append(system.gaps(states_at(system, state, [end], 1e-9)[:, 0]))
    return Finding(
        printed=lowest([ahead]) > 0,
        corrected=highest([apart]) < 1e-4
        and highest(there) < 1e-5
        and highest(abs(late / limit - 1) for late, limit in leads.values()) < 0.02
        and highest((clocked[0] - clocked[1]).abs()) < 1e-6 * highest(clocked[0]),
        numbers={
            "least lead of Peri-LN in log(1-gamma)": lowest([ahead]),
            "largest": highest([ahead]),
            "error of gamma=.5 at the time told for it": highest(there),
            **{
                f"lead in time in the end, n={n}, beta={beta:g}": limit
                for (n, beta), (_, limit) in leads.items()
            },
            "difference of log r^2(1-gamma) in the end": highest([apart]),
        },
    )


@claim(
    "D10",
    "arXiv 2510.05554, the one-layer law for long contexts",
    Verdict.CONDITION,
    seen_in=f"{NOTES}; nothing of this paper was at hand",
)
def long_context_law() -> Finding:
    """For n tokens of norm 1 and pairwise cosine ρ, Q = K = V = I and β = γ log n, the cosine of
    one layer's outputs goes to 1 if γ < 1/(1−ρ), to 4ρ/(1+3ρ) if equal, to ρ if greater.

    True for 0 < ρ < 1. For ρ = 0 the tokens' sum is √n long and not n, and the threshold is ½: at γ
    = .7 the cosine goes to 0 and not to 1.

    At every n the cosine is 1 − (1−ρ)/(1 + 2qT + q²nT) with T = 1+(n−1)ρ and q = 1/(n^{γ(1−ρ)} −
    1). The limit is far away: the transition is 1/log n wide in γ.

    In theory.dynamics.long_context: output_cosine, limit, limit_stated.
    """
    exact = []
    for tokens, cosine, gamma in ((4, 0.3, 0.5), (24, 0.6, 2.5), (48, 0.1, 1.0), (48, 0.0, 0.5)):
        directions = sphere.equiangular(tokens, tokens, cosine)
        output = attention(gamma * math.log(tokens), 1).output(directions[None], None)[0]
        one = output / output.norm(dim=-1, keepdim=True)
        value = long_context.output_cosine(tokens, cosine, gamma)
        exact.append(abs((one[0] @ one[1]).item() - value))
    long = 1e200
    points = [(rho, share / (1 - rho)) for rho in (0.05, 0.4, 0.8) for share in (0.9, 1.0, 1.1)]
    orthogonal = [(0.0, gamma) for gamma in (0.4, 0.5, 0.7, 1.1)]

    def off(law: Callable[[float, float], float], where: Sequence[tuple[float, float]]) -> float:
        return highest(abs(long_context.output_cosine(long, *at) - law(*at)) for at in where)

    width = [long_context.output_cosine(1e5, 0.4, share / 0.6) for share in (0.8, 1.2)]
    return Finding(
        printed=off(long_context.limit_stated, points + orthogonal) < 1e-3,
        conditional=off(long_context.limit_stated, points) < 1e-3,
        corrected=highest(exact) < 1e-12 and off(long_context.limit, points + orthogonal) < 1e-3,
        numbers={
            "exact form against tokens, largest error": highest(exact),
            "largest distance from the limit at n=1e200, rho > 0": off(long_context.limit, points),
            "output cosine at rho=0, gamma=.7, n=1e200": long_context.output_cosine(long, 0.0, 0.7),
            "the stated limit there": long_context.limit_stated(0.0, 0.7),
            "output cosine at rho=.4, n=100000, 20 % below the threshold": width[0],
            "the same, 20 % above": width[1],
        },
    )
