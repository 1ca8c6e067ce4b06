"""Rows D1 to D3: equiangular tokens, how fast they set off and how they end."""

import math

import torch

from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import doubles, highest
from headgauge.particles import Attention, Particles, equiangular, rates, schemes, sphere
from headgauge.particles.integrate import states_at
from headgauge.theory.dynamics.observables import gaps_of, pair_values

# Of this paper the abstract alone was at hand; what it states was read in notes on it.
NOTES = "second-hand notes"
SIX = tuple(schemes.get(name) for name in schemes.names())
# With an α_t that is not 1: a formula without it would not be noticed.
FADING = (*SIX[:4], schemes.get("ngpt", alpha=0.6, decay=0.1), SIX[5])


def attention(beta: float, batch: int) -> Attention:
    return Attention(torch.full((batch,), beta, dtype=torch.float64))


def _at_once(tokens: int, beta: float, gamma: float) -> float:
    """How far γ', r', ⟨θ, A⟩ and ‖A‖ of the reduction are off real tokens', t = 3 and r = 1.3."""
    batch = len(SIX)
    time = torch.full((batch,), 3.0, dtype=torch.float64)
    directions = sphere.equiangular(tokens, tokens, gamma)
    same = directions.expand(batch, -1, -1)
    system, state = Particles.of(same, attention(beta, batch), SIX, radius=1.3)
    field = system.field(time, state)
    moved = system.directions(field) @ directions.mT
    output = attention(beta, 1).output(directions[None], None)[0, 0]

    numbers = torch.full_like(time, tokens), torch.full_like(time, beta)
    reduced = equiangular.Equiangular(*numbers, schemes=system.schemes)
    gap = torch.full_like(time, 1 - gamma)
    change = reduced.field(time, torch.stack([gap.log(), torch.full_like(gap, 1.3).log()], 1))
    _, _, radial, norm = reduced.attend(gap.log())
    return highest(
        [
            (-change[:, 0] * gap - (moved + moved.mT)[:, 0, 1]).abs(),
            (1.3 * change[:, 1] - system.radius(field)[:, 0]).abs(),
            (radial - output @ directions[0]).abs(),
            (norm - output.norm()).abs(),
        ]
    )


@claim("D1", "arXiv 2510.22026, equiangular tokens", Verdict.TRUE, seen_in=NOTES)
def reduction() -> Finding:
    """For Q = K = V = I, one head without a mask and n tokens of one length with ⟨θ_i, θ_j⟩ = γ: γ'
    = (1/s)·2e^{βγ}(1−γ)(1+(n−1)γ)/Z, ⟨θ, A⟩ = (e^β+(n−1)γe^{βγ})/Z, ‖A‖² =
    (e^{2β}+2(n−1)γe^{β(1+γ)}+(n−1)e^{2βγ}(1+(n−2)γ))/Z² with Z = e^β+(n−1)e^{βγ}.

    A token sees itself with the weight e^β/Z and each other one with e^{βγ}/Z; the rest is
    counting. Simulated tokens agree to the last digits under all six schemes.

    As stated; (log(1−γ))' = −2e^{βγ}(1+(n−1)γ)/(sZ) keeps its digits late.

    In particles.equiangular: Equiangular; in particles.systems: Particles.
    """
    grid = [(n, b, g) for n in (2, 24) for b in (0.5, 6.0) for g in (-0.03, 0.4, 0.95)]
    off = highest(_at_once(*point) for point in grid)
    times = doubles([1.0, 6.0])
    tokens, beta, batch = 8, 1.7, len(SIX)
    found = equiangular.solve_many(SIX, [tokens] * batch, [beta] * batch, times, radius0=1.3)
    start = sphere.equiangular(tokens, tokens).expand(batch, -1, -1)
    system, state = Particles.of(start, attention(beta, batch), SIX, radius=1.3)
    apart = []
    for number, states in enumerate(states_at(system, state, times, 1e-9).unbind(1)):
        gamma = 1 - pair_values(gaps_of(system.directions(states))).mean(-1)
        apart.append((gamma - found.gamma[:, number]).abs())
        apart.append((system.radius(states).mean(-1) / found.radius[:, number] - 1).abs())
    return Finding(
        printed=off < 1e-12,
        corrected=off < 1e-12 and highest(apart) < 1e-7,
        numbers={
            f"largest error of a rate, six schemes at {len(grid)} points": off,
            "largest error of gamma and r up to t=6, n=8": highest(apart),
        },
    )


