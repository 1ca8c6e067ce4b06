"""Tokens as particles on the sphere: "Normalization in Attention Dynamics" (arXiv 2510.22026).

    import headgauge

    found = headgauge.dynamics.simulate(tokens=64, dim=128, beta=5, seeds=4)
    found.tables["rates"]                       # theory beside measured

    scheme = headgauge.dynamics.schemes.get("peri_ln")
    headgauge.dynamics.equiangular.solve(scheme, tokens=256, beta=5.0, times=times).gamma

schemes         the six, one file each: speed factor, radial equation, residual step
attention       A_j = Σ_k w_jk Vθ_k: any Q, K, V (`weights`), heads, causal mask, any normaliser
particles       the system on directions and radii: the reference
inner_products  the same through the pairs alone, for Q = K = V = I
equiangular     its reduction to two numbers, exact at any time
layers          the discrete stack of residual steps
integrate       Runge–Kutta with projection and an error estimate (`tableaus`), of any `system`
starts          equal angles, uniform, a narrow cone
observables     cosines, clusters, energy, variance, time to collapse
rates           initial velocities and final rates, measured
theorems        bounds of Theorems 3.1, 4.2 and 4.3
clocks          how far Peri-LN is ahead of Pre-LN; LN-Scaling's clock
long_context    one layer at β = γ log n
swarms, phase, sphere, simulating    what `headgauge simulate` does
"""

from headgauge.dynamics import (
    clocks,
    equiangular,
    integrate,
    layers,
    long_context,
    observables,
    rates,
    schemes,
    starts,
    swarms,
    theorems,
)
from headgauge.dynamics.attention import Attention
from headgauge.dynamics.inner_products import InnerProducts
from headgauge.dynamics.particles import Particles
from headgauge.dynamics.result import Simulation
from headgauge.dynamics.settings import SimulationSettings
from headgauge.dynamics.simulating import run_settings, simulate
from headgauge.dynamics.swarms import SwarmKind
from headgauge.dynamics.weights import Weights

__all__ = [
    "Attention",
    "InnerProducts",
    "Particles",
    "Simulation",
    "SimulationSettings",
    "SwarmKind",
    "Weights",
    "clocks",
    "equiangular",
    "integrate",
    "layers",
    "long_context",
    "observables",
    "rates",
    "run_settings",
    "schemes",
    "simulate",
    "starts",
    "swarms",
    "theorems",
]
