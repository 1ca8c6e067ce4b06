"""The schemes of `theory.dynamics` by name, and several at once: each trajectory has its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headgauge.errors import InputError
from headgauge.theory.dynamics.schemes import (
    LnScaling,
    LnScalingPre,
    MixLn,
    NGpt,
    PeriLn,
    PostLn,
    PreLn,
    Scheme,
)

SCHEMES: dict[str, type[Scheme]] = {
    scheme.name: scheme for scheme in (PostLn, PreLn, MixLn, PeriLn, NGpt, LnScaling)
}
VARIANTS: dict[str, type[Scheme]] = {LnScalingPre.name: LnScalingPre}


def names() -> tuple[str, ...]:
    """The paper's six."""
    return tuple(SCHEMES)


def get(name: str, **options: Any) -> Scheme:
    """A scheme by name: get("ngpt", alpha=.6, decay=.1)."""
    known = name.strip().lower().replace("-", "_")
    all_of_them = SCHEMES | VARIANTS
    if known not in all_of_them:
        raise InputError(f"no scheme {name!r}; there are {', '.join(all_of_them)}")
    try:
        return all_of_them[known](**options)
    except TypeError:
        raise InputError(f"{known} has no such option: {', '.join(options)}") from None
    except ValueError as wrong:
        raise InputError(str(wrong)) from None


@dataclass(frozen=True, eq=False)
class SchemeBatch:
    """`schemes`, and which of them each trajectory follows."""

    schemes: tuple[Scheme, ...]
    which: Int[Tensor, "batch"]

    @staticmethod
    def of(schemes: Scheme | Sequence[Scheme], batch: int, device: torch.device) -> "SchemeBatch":
        """One scheme for all trajectories, or one for each."""
        if isinstance(schemes, Scheme):
            schemes = [schemes] * batch
        if len(schemes) != batch:
            raise InputError(f"{len(schemes)} schemes for {batch} trajectories")
        distinct = tuple(dict.fromkeys(schemes))
        which = [distinct.index(scheme) for scheme in schemes]
        return SchemeBatch(distinct, torch.tensor(which, dtype=torch.long, device=device))

    def rows(self, index: Int[Tensor, "some"]) -> "SchemeBatch":
        """These trajectories alone."""
        return SchemeBatch(self.schemes, self.which[index])

    def breaks(self) -> set[float]:
        return {each for scheme in self.schemes for each in scheme.breaks()}

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
        pace, growth = torch.empty_like(norm), torch.empty_like(norm)
        now = time.reshape(-1, *[1] * (norm.ndim - 1)).expand_as(norm)
        for scheme, mine in self._each:
            parts = scheme.rates(now[mine], radius[mine], radial[mine], norm[mine])
            pace[mine], growth[mine] = (part.to(norm.dtype) for part in parts)
        return pace, growth

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
