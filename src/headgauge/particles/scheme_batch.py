"""Several schemes at once: every trajectory of a batch under its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headgauge.errors import InputError
from headgauge.particles.schemes import Scheme


@dataclass(frozen=True, eq=False)
class SchemeBatch:
    """`schemes`, and which of them each trajectory follows."""

    schemes: tuple[Scheme, ...]
    which: Int[Tensor, "batch"]

    @staticmethod
    def of(schemes: Scheme | Sequence[Scheme], batch: int, device: torch.device) -> "SchemeBatch":
        """One scheme for all trajectories, or one for each."""
        if isinstance(schemes, Scheme):
            return SchemeBatch((schemes,), torch.zeros(batch, dtype=torch.long, device=device))
        if len(schemes) != batch:
            raise InputError(f"{len(schemes)} schemes for {batch} trajectories")
        distinct = tuple(dict.fromkeys(schemes))
        which = [distinct.index(scheme) for scheme in schemes]
        return SchemeBatch(distinct, torch.tensor(which, device=device))

    def rows(self, index: Int[Tensor, "some"]) -> "SchemeBatch":
        """These trajectories alone."""
        return SchemeBatch(self.schemes, self.which[index])

    def breaks(self) -> tuple[float, ...]:
        return tuple(sorted({each for scheme in self.schemes for each in scheme.breaks()}))

    def between(self, start: float, end: float) -> "SchemeBatch":
        """The schemes as they are between two breaks."""
        return SchemeBatch(tuple(each.between(start, end) for each in self.schemes), self.which)

    def rates(
        self,
        time: Float[Tensor, "batch"],
        radius: Float[Tensor, "batch *n"],
        radial: Float[Tensor, "batch *n"],
        norm: Float[Tensor, "batch *n"],
    ) -> tuple[Float[Tensor, "batch *n"], Float[Tensor, "batch *n"]]:
        """1/s_j and r'_j of every token."""
        slowness, growth = torch.empty_like(norm), torch.empty_like(norm)
        now = time.reshape(-1, *[1] * (norm.ndim - 1)).expand_as(norm)
        for scheme, mine in self._each:
            parts = scheme.rates(now[mine], radius[mine], radial[mine], norm[mine])
            slowness[mine], growth[mine] = (part.to(norm.dtype) for part in parts)
        return slowness, growth

    @cached_property
    def _each(self) -> list[tuple[Scheme, slice | Int[Tensor, "some"]]]:
        """Each scheme that has trajectories, and which: a slice where they stand together."""
        found = []
        for place, scheme in enumerate(self.schemes):
            mine = (self.which == place).nonzero()[:, 0]
            if len(mine):
                first, last = int(mine[0]), int(mine[-1])
                together = last - first + 1 == len(mine)
                found.append((scheme, slice(first, last + 1) if together else mine))
        return found
