"""Tokens as particles on the sphere: "Normalization in Attention Dynamics" (arXiv 2510.22026).

    import headgauge

    scheme = headgauge.particles.schemes.get("peri_ln")
    headgauge.particles.equiangular.solve(scheme, tokens=256, beta=5.0, times=times).gamma

schemes         the six of `theory.dynamics.schemes` by name, and several at once
attention       A_j = Σ_k w_jk Vθ_k: any Q, K, V, heads, causal mask, any normaliser
sphere          points at equal angles, uniform, in a narrow cone: where particles start
systems         what an integrator asks; the particles on directions and radii: the reference
inner_products  the same through the pairs alone, for Q = K = V = I
equiangular     the reduction to two numbers, exact at any time
layers          the discrete stack of residual steps
integrate       Runge–Kutta with projection and an error estimate (`tableaus`), of any system
rates           initial velocities and final rates, measured
"""

from headgauge.particles import equiangular, integrate, layers, rates, schemes, sphere
from headgauge.particles.attention import Attention, Weights
from headgauge.particles.inner_products import InnerProducts
from headgauge.particles.systems import Particles

__all__ = [
    "Attention",
    "InnerProducts",
    "Particles",
    "Weights",
    "equiangular",
    "integrate",
    "layers",
    "rates",
    "schemes",
    "sphere",
]
