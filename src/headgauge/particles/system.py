"""What an integrator asks of a system: particles, inner products, the reduction."""

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor


@runtime_checkable
class System(Protocol):
    """What moves: y' = field(t, y), one row of y per trajectory.

    Times are in double precision always, states in that of the stages.
    """

    def field(
        self, time: Float[Tensor, "batch"], state: Float[Tensor, "batch m"]
    ) -> Float[Tensor, "batch m"]: ...

    def project(self, state: Float[Tensor, "batch m"]) -> Float[Tensor, "batch m"]:
        """The nearest state that can be."""
        ...

    def size(
        self, error: Float[Tensor, "batch m"], state: Float[Tensor, "batch m"]
    ) -> Float[Tensor, "batch"]:
        """How large an error is, as the tolerance counts."""
        ...

    def rows(self, index: Int[Tensor, "some"]) -> "System":
        """The system of some of the trajectories."""
        ...

    def breaks(self, end: float) -> tuple[float, ...]:
        """Times at which the field jumps."""
        ...

    def between(self, start: float, end: float) -> "System":
        """The system as it is between two breaks."""
        ...

    def to(self, dtype: torch.dtype) -> "System":
        """The same in another precision."""
        ...
