"""nGPT: everything on the sphere, with a step of chosen length, x ← N(x + hα_t A/‖A‖)."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headgauge.errors import InputError
from headgauge.particles.schemes.base import TINY, Scheme, everywhere


@dataclass(frozen=True)
class NGpt(Scheme):
    """s_j = ‖A_j‖/α_t, r'_j = 0, with α_t = `alpha`/(1 + `decay`·t).

    γ'(0) = 2α₀/√(e^{2β} + n − 1), and 1 − γ ~ exp(−2∫α): the schedule of α alone decides how it
    ends.
    """

    alpha: float = 1.0
    decay: float = 0.0

    name = "ngpt"
    title = "nGPT"
    step_text = "x ← N(x + hα_t A/‖A‖)"
    speed_text = "‖A‖/α_t"
    velocity_text = "2α₀/√(e^{2β} + n − 1)"
    final_text = "1 − γ ~ exp(−2∫α)"
    clock_text = "∫α"
    final_rate = -2.0

    def __post_init__(self) -> None:
        if not (self.alpha > 0 and self.decay >= 0):
            raise InputError(
                f"nGPT needs alpha above 0 and decay of 0 or more, got {self.alpha:g}, "
                f"{self.decay:g}"
            )

    def gain(self, time: Float[Tensor, "..."], norm: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return self.alpha / (1 + self.decay * time) / norm.clamp_min(TINY)

    def grows(self, time: Float[Tensor, "..."]) -> Bool[Tensor, "..."]:
        return everywhere(time, False)

    def initial_velocity(self, tokens: int, beta: float, radius: float = 1.0) -> float:
        return 2 * self.alpha / math.sqrt(math.exp(2 * beta) + tokens - 1)

    def clock(self, time: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        if self.decay == 0:
            return self.alpha * time
        return self.alpha * torch.log1p(self.decay * time) / self.decay
