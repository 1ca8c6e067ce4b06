"""What a normalisation scheme is: a gain on the attention, and whether x keeps its length.

A layer adds a multiple of the attention's output A_j to the residual stream x_j = r_j θ_j and
either leaves it there or puts it back to the length it had:

    grows:   x ← x + h·g·A              else:   x ← ‖x‖ N(θ + h·g·A)

As h → 0 the direction and the length move with

    θ'_j = P_θ A_j / s_j,   s_j = r_j/g if x grows, else 1/g
    r'_j = g ⟨θ_j, A_j⟩ if x grows, else 0

since θ' = P_θ x'/r. So the gain g(t, ‖A‖) and `grows` say everything: "normalisation is speed
regulation" (arXiv 2510.22026), and both systems come from one place. In the paper ‖x‖ = 1 where x
is put back; here it is r₀, which changes no direction. The six:

| scheme     | s_j                    | r'_j                  | residual step             |
|------------|------------------------|-----------------------|---------------------------|
| post_ln    | 1                      | 0                     | x ← N(x + hA)             |
| pre_ln     | r_j                    | ⟨θ_j, A_j⟩            | x ← x + hA(Nx)            |
| mix_ln     | 1 until τ, then r_j    | 0, then ⟨θ_j, A_j⟩    | Post-LN until τ, then Pre |
| peri_ln    | r_j‖A_j‖               | ⟨θ_j, A_j⟩/‖A_j‖      | x ← x + hA/‖A‖            |
| ngpt       | ‖A_j‖/α_t              | 0                     | x ← N(x + hα_t A/‖A‖)     |
| ln_scaling | √(t+1)                 | 0                     | x ← N(x + hA/√(t+1))      |
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

# A token whose attention cancels has nowhere to go: no division by zero, in single precision too.
TINY = 1e-30

Numbers = Float[Tensor, "..."]
Flags = Bool[Tensor, "..."]


def rates(gain: Numbers, grows: Flags, radius: Numbers, radial: Numbers) -> tuple[Numbers, Numbers]:
    """1/s_j and r'_j of tokens with the `gain` of their scheme, whose stream `grows` or not."""
    return gain / torch.where(grows, radius, 1.0), torch.where(grows, gain * radial, 0.0)


@dataclass(frozen=True)
class Scheme:
    """One scheme; `radius` is r_j, `norm` is ‖A_j‖, `radial` is ⟨θ_j, A_j⟩, `time` is t.

    All are tensors that broadcast with each other. How 1 − γ ends is here as it is for a stream
    that grows and g → 1.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    growing: ClassVar[bool] = True  # whether x keeps the length that adding gives it
    velocity_text: ClassVar[str]  # γ'(0) from an orthogonal start
    final_text: ClassVar[str] = "1 − γ ~ C/t²"  # how 1 − γ ends
    clock_text: ClassVar[str] = "log t"  # what log(1 − γ) is linear in, in the end
    final_rate: ClassVar[float] = -2.0  # the slope

    def gain(self, time: Numbers, norm: Numbers) -> Numbers:
        """g: what A is multiplied by before it is added."""
        return torch.ones_like(norm)

    def grows(self, time: Numbers) -> Flags:
        return torch.full_like(time, self.growing, dtype=torch.bool)

    def initial_velocity(self, tokens: int, beta: float, radius: float = 1.0) -> float:
        """γ'(0) of `tokens` orthogonal tokens of length `radius`, Q = K = V = I."""
        return 2 / ((radius if self.growing else 1.0) * (math.exp(beta) + tokens - 1))

    def clock(self, time: Numbers) -> Numbers:
        """The function of time along which log(1 − γ) falls by `final_rate`, in the end."""
        return time.log()

    def breaks(self) -> tuple[float, ...]:
        """The times at which the rule changes: an integrator must not step over them."""
        return ()

    def between(self, start: float, end: float) -> "Scheme":
        """The scheme as it is between two breaks: what jumps nowhere."""
        return self

    def speed_factor(self, time: Numbers, radius: Numbers, norm: Numbers) -> Numbers:
        """s_j, so that θ'_j = P_θ A_j / s_j."""
        return torch.where(self.grows(time), radius, 1.0) / self.gain(time, norm)

    def step(
        self,
        stream: Float[Tensor, "*batch n d"],
        attention: Float[Tensor, "*batch n d"],
        size: float,
        time: float,
    ) -> Float[Tensor, "*batch n d"]:
        """The residual step of a layer; `attention` is A at the directions of `stream`."""
        now = torch.as_tensor(time, dtype=stream.dtype, device=stream.device)
        update = size * self.gain(now, attention.norm(dim=-1))[..., None] * attention
        if self.grows(now):
            return stream + update
        radius = stream.norm(dim=-1, keepdim=True)
        return radius * torch.nn.functional.normalize(stream / radius + update, dim=-1)


class PostLn(Scheme):
    """The norm stands on the residual stream itself. γ'(0) = 2/(e^β + n − 1) from an orthogonal
    start. Near γ = 1 all weights are 1/n, γ' → 2(1 − γ), so 1 − γ ~ e^{−2t}: every layer after the
    collapse is wasted."""

    name = "post_ln"
    title = "Post-LN"
    growing = False
    velocity_text = "2/(e^β + n − 1)"
    final_text = "1 − γ ~ e^{−2t}"
    clock_text = "t"

    def clock(self, time: Numbers) -> Numbers:
        return time


