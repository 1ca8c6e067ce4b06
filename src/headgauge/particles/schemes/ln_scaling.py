"""LN-Scaling as arXiv 2510.22026 models it: Post-LN whose attention is divided by √(t+1).

The method that goes by this name ("The Curse of Depth", arXiv 2502.05795) divides the output of a
Pre-LN's norm by √l, and its stream grows. Here it is `LnScalingPre`, outside the paper's six.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headgauge.particles.schemes.base import Scheme, everywhere


@dataclass(frozen=True)
class LnScaling(Scheme):
    """s_j = √(t+1), r'_j = 0. γ'(0) as Post-LN; (log(1 − γ))' = −2/√(t+1), so e^{−4√(t+1)}."""

    name = "ln_scaling"
    title = "LN-Scaling"
    step_text = "x ← N(x + hA/√(t+1))"
    speed_text = "√(t+1)"
    velocity_text = "2/(e^β + n − 1)"
    final_text = "1 − γ ~ e^{−4√(t+1)}"
    clock_text = "√(t+1)"
    final_rate = -4.0

    def gain(self, time: Float[Tensor, "..."], norm: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return torch.rsqrt(time + 1) * torch.ones_like(norm)

    def grows(self, time: Float[Tensor, "..."]) -> Bool[Tensor, "..."]:
        return everywhere(time, False)

    def initial_velocity(self, tokens: int, beta: float, radius: float = 1.0) -> float:
        return 2 / (math.exp(beta) + tokens - 1)

    def clock(self, time: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return (time + 1).sqrt()


@dataclass(frozen=True)
class LnScalingPre(LnScaling):
    """s_j = r_j√(t+1), r'_j = ⟨θ_j, A_j⟩/√(t+1): the published method.

    Once the tokens agree r ~ 2√t, so (log(1 − γ))' = −2/(r√t) = −1/t and 1 − γ ~ C/t.
    """

    name = "ln_scaling_pre"
    title = "LN-Scaling (Pre-LN)"
    step_text = "x ← x + hA(Nx)/√(t+1)"
    speed_text = "r√(t+1)"
    velocity_text = "2/(r₀(e^β + n − 1))"
    final_text = "1 − γ ~ C/t"
    clock_text = "log t"
    final_rate = -1.0

    def grows(self, time: Float[Tensor, "..."]) -> Bool[Tensor, "..."]:
        return everywhere(time, True)

    def initial_velocity(self, tokens: int, beta: float, radius: float = 1.0) -> float:
        return 2 / (radius * (math.exp(beta) + tokens - 1))

    def clock(self, time: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return time.log()
