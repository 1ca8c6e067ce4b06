"""The schemes of `theory.dynamics` by name, and several at once: each trajectory has its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headgauge.errors import InputError
from headgauge.theory.dynamics import schemes as theory
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

PerToken = Float[Tensor, "batch *n"]


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
    """The scheme of each trajectory."""

    schemes: tuple[Scheme, ...]

    @staticmethod
    def of(schemes: Scheme | Sequence[Scheme], batch: int) -> "SchemeBatch":
        """One scheme for all trajectories, or one for each."""
        if isinstance(schemes, Scheme):
            schemes = [schemes] * batch
        if len(schemes) != batch:
            raise InputError(f"{len(schemes)} schemes for {batch} trajectories")
        return SchemeBatch(tuple(schemes))

    def only(self, index: Int[Tensor, "some"]) -> "SchemeBatch":
        """These trajectories alone."""
        return SchemeBatch(tuple(self.schemes[place] for place in index.tolist()))

    def breaks(self) -> set[float]:
        return {time for scheme in self.schemes for time in scheme.breaks()}

    def between(self, start: float, end: float) -> "SchemeBatch":
        """The schemes as they are between two breaks."""
        return SchemeBatch(tuple(scheme.between(start, end) for scheme in self.schemes))

    def rates(
        self, time: Float[Tensor, "batch"], radius: PerToken, radial: PerToken, norm: PerToken
    ) -> tuple[PerToken, PerToken]:
        """1/s_j and r'_j of every token."""
        shape = (-1, *[1] * (norm.ndim - 1))
        gain = torch.ones_like(norm, dtype=torch.float64)
        for scheme, own in self._groups:
            if type(scheme).gain is not Scheme.gain:  # else it is 1
                gain[own] = scheme.gain(time[own].reshape(shape), norm[own]).double()
        grows = self._grows(time) if self.breaks() else self._always
        parts = theory.rates(gain, grows.to(norm.device).reshape(shape), radius, radial)
        pace, growth = (part.to(norm.dtype) for part in parts)
        return pace, growth

    @cached_property
    def _always(self) -> Bool[Tensor, "batch"]:
        """Which streams grow, where no scheme has a break."""
        return self._grows(torch.zeros(len(self.schemes), device="cpu"))

    @cached_property
    def divided(self) -> Bool[Tensor, "batch"] | None:
        """Whose gain is f(t)/‖A‖, where every scheme's is that or f(t); else None."""
        found = torch.empty(len(self.schemes), dtype=torch.bool)
        norms = torch.tensor([1.0, 2.0, 0.3], dtype=torch.float64)
        for scheme, own in self._groups:
            for time in torch.tensor([0.1, 3.0], dtype=torch.float64):
                gain = scheme.gain(time.expand(3), norms)
                found[own] = divided = bool(gain[1] < gain[0])
                if not torch.allclose(gain, gain[0] / norms if divided else gain[0].expand(3)):
                    return None
        return found

    def powers(
        self, times: Float[Tensor, "times batch"]
    ) -> tuple[Float[Tensor, "times batch"], Bool[Tensor, "times batch"]]:
        """f(t) of each gain, and whether the stream grows."""
        share, grows = torch.empty_like(times), torch.empty_like(times, dtype=torch.bool)
        for scheme, own in self._groups:
            some = times[:, own]
            share[:, own] = scheme.gain(some, torch.ones_like(some))
            grows[:, own] = scheme.grows(some)
        return share, grows

    def _grows(self, time: Float[Tensor, "batch"]) -> Bool[Tensor, "batch"]:
        grows = torch.empty_like(time, dtype=torch.bool)
        for scheme, own in self._groups:
            grows[own] = scheme.grows(time[own])
        return grows

    @cached_property
    def _groups(self) -> list[tuple[Scheme, slice | list[int]]]:
        """Each scheme and its trajectories: a slice where they stand together."""
        found: dict[Scheme, list[int]] = {}
        for place, scheme in enumerate(self.schemes):
            found.setdefault(scheme, []).append(place)
        return [
            (scheme, slice(own[0], own[-1] + 1) if own[-1] - own[0] < len(own) else own)
            for scheme, own in found.items()
        ]