class PreLn(Scheme):
    """The norm stands in front of the attention. γ'(0) = 2/(r₀(e^β + n − 1)). Once the tokens
    agree, r' → 1 and r ~ t, so that (log(1 − γ))' = −2/t and 1 − γ ~ C/t²: a stream that grows
    slows itself down."""

    name = "pre_ln"
    title = "Pre-LN"
    velocity_text = "2/(r₀(e^β + n − 1))"


@dataclass(frozen=True)
class MixLn(Scheme):
    """Post-LN in the first layers, until τ = `switch`, and Pre-LN after them: it starts as the one
    and ends as the other."""

    switch: float = 2.0

    name = "mix_ln"
    title = "Mix-LN"
    growing = False  # until τ
    velocity_text = PostLn.velocity_text

    def __post_init__(self) -> None:
        if not self.switch > 0:
            raise ValueError(f"Mix-LN switches at a time after 0, got {self.switch:g}")

    def grows(self, time: Numbers) -> Flags:
        return time > self.switch

    def breaks(self) -> tuple[float, ...]:
        return (self.switch,)

    def between(self, start: float, end: float) -> Scheme:
        return PostLn() if start < self.switch else PreLn()


class PeriLn(Scheme):
    """A norm in front of the attention and one behind it. γ'(0) = 2/(r₀√(e^{2β} + n − 1)): where
    attention averages many tokens ‖A‖ is small, and dividing by it makes up for that. In the end
    ‖A‖ → 1 and it is Pre-LN: 1 − γ ~ C/t²."""

    name = "peri_ln"
    title = "Peri-LN"
    velocity_text = "2/(r₀√(e^{2β} + n − 1))"

    def gain(self, time: Numbers, norm: Numbers) -> Numbers:
        return 1 / norm.clamp_min(TINY)

    def initial_velocity(self, tokens: int, beta: float, radius: float = 1.0) -> float:
        return 2 / (radius * math.sqrt(math.exp(2 * beta) + tokens - 1))


@dataclass(frozen=True)
class NGpt(Scheme):
    """Everything on the sphere, with a step of chosen length: α_t = `alpha`/(1 + `decay`·t).

    γ'(0) = 2α₀/√(e^{2β} + n − 1), and 1 − γ ~ exp(−2∫α): the schedule of α alone decides how it
    ends.
    """

    alpha: float = 1.0
    decay: float = 0.0

    name = "ngpt"
    title = "nGPT"
    growing = False
    velocity_text = "2α₀/√(e^{2β} + n − 1)"
    final_text = "1 − γ ~ exp(−2∫α)"
    clock_text = "∫α"

    def __post_init__(self) -> None:
        if not (self.alpha > 0 and self.decay >= 0):
            given = f"{self.alpha:g}, {self.decay:g}"
            raise ValueError(f"nGPT needs alpha above 0 and decay of 0 or more, got {given}")

    def gain(self, time: Numbers, norm: Numbers) -> Numbers:
        return self.alpha / (1 + self.decay * time) / norm.clamp_min(TINY)

    def initial_velocity(self, tokens: int, beta: float, radius: float = 1.0) -> float:
        return 2 * self.alpha / math.sqrt(math.exp(2 * beta) + tokens - 1)

    def clock(self, time: Numbers) -> Numbers:
        if self.decay == 0:
            return self.alpha * time
        return self.alpha * torch.log1p(self.decay * time) / self.decay


class LnScaling(Scheme):
    """LN-Scaling as the paper models it: Post-LN whose attention is divided by √(t+1), so that
    (log(1 − γ))' = −2/√(t+1) and 1 − γ ~ e^{−4√(t+1)}.

    The method that goes by this name ("The Curse of Depth", arXiv 2502.05795) divides the output of
    a Pre-LN's norm by √l, and its stream grows: `LnScalingPre`, outside the paper's six.
    """

    name = "ln_scaling"
    title = "LN-Scaling"
    growing = False
    velocity_text = PostLn.velocity_text
    final_text = "1 − γ ~ e^{−4√(t+1)}"
    clock_text = "√(t+1)"
    final_rate = -4.0

    def gain(self, time: Numbers, norm: Numbers) -> Numbers:
        return torch.rsqrt(time + 1) * torch.ones_like(norm)

    def clock(self, time: Numbers) -> Numbers:
        return (time + 1).sqrt()


class LnScalingPre(LnScaling):
    """s_j = r_j√(t+1), r'_j = ⟨θ_j, A_j⟩/√(t+1): the published method, x ← x + hA(Nx)/√(t+1).

    Once the tokens agree r ~ 2√t, so (log(1 − γ))' = −2/(r√t) = −1/t and 1 − γ ~ C/t.
    """

    name = "ln_scaling_pre"
    title = "LN-Scaling (Pre-LN)"
    growing = True
    velocity_text = PreLn.velocity_text
    final_text = "1 − γ ~ C/t"
    clock_text = "log t"
    final_rate = -1.0

    def clock(self, time: Numbers) -> Numbers:
        return time.log()
