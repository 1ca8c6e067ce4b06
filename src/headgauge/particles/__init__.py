"""Tokens as particles on the sphere: "Normalization in Attention Dynamics" (arXiv 2510.22026).

    import headgauge

    scheme = headgauge.particles.schemes.get("peri_ln")
    headgauge.particles.equiangular.solve(scheme, tokens=256, beta=5.0, times=times).gamma

schemes         the six, one file each: speed factor, radial equation, residual step
attention       A_j = Σ_k w_jk Vθ_k: any Q, K, V (`weights`), heads, causal mask, any normaliser
particles       the system on directions and radii: the reference
inner_products  the same through the pairs alone, for Q = K = V = I
equiangular     its reduction to two numbers, exact at any time
layers          the discrete stack of residual steps
integrate       Runge–Kutta with projection and an error estimate (`tableaus`), of any `system`
starts          equal angles, uniform, a narrow cone
observables     cosines, clusters, energy, variance, time to collapse
"""

from headgauge.particles import equiangular, integrate, layers, observables, schemes, starts
from headgauge.particles.attention import Attention
from headgauge.particles.inner_products import InnerProducts
from headgauge.particles.particles import Particles
from headgauge.particles.weights import Weights

__all__ = [
    "Attention",
    "InnerProducts",
    "Particles",
    "Weights",
    "equiangular",
    "integrate",
    "layers",
    "observables",
    "schemes",
    "starts",
]
