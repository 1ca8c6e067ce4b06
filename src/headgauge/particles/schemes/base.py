"""What a normalisation scheme is: a gain on the attention, and whether x keeps its length.

A layer adds a multiple of the attention's output A_j to the residual stream x_j = r_j θ_j and
either leaves it there or puts it back to the length it had:

    grows:   x ← x + h·g·A              else:   x ← ‖x‖ N(θ + h·g·A)

As h → 0 the direction and the length move with

    θ'_j = P_θ A_j / s_j,   s_j = r_j/g if x grows, else 1/g
    r'_j = g ⟨θ_j, A_j⟩ if x grows, else 0

since θ' = P_θ x'/r. So the gain g(t, ‖A‖) and `grows` say everything: "normalisation is speed
regulation" (arXiv 2510.22026), and both systems come from one place. In the paper ‖x‖ = 1 where x
is put back; here it is r₀, which changes no direction.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

# A token whose attention cancels has nowhere to go: no division by zero, in single precision too.
TINY = 1e-30


@dataclass(frozen=True)
class Scheme(ABC):
    """One scheme; `radius` is r_j, `norm` is ‖A_j‖, `radial` is ⟨θ_j, A_j⟩, `time` is t.

    All are tensors that broadcast with each other.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    step_text: ClassVar[str]
    speed_text: ClassVar[str]
    velocity_text: ClassVar[str]  # γ'(0) from an orthogonal start
    final_text: ClassVar[str]  # how 1 − γ ends
    clock_text: ClassVar[str]  # what log(1 − γ) is linear in, in the end
    final_rate: ClassVar[float]  # the slope

    @abstractmethod
    def gain(self, time: Float[Tensor, "..."], norm: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """g: what A is multiplied by before it is added."""

    @abstractmethod
    def grows(self, time: Float[Tensor, "..."]) -> Bool[Tensor, "..."]:
        """Whether x keeps the length that adding gives it."""

    @abstractmethod
    def initial_velocity(self, tokens: int, beta: float, radius: float = 1.0) -> float:
        """γ'(0) of `tokens` orthogonal tokens of length `radius`, Q = K = V = I."""

    @abstractmethod
    def clock(self, time: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """The function of time along which log(1 − γ) falls by `final_rate`, in the end."""

    def breaks(self) -> tuple[float, ...]:
        """The times at which the rule changes: an integrator must not step over them."""
        return ()

    def between(self, start: float, end: float) -> "Scheme":
        """The scheme as it is between two breaks: what jumps nowhere."""
        return self

    def speed_factor(
        self,
        time: Float[Tensor, "..."],
        radius: Float[Tensor, "..."],
        norm: Float[Tensor, "..."],
    ) -> Float[Tensor, "..."]:
        """s_j, so that θ'_j = P_θ A_j / s_j."""
        return torch.where(self.grows(time), radius, 1.0) / self.gain(time, norm)

    def radial_rate(
        self,
        time: Float[Tensor, "..."],
        radial: Float[Tensor, "..."],
        norm: Float[Tensor, "..."],
    ) -> Float[Tensor, "..."]:
        """r'_j."""
        return torch.where(self.grows(time), self.gain(time, norm) * radial, 0.0)

    def rates(
        self,
        time: Float[Tensor, "..."],
        radius: Float[Tensor, "..."],
        radial: Float[Tensor, "..."],
        norm: Float[Tensor, "..."],
    ) -> tuple[Float[Tensor, "..."], Float[Tensor, "..."]]:
        """1/s_j and r'_j at once."""
        gain, grows = self.gain(time, norm), self.grows(time)
        return gain / torch.where(grows, radius, 1.0), torch.where(grows, gain * radial, 0.0)

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


def everywhere(time: Float[Tensor, "..."], value: bool) -> Bool[Tensor, "..."]:
    return torch.full_like(time, value, dtype=torch.bool)
