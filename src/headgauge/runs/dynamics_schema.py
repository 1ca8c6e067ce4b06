"""What the tables of a simulation hold: tokens as particles on the sphere (arXiv 2510.22026).

    dynamics/curves.parquet    GammaRow     the equiangular reduction over time, exact
    dynamics/swarms.parquet    SwarmRow     what is seen of simulated particles over time
    dynamics/rates.parquet     RateRow      initial velocities and final rates, theory and measured
    dynamics/collapse.parquet  CollapseRow  when all tokens have merged
    dynamics/phase.parquet     PhaseRow     the share of merged pairs of tokens, over time and β
    dynamics/sphere.parquet    SphereRow    particles on the 2-sphere, for the animation

`scheme` is a name of `headgauge.particles.schemes` or "unnormalised", the baseline without the
denominator of softmax. A gap is 1 − cosine.
"""

from dataclasses import dataclass

from headgauge.runs.columns import Finite, Scheme, Share, Weights


@dataclass(frozen=True)
class GammaRow:
    """The common cosine γ of tokens that start at equal angles, Q = K = V = I."""

    scheme: Scheme  # a name of `headgauge.particles.schemes`, or "unnormalised"
    tokens: int  # n
    beta: Finite  # β
    time: Finite  # t: one unit is one layer whose residual step has size 1
    gamma: float  # γ
    log_gap: float  # log(1 − γ), exact where γ itself is 1 to the last digit
    radius: float  # r
    attention_norm: float  # ‖A‖
    velocity: float  # γ'


@dataclass(frozen=True)
class SwarmRow:
    """Simulated particles at one time: means over seeds, and a band over seeds."""

    weights: Weights  # "identity", "random" (fixed) or "layers" (new ones in every unit of time)
    scheme: Scheme
    rule: str  # the normaliser in the attention, "softmax" as a rule
    tokens: int
    dim: int  # d
    heads: int
    causal: bool
    beta: Finite
    time: Finite
    seeds: int  # simulations, each with its own random start
    mean_cosine: float  # over pairs, then over seeds
    low: float  # 5 % and 95 % over seeds of the mean over pairs
    high: float
    pair_low: float  # 5 % and 95 % over pairs, mean over seeds
    pair_high: float
    least_cosine: float
    together: float
    clusters: float
    energy: float  # Σ_ij e^{β(⟨θ_i,θ_j⟩ − 1)}/(2βn²), 1/(2β) when all tokens have merged
    variance: float
    radius: float  # mean of r_j
    attention_norm: float  # mean of ‖A_j‖
    speed: float  # mean of ‖θ'_j‖, the angle a token turns in a unit of time


@dataclass(frozen=True)
class RateRow:
    """One number of a scheme as its theory has it, and as it was measured."""

    scheme: Scheme
    quantity: str  # "initial velocity" or "final rate"
    law: str  # the formula: "2/(e^β + n − 1)", "1 − γ ~ e^{−2t}"
    against: str  # what the slope is taken against: "t", "log t", "√(t+1)", "∫α"
    theory: float
    reduced: float  # measured on the equiangular reduction
    particles: float | None  # measured on simulated particles


@dataclass(frozen=True)
class CollapseRow:
    """When the farthest pair of a simulated swarm reaches a cosine of .999."""

    weights: Weights
    scheme: Scheme
    seeds: int
    collapsed: Share  # share of the seeds that got there within the horizon
    time: Finite | None  # median over seeds; null where fewer than half of them got there
    low: float | None  # the earliest
    high: float | None  # the latest, where all got there


@dataclass(frozen=True)
class PhaseRow:
    """The share of pairs with a cosine of .999 or more, over seeds, from uniform starts."""

    scheme: Scheme
    tokens: int
    dim: int
    beta: Finite
    time: Finite
    probability: float
    seeds: int


@dataclass(frozen=True)
class SphereRow:
    """One particle on the 2-sphere; every scheme starts from the same places."""

    scheme: Scheme
    beta: Finite
    time: Finite
    particle: int
    x: float
    y: float
    z: float
    radius: float  # r_j


DYNAMICS_TABLES: dict[str, type] = {
    "curves": GammaRow,
    "swarms": SwarmRow,
    "rates": RateRow,
    "collapse": CollapseRow,
    "phase": PhaseRow,
    "sphere": SphereRow,
}
