"""Rows D4 and D5: when all tokens become one, and how slowly a stream can grow."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from scipy.optimize import minimize
from torch import Tensor

from headgauge.claims.dynamics import NOTES, attention
from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import Draws, doubles, highest, lowest
from headgauge.particles import Attention, InnerProducts, equiangular, schemes, sphere
from headgauge.particles.integrate import states_at
from headgauge.theory.dynamics import theorems
from headgauge.theory.dynamics.observables import gaps_of


class _Fading(schemes.NGpt):
    """α_t = 1/(1+t)²: ∫α = 1, and the tokens cannot use more than that."""

    def gain(self, time: Float[Tensor, "..."], norm: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return super().gain(time, norm) / (1 + time).square()


def _farthest(which: Sequence[str], dims: Sequence[int], end: float) -> Float[Tensor, "swarms"]:
    """The largest gap at `end` of swarms of 8 tokens from uniform starts, β = 1 and 2, by the field
    of the definitions, in double precision."""
    kinds = list(itertools.product(map(schemes.get, which), dims, (1.0, 2.0), range(2)))
    gaps = torch.stack([gaps_of(sphere.uniform(8, dim, seed)) for _, dim, _, seed in kinds])
    beta = doubles([beta for _, _, beta, _ in kinds])
    chosen = [scheme for scheme, _, _, _ in kinds]
    system, state = InnerProducts.of(gaps, Attention(beta), chosen, floor=1e-3)
    return system.gaps(states_at(system, state, [end], 1e-6)[:, 0]).amax((-2, -1))


@claim("D4", "arXiv 2510.22026, Theorem 3.1", Verdict.TRUE, seen_in=NOTES)
def synchronisation() -> Finding:
    """With Q = K = V = I and d ≥ 2, Post-LN, nGPT and LN-Scaling synchronise almost surely from
    uniform starts; Pre-LN, Mix-LN and Peri-LN synchronise or have min_j liminf r'_j = 0.

    Every swarm tried came together, d = 2 included (Pre-LN, Mix-LN and Peri-LN by t = 10⁸); nothing
    is proved here. 'Almost surely' is needed: a regular polygon in d = 2 does not move under any
    scheme, while its r'_j stay positive.

    As stated, for nGPT with ∫α = ∞: with α_t = 1/(1+t)² the tokens stop on the way. The second case
    of Pre-LN, Mix-LN and Peri-LN cannot occur for n < 1 + βe^{β+1} (D5).

    In particles.inner_products: InnerProducts; in particles.sphere: uniform.
    """
    bound = _farthest(("post_ln", "ngpt", "ln_scaling"), (2, 3), 100.0)
    free = _farthest(("pre_ln", "mix_ln", "peri_ln"), (2, 3), 1e8)
    angles = 2 * math.pi * torch.arange(8, dtype=torch.float64) / 8
    polygon = torch.stack([angles.cos(), angles.sin()], -1)
    output = attention(1.0, 1).output(polygon[None], None)[0]
    radial = torch.linalg.vecdot(polygon, output)
    turn = (output - radial[:, None] * polygon).norm(dim=-1)
    times = doubles([1e6])
    fading = equiangular.solve_many([_Fading()], [8], [1.0], times, tolerance=1e-6).log_gap.exp()
    return Finding(
        printed=highest(bound) < 1e-2 and highest(free) < 1e-2,
        # Neither "almost surely" nor ∫α = ∞ can be left out.
        corrected=highest(turn) < 1e-12 and lowest(radial) > 0.1 and lowest(fading) > 0.1,
        numbers={
            "largest gap of 24 swarms at t=100, Post-LN, nGPT, LN-Scaling, d=2, 3": highest(bound),
            "largest gap of 24 swarms at t=1e8, Pre-LN, Mix-LN, Peri-LN": highest(free),
            "r' of a regular octagon, beta=1": lowest(radial),
            "speed of a regular octagon": highest(turn),
            "1-gamma of nGPT with alpha=1/(1+t)^2 at t=1000000": lowest(fading),
        },
    )


def _least_found(tokens: int, beta: float) -> tuple[float, float]:
    """The least ⟨θ_1, A_1⟩ that a descent from random tokens in three dimensions comes to.

    And the least of ⟨θ_1, A_1⟩/‖A_1‖ seen there.
    """

    def first(free: Tensor) -> tuple[Tensor, Tensor]:
        directions = torch.nn.functional.normalize(free.reshape(tokens, 3), dim=-1)
        cosines = directions @ directions[0]
        weights = torch.softmax(beta * cosines, 0)
        return weights @ cosines, (weights @ directions).norm()

    def rate_and_slope(point: np.ndarray) -> tuple[float, np.ndarray]:
        free = torch.tensor(point).requires_grad_()
        rate, _ = first(free)
        (slope,) = torch.autograd.grad(rate, free)
        return rate.item(), slope.numpy()

    start = Draws(tokens).normal(3 * tokens).numpy()
    found = minimize(rate_and_slope, start, jac=True, method="L-BFGS-B", tol=1e-12)
    rate, norm = first(torch.tensor(found.x))
    return rate.item(), (rate / norm).item()


@claim("D5", "arXiv 2510.22026, corollary of Theorem 3.1", Verdict.TRUE, seen_in=NOTES)
def radial_rate() -> Finding:
    """With Q = K = V = I and d ≥ 2, n ≤ e^β ⇒ r'_j ≥ (e^β−n+1)/(n e^β), so that Pre-LN, Mix-LN and
    Peri-LN synchronise almost surely from uniform starts.

    c e^{βc} ≥ −1 and e^{βc} ≤ e^β in numerator and denominator. It is never attained, and at n =
    20, β = 3 it is 180 times too small.

    The least r'_j of all configurations is 1 − W((n−1)/e)/β with Lambert's W if 1 + W ≤ 2β, else
    tanh(β − ½log(n−1)), attained. It is positive exactly for n − 1 < βe^{β+1} (β ≥ 1; e^{2β} for β
    ≤ 1), so that far more tokens than e^β are allowed: eβ times as many.

    In theory.dynamics.theorems: radial_rate_stated, least_radial_rate, tokens_allowed.
    """
    # n ≤ e^β in the first three, with n = 2 where the stated bound is nearest to the sharp one.
    grid = ((2, 4.0), (8, 2.5), (20, 3.0), (12, 1.0), (12, 0.5))
    broken, off, peri, shares = 0, [], 0, []
    for tokens, beta in grid:
        found, divided = _least_found(tokens, beta)
        sharp = theorems.least_radial_rate(tokens, beta)
        off.append(abs(found - sharp))
        peri += int(sharp > 0 and not divided >= sharp - 1e-9)
        if tokens <= math.exp(beta):
            stated = theorems.radial_rate_stated(tokens, beta)
            broken += int(not 0 < stated <= found)
            shares.append(sharp / stated)
    edges = []
    for beta in (0.5, 1.0, 3.0, 6.0):
        allowed = theorems.tokens_allowed(beta)
        below, above = (max(n, 2) for n in (math.ceil(allowed) - 1, math.floor(allowed) + 1))
        edges += [_attained(below, beta) > 0, _attained(above, beta) < 0]
    return Finding(
        printed=broken == 0,
        # The factor at n = 2, β = 4; a bound any weaker is not the stated one.
        informative=lowest(shares) < 1.91,
        corrected=highest(off) < 1e-5 and peri == 0 and all(edges),
        numbers={
            "least r' found by descent minus the sharp bound, largest": highest(off),
            "sharp over stated bound, smallest (n=2, beta=4)": lowest(shares),
            "sharp over stated bound at n=20, beta=3": shares[-1],
            "e^beta at beta=3": math.exp(3.0),
            "n up to which r' is bounded away from 0 at beta=3": theorems.tokens_allowed(3.0),
        },
    )


def _attained(tokens: int, beta: float) -> float:
    """⟨θ_1, A_1⟩ when all other tokens are where the sharp bound says."""
    cosine = doubles(theorems.least_radial_cosine(tokens, beta))
    other = torch.stack([cosine, (1 - cosine.square()).sqrt()])[None]
    first = doubles([[1.0, 0.0]])
    weights = torch.softmax(beta * (first @ torch.cat([first, other.expand(tokens - 1, 2)]).mT), -1)
    return (weights[0, 0] + cosine * weights[0, 1:].sum()).item()