@claim("D2", "arXiv 2510.22026, initial velocity of the six schemes", Verdict.TRUE, seen_in=NOTES)
def initial_velocities() -> Finding:
    """For Q = K = V = I and orthogonal tokens of length r₀, γ'(0) is 2/(e^β+n−1) for Post-LN,
    Mix-LN and LN-Scaling, that over r₀ for Pre-LN, 2/(r₀√(e^{2β}+n−1)) for Peri-LN and
    2α₀/√(e^{2β}+n−1) for nGPT.

    D1 at γ = 0, where ‖A‖ = √(e^{2β}+n−1)/(e^β+n−1); difference quotients of simulated tokens,
    extrapolated to 0, agree.

    As stated.

    In particles.rates: initial_velocity; in theory.dynamics: schemes.
    """
    tokens, beta, radius = 24, 2.0, 1.5
    numbers, off = {}, []
    for scheme in FADING:
        theory = scheme.initial_velocity(tokens, beta, radius)
        measured = rates.initial_velocity(scheme, tokens, beta, radius)
        off += [abs(value / theory - 1) for value in measured]
        numbers[f"{scheme.title}: formula, n=24, beta=2, r0=1.5"] = theory
        numbers[f"{scheme.title}: measured on particles"] = measured[1]
    return Finding(
        printed=highest(off) < 1e-5,
        corrected=highest(off) < 1e-5,
        numbers={**numbers, "largest relative difference": highest(off)},
    )


@claim("D3", "arXiv 2510.22026, final velocity of the six schemes", Verdict.TRUE, seen_in=NOTES)
def final_rates() -> Finding:
    """For Q = K = V = I and from orthogonal tokens 1−γ ends like e^{−2t} (Post-LN), C/t² with r/t →
    1 (Pre-LN, Mix-LN, Peri-LN), exp(−2∫α) (nGPT) and e^{−4√(t+1)} (LN-Scaling).

    Near γ = 1 all weights are 1/n and (log(1−γ))' → −2/s; r' → 1 where the stream grows. Slopes at
    t = 10⁶ and of simulated tokens agree.

    As stated, up to a constant factor, for Mix-LN too, whose time before τ goes into C.

    In particles.rates: final_rates; in theory.dynamics: schemes.
    """
    tokens, beta = 6, 1.0
    numbers, off = {}, []
    measured = rates.final_rates(FADING, tokens, beta)
    for scheme, both in zip(FADING, measured, strict=True):
        reduced, seen = (math.nan if value is None else value for value in both)
        off += [abs(value - scheme.final_rate) for value in (reduced, seen)]
        name = f"{scheme.title}: slope of log(1-gamma) against {scheme.clock_text}"
        numbers[name] = seen
    growing = [schemes.get(name) for name in ("pre_ln", "mix_ln", "peri_ln")]
    late = doubles([1e6])
    found = equiangular.solve_many(growing, [tokens] * 3, [beta] * 3, late, tolerance=1e-5)
    ratio = highest((found.radius / late - 1).abs())
    return Finding(
        printed=highest(off) < 1e-3 and ratio < 1e-3,
        corrected=highest(off) < 1e-3,
        numbers={
            **numbers,
            "largest difference from the law": highest(off),
            "|r/t - 1| at t=1000000, largest": ratio,
        },
    )
