"""Post-LN: the norm stands on the residual stream itself, x ← N(x + hA)."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headgauge.particles.schemes.base import Scheme, everywhere


@dataclass(frozen=True)
class PostLn(Scheme):
    """s_j = 1, r'_j = 0.

    From an orthogonal start γ'(0) = 2/(e^β + n − 1). Near γ = 1 all weights are 1/n, γ' → 2(1 − γ),
    so 1 − γ ~ e^{−2t}: every layer after the collapse is wasted.
    """

    name = "post_ln"
    title = "Post-LN"
    step_text = "x ← N(x + hA)"
    speed_text = "1"
    velocity_text = "2/(e^β + n − 1)"
    final_text = "1 − γ ~ e^{−2t}"
    clock_text = "t"
    final_rate = -2.0

    def gain(self, time: Float[Tensor, "..."], norm: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return torch.ones_like(norm)

    def grows(self, time: Float[Tensor, "..."]) -> Bool[Tensor, "..."]:
        return everywhere(time, False)

    def initial_velocity(self, tokens: int, beta: float, radius: float = 1.0) -> float:
        return 2 / (math.exp(beta) + tokens - 1)

    def clock(self, time: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return time
