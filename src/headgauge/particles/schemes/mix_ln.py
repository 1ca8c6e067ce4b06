"""Mix-LN: Post-LN in the first layers, Pre-LN after them."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headgauge.errors import InputError
from headgauge.particles.schemes.base import Scheme
from headgauge.particles.schemes.post_ln import PostLn
from headgauge.particles.schemes.pre_ln import PreLn


@dataclass(frozen=True)
class MixLn(Scheme):
    """s_j = 1 and r'_j = 0 until τ = `switch`; s_j = r_j and r'_j = ⟨θ_j, A_j⟩ from then on.

    It starts as Post-LN and ends as Pre-LN does.
    """

    switch: float = 2.0

    name = "mix_ln"
    title = "Mix-LN"
    step_text = "Post-LN until τ, then Pre-LN"
    speed_text = "1 until τ, then r"
    velocity_text = "2/(e^β + n − 1)"
    final_text = "1 − γ ~ C/t²"
    clock_text = "log t"
    final_rate = -2.0

    def __post_init__(self) -> None:
        if not self.switch > 0:
            raise InputError(f"Mix-LN switches at a time after 0, got {self.switch:g}")

    def gain(self, time: Float[Tensor, "..."], norm: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return torch.ones_like(norm)

    def grows(self, time: Float[Tensor, "..."]) -> Bool[Tensor, "..."]:
        return time > self.switch

    def breaks(self) -> tuple[float, ...]:
        return (self.switch,)

    def between(self, start: float, end: float) -> Scheme:
        return PostLn() if start < self.switch else PreLn()

    def initial_velocity(self, tokens: int, beta: float, radius: float = 1.0) -> float:
        return 2 / (math.exp(beta) + tokens - 1)

    def clock(self, time: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return time.log()
