"""Peri-LN: a norm in front of the attention and one behind it, x ← x + hA/‖A‖."""

import math
from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor

from headgauge.particles.schemes.base import TINY, Scheme, everywhere


@dataclass(frozen=True)
class PeriLn(Scheme):
    """s_j = r_j‖A_j‖, r'_j = ⟨θ_j, A_j⟩/‖A_j‖.

    γ'(0) = 2/(r₀√(e^{2β} + n − 1)): where attention averages many tokens ‖A‖ is small, and dividing
    by it makes up for that. In the end ‖A‖ → 1 and it is Pre-LN: 1 − γ ~ C/t².
    """

    name = "peri_ln"
    title = "Peri-LN"
    step_text = "x ← x + hA/‖A‖"
    speed_text = "r‖A‖"
    velocity_text = "2/(r₀√(e^{2β} + n − 1))"
    final_text = "1 − γ ~ C/t²"
    clock_text = "log t"
    final_rate = -2.0

    def gain(self, time: Float[Tensor, "..."], norm: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return 1 / norm.clamp_min(TINY)

    def grows(self, time: Float[Tensor, "..."]) -> Bool[Tensor, "..."]:
        return everywhere(time, True)

    def initial_velocity(self, tokens: int, beta: float, radius: float = 1.0) -> float:
        return 2 / (radius * math.sqrt(math.exp(2 * beta) + tokens - 1))

    def clock(self, time: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return time.log()
