"""Rows D9 to D11: who is ahead, for how long, and one layer over a long context."""

import math
from collections.abc import Callable, Sequence

import torch

from headgauge.claims.dynamics import PAPER, attention
from headgauge.claims.record import Claim, Finding, Verdict
from headgauge.claims.sampling import highest, lowest
from headgauge.dynamics import equiangular, long_context, rates, schemes, starts, theorems
from headgauge.dynamics.inner_products import InnerProducts
from headgauge.dynamics.integrate import integrate
from headgauge.dynamics.observables import gaps_of


def peri_ahead() -> Finding:
    grid = ((8, 1.0), (32, 2.0), (64, 4.5), (8, 6.0), (16, 8.0))
    gains, off = {}, []
    for tokens, beta in grid:
        peri, pre = (
            rates.initial_velocity(schemes.get(name), tokens, beta)[1]
            for name in ("peri_ln", "pre_ln")
        )
        gains[tokens, beta] = peri / pre
        off.append(abs(peri / pre / theorems.peri_over_pre(tokens, beta) - 1))
    crowded = [gain for (n, beta), gain in gains.items() if n - 1 >= math.exp(beta)]
    sparse = [
        gain - (1 + (n - 1) * math.exp(-beta))
        for (n, beta), gain in gains.items()
        if n - 1 < math.exp(beta)
    ]
    return Finding(
        printed=lowest(gains.values()) > 1.1,
        conditional=lowest(crowded) >= math.sqrt(2),
        corrected=highest(off) < 1e-4 and highest(sparse) <= 0,
        numbers={
            **{
                f"Peri-LN over Pre-LN at t=0, n={tokens}, e^beta={math.exp(beta):.0f}": gain
                for (tokens, beta), gain in gains.items()
            },
            "largest relative difference from the formula": highest(off),
        },
    )


def same_curve() -> Finding:
    times = torch.tensor([0.5, 2.0, 8.0, 30.0, 1e3, 1e6], dtype=torch.float64)
    tokens, beta = [64, 256, 8], [2.0, 5.0, 1.0]
    pair = [schemes.get("peri_ln")] * 3 + [schemes.get("pre_ln")] * 3
    found = equiangular.solve_many(pair, tokens * 2, beta * 2, times, tolerance=1e-8)
    ahead = found.log_gap[3:] - found.log_gap[:3]
    product = 2 * found.radius.log() + found.log_gap
    apart = (product[3:, -1] - product[:3, -1]).abs()
    # Post-LN at the time that LN-Scaling's clock shows, tokens at random.
    gaps = gaps_of(starts.uniform(12, 4, seed=5))[None]
    ends = {"ln_scaling": 24.0, "post_ln": theorems.post_ln_time(24.0)}
    states = []
    for name, end in ends.items():
        system, state = InnerProducts.of(gaps, attention(2.0, 1), schemes.get(name))
        integrate(system, state, [end], lambda number, rows, found: states.append(found), 1e-9)
    return Finding(
        printed=lowest([ahead]) >= -1e-6 and lowest([ahead[:, 0]]) > 0.001,
        corrected=highest([apart]) < 1e-4
        and highest([ahead[:, -1].abs()]) < 1e-4
        and highest([(states[0] / states[1] - 1).nan_to_num(0.0).abs()]) < 1e-6,
        numbers={
            "least lead of Peri-LN in log(1-gamma), t up to 1000000": lowest([ahead]),
            "largest lead": highest([ahead]),
            "lead left at t=1000000": highest([ahead[:, -1].abs()]),
            "difference of log r^2(1-gamma) at t=1000000": highest([apart]),
        },
    )


def long_context_law() -> Finding:
    exact = []
    for tokens, cosine, gamma in ((4, 0.3, 0.5), (24, 0.6, 2.5), (48, 0.1, 1.0), (48, 0.0, 0.5)):
        directions = starts.equiangular(tokens, tokens, cosine)
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
        printed=off(long_context.limit_printed, points + orthogonal) < 1e-3,
        conditional=off(long_context.limit_printed, points) < 1e-3,
        corrected=highest(exact) < 1e-12 and off(long_context.limit, points + orthogonal) < 1e-3,
        numbers={
            "exact form against tokens, largest error": highest(exact),
            "largest distance from the limit at n=1e200, rho > 0": off(long_context.limit, points),
            "output cosine at rho=0, gamma=.7, n=1e200": long_context.output_cosine(long, 0.0, 0.7),
            "printed limit there": long_context.limit_printed(0.0, 0.7),
            "output cosine at rho=.4, n=100000, 20 % below the threshold": width[0],
            "the same, 20 % above": width[1],
        },
    )


CLAIMS = (
    Claim(
        id="D9",
        where=f"{PAPER}, the case for Peri-LN: early layers",
        statement="Peri-LN moves the early layers faster than Pre-LN.",
        verdict=Verdict.CONDITION,
        because="By (e^β+n−1)/√(e^{2β}+n−1) = 1/‖A(0)‖: at least √2 for n − 1 ≥ e^β, and at most 1 "
        "+ (n−1)e^{−β}. At n = 16, β = 8 that is half a percent.",
        corrected="With n − 1 ≥ e^β it does, by up to √n. Where n ≪ e^β each token sees itself "
        "alone, ‖A‖ is 1 from the start and there is nothing to gain.",
        code=("dynamics.theorems.peri_over_pre", "dynamics.rates.initial_velocity"),
        check=peri_ahead,
    ),
    Claim(
        id="D10",
        where="arXiv 2510.05554, the one-layer law for long contexts",
        statement="For n tokens of pairwise cosine ρ and β = γ log n the outputs' cosine goes to 1 "
        "if γ < 1/(1−ρ), to 4ρ/(1+3ρ) if equal, to ρ if greater.",
        verdict=Verdict.CONDITION,
        because="True for 0 < ρ < 1. For ρ = 0 the tokens' sum is √n long and not n, and the "
        "threshold is ½: at γ = .7 the cosine goes to 0 and not to 1.",
        corrected="At every n the cosine is 1 − (1−ρ)/(1 + 2qT + q²nT) with T = 1+(n−1)ρ and q = "
        "1/(n^{γ(1−ρ)} − 1). The limit is far away: the transition is 1/log n wide in γ.",
        code=(
            "dynamics.long_context.output_cosine",
            "dynamics.long_context.limit",
            "dynamics.long_context.limit_printed",
        ),
        check=long_context_law,
    ),
    Claim(
        id="D11",
        where=f"{PAPER}, the case for Peri-LN: late layers",
        statement="Peri-LN uses the early layers better than Pre-LN and collapses only "
        "polynomially, as Pre-LN does.",
        verdict=Verdict.TRUE,
        because="Equiangular tokens share one ‖A‖, so Peri-LN is Pre-LN with dt/‖A‖ for dt and "
        "runs along the same curve of γ and r; as ‖A‖ ≤ 1 it is never behind.",
        corrected="For equiangular tokens, and more: the C of C/t² is the same for both, so the "
        "lead tends to a fixed time that no deep layer notices. LN-Scaling is Post-LN at the time "
        "2(√(t+1)−1), for every swarm whose matrices do not change in time.",
        code=("dynamics.equiangular.solve_many", "dynamics.theorems.post_ln_time"),
        check=same_curve,
    ),
)
