"""A system whose solution is known, to see the integrator alone."""

from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from headgauge.particles.systems import System


@dataclass
class Calls:
    rows: int = 0


@dataclass(frozen=True, eq=False)
class Known(System):
    """y' = ωy cos ωt and z' = −2ωtz², so y = e^{sin ωt} and z = 1/(1 + ωt²).

    From `turn` on y goes back: y' = −ωy cos ωt.
    """

    schemes: Any = field(default=None, kw_only=True)
    omega: Tensor
    turn: float = torch.inf
    turned: bool = False
    calls: Calls = field(default_factory=Calls)

    def start(self) -> Tensor:
        return torch.ones(len(self.omega), 2, dtype=torch.float64)

    def exact(self, time: float) -> Tensor:
        rise = torch.sin(self.omega * min(time, self.turn))
        back = torch.sin(self.omega * max(time, self.turn)) if time > self.turn else rise
        return torch.stack([torch.exp(2 * rise - back), 1 / (1 + self.omega * time**2)], 1)

    def field(self, time: Tensor, state: Tensor) -> Tensor:
        self.calls.rows += len(state)
        omega, time = self.omega.to(state.dtype), time.to(state.dtype)
        sign = -1 if self.turned else 1
        y = sign * omega * state[:, 0] * torch.cos(omega * time)
        return torch.stack([y, -2 * omega * time * state[:, 1] ** 2], 1)

    def size(self, error: Tensor, state: Tensor) -> Tensor:
        return error.abs().amax(-1)

    def only(self, index: Tensor) -> "Known":
        return replace(self, omega=self.omega[index])

    def breaks(self, end: float) -> tuple[float, ...]:
        return (self.turn,) if self.turn < end else ()

    def between(self, start: float, end: float, dtype: torch.dtype) -> "Known":
        return replace(self, turned=start >= self.turn)


def known(*omega: float, turn: float = torch.inf) -> Known:
    return Known(torch.tensor(omega, dtype=torch.float64), turn)
