"""Pre-LN: the norm stands in front of the attention, x ← x + hA(Nx)."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headgauge.particles.schemes.base import Scheme, everywhere


@dataclass(frozen=True)
class PreLn(Scheme):
    """s_j = r_j, r'_j = ⟨θ_j, A_j⟩.

    γ'(0) = 2/(r₀(e^β + n − 1)). Once the tokens agree, r' → 1 and r ~ t, so that
    (log(1 − γ))' = −2/t and 1 − γ ~ C/t²: a stream that grows slows itself down.
    """

    name = "pre_ln"
    title = "Pre-LN"
    step_text = "x ← x + hA(Nx)"
    speed_text = "r"
    velocity_text = "2/(r₀(e^β + n − 1))"
    final_text = "1 − γ ~ C/t²"
    clock_text = "log t"
    final_rate = -2.0

    def gain(self, time: Float[Tensor, "..."], norm: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return torch.ones_like(norm)

    def grows(self, time: Float[Tensor, "..."]) -> Bool[Tensor, "..."]:
        return everywhere(time, True)

    def initial_velocity(self, tokens: int, beta: float, radius: float = 1.0) -> float:
        return 2 / (radius * (math.exp(beta) + tokens - 1))

    def clock(self, time: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return time.log()
