"""The check of row D7: how fast the variance of a narrow cone falls."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from headgauge.claims.dynamics import FADING, attention
from headgauge.claims.record import Finding
from headgauge.claims.sampling import highest, lowest
from headgauge.particles import starts
from headgauge.particles.inner_products import InnerProducts
from headgauge.particles.integrate import integrate
from headgauge.particles.observables import gaps_of
from headgauge.theory.dynamics import theorems

_TOKENS = 6
_TIMES = 0.0, 5.0, 50.0


def _rate(system: InnerProducts, time: Tensor, states: Tensor) -> Tensor:
    """−V'/V; the variance is the mean of the gaps."""
    change = system.gaps(system.field(time, states))
    return -change.sum((-2, -1)) / system.gaps(states).sum((-2, -1))


@dataclass(frozen=True)
class _Cone:
    """−V'/V of 6 tokens in a cone at t = 50, under each of six schemes."""

    width: float
    """The widest gap at the start."""
    rates: Tensor
    broken: float
    """How far a bound was broken at t = 0, 5 or 50, as a share of the rate."""
    apart: float
    """How far the bounds are apart in the end."""


def _cones(beta: float, *widths: float) -> list[_Cone]:
    gaps = torch.stack([gaps_of(starts.cone(_TOKENS, 3, width, seed=3)) for width in widths])
    schemes = FADING * len(widths)
    repeated = gaps.repeat_interleave(len(FADING), 0)
    system, state = InnerProducts.of(repeated, attention(beta, len(schemes)), schemes)
    shape = 3, len(schemes)
    rates, broken, apart = (torch.full(shape, math.nan, dtype=torch.float64) for _ in range(3))

    def saved(number: int, rows: Tensor, states: Tensor) -> None:
        here = system.rows(rows)
        time = torch.full_like(states[:, 0], _TIMES[number])
        rates[number, rows] = _rate(here, time, states)
        look = here.see(_TIMES[number], states)
        for place, row in enumerate(rows.tolist()):
            seen = look.radius[place], look.attention_norm[place]
            slow = schemes[row].speed_factor(time[place].expand_as(seen[0]), *seen)
            low, high = theorems.cone_rates(look.gaps[place].amax().item(), beta, 1 / slow)
            rate = rates[number, row]
            broken[number, row] = torch.maximum(low - rate, rate - high) / rate
            apart[number, row] = high / low - 1

    integrate(system, state, list(_TIMES), saved, 1e-4)
    rates, broken, apart = (each.unflatten(1, (len(widths), -1)) for each in (rates, broken, apart))
    return [
        _Cone(gap, rates[-1, k], highest(broken[:, k]), highest(apart[-1, k]))
        for k, gap in enumerate(gaps.amax((-2, -1)).tolist())
    ]


def _pair(gap: float, beta: float) -> tuple[float, float]:
    """−V'/V of two tokens under Post-LN, and the least that the bound allows."""
    gaps = torch.tensor([[[0.0, gap], [gap, 0.0]]], dtype=torch.float64)
    system, state = InnerProducts.of(gaps, attention(beta, 1), FADING[0])
    low, _ = theorems.cone_rates(gap, beta, torch.ones(2, dtype=torch.float64))
    return _rate(system, torch.zeros(1, dtype=torch.float64), state).item(), low.item()


def cone() -> Finding:
    # The first cone is as narrow as the notes ask, the second 240 times as wide.
    narrow, wide = _cones(2.0, 0.01, 0.2)
    share = [100 * _TOKENS**2 * each.width for each in (narrow, wide)]
    scale, stated = (
        torch.tensor([law(scheme, _TIMES[-1]) for scheme in FADING])
        for law in (theorems.cone_scale, theorems.cone_scale_stated)
    )
    constants, as_stated = narrow.rates * scale, narrow.rates * stated
    pairs = [(gap, beta, *_pair(gap, beta)) for gap in (0.1, 0.01) for beta in (0.0, 1.0, 4.0)]
    short = [(rate - low) / ((1 + beta) * gap) ** 2 for gap, beta, rate, low in pairs]
    antipodal, _ = _pair(2.0, 0.01)
    return Finding(
        printed=lowest([as_stated]) > 1 and highest([as_stated]) < 4,
        corrected=share[0] < 1
        and share[1] > 200
        and highest([(constants - 2).abs(), (wide.rates * scale - 2).abs()]) < 0.05
        and highest([narrow.broken, wide.broken]) < 1e-9
        and narrow.apart < 0.01
        # The lower bound has the right first order in (1 + β)δ, for a pair.
        and lowest(short) > -1e-9
        and highest(short) < 0.2
        and abs(antipodal) < 1e-12,
        numbers={
            **{
                f"{scheme.title}: -Var' scale/Var": value.item()
                for scheme, value in zip(FADING, constants, strict=True)
            },
            "nGPT with the scale alpha_t = .6/(1+t/10), t=50": as_stated[4].item(),
            "widest gap of the two cones over 1/(100n^2)": f"{share[0]:.2f}, {share[1]:.0f}",
            "pairs: -Var'/Var above its bound, over ((1+beta)delta)^2, largest": highest(short),
            "-Var'/Var of an antipodal pair, beta=.01": antipodal,
        },
    )
