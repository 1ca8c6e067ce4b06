"""Every choice of a simulation that can change a number: what its folder is identified by."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.errors import LARGEST, InputError, check_whole
from headgauge.normalizers import asked_rules
from headgauge.options import keywords
from headgauge.options.commands import SimulateOptions
from headgauge.particles import schemes
from headgauge.particles.attention import WEIGHTS
from headgauge.simulation.swarms import SwarmKind, check_beta

PARTS = ("curves", "rates", "swarms", "phase", "sphere")
LONGEST = 1e6  # a horizon; the slowest of the schemes has ended by then, or never does
MOST = 100_000  # seeds, heads, particles
_WHOLE = {  # by option: from where to where
    **dict.fromkeys(("seeds", "phase_seeds", "phase_betas"), (1, MOST)),
    **dict.fromkeys(("sphere_particles", "heads"), (1, MOST)),
    "seed": (0, LARGEST),
    **dict.fromkeys(("tokens", "dim", "phase_tokens"), (2, LARGEST)),
}


@dataclass(frozen=True, kw_only=True)
class SimulationSettings(SimulateOptions):
    """The options that can change a number; `phase_*` and `sphere_*` are for Python alone.

    The tables of what is not among `parts` are empty.
    """

    phase_tokens: int = 32
    phase_dims: tuple[int, ...] = (8, 128, 1024)
    phase_betas: int = 24
    phase_seeds: int = 10
    sphere_particles: int = 48

    def __post_init__(self) -> None:
        rule, *more = asked_rules(self.rule)
        if more:
            count = 1 + len(more)
            raise InputError(f"a swarm follows one rule, and {count} were given: {self.rule}")
        rule.rule()  # nothing can be fitted to a swarm
        object.__setattr__(self, "rule", rule.text)
        for what, given, known in (("weights", self.weights, WEIGHTS), ("part", self.parts, PARTS)):
            for unknown in (each for each in given if each not in known):
                raise InputError(f"no {what} named {unknown!r}; there are {', '.join(known)}")
        if not 0 < self.horizon <= LONGEST:
            raise InputError(
                f"the horizon must be above 0 and at most {LONGEST:g}, got {self.horizon:g}"
            )
        check_beta(self.beta)
        check_beta(self.beta if self.random_beta is None else self.random_beta)
        for what in ("alpha", "decay", "switch"):
            if not math.isfinite(getattr(self, what)):
                raise InputError(f"{what} must be a number, got {getattr(self, what):g}")
        for what, limits in _WHOLE.items():
            check_whole(what, getattr(self, what), *limits)
        if not self.phase_dims or min(self.phase_dims) < 2:
            raise InputError("a phase diagram needs 2 dimensions or more")
        for what in ("schemes", "weights", "parts"):
            given = getattr(self, what)
            if not given or len(set(given)) < len(given):
                raise InputError(f"{what}: at least one, and each once, got {', '.join(given)!r}")
        if self.dim % self.heads:
            raise InputError(f"{self.dim} dimensions cannot be split among {self.heads} heads")
        if not 1e-12 <= self.tolerance <= 1e-2:
            raise InputError(f"the tolerance must be in 1e-12 to 1e-2, got {self.tolerance:g}")
        self.chosen()
        self.kinds()

    def chosen(self) -> list[schemes.Scheme]:
        """The schemes with their parameters."""
        options = {"ngpt": {"alpha": self.alpha, "decay": self.decay}}
        options["mix_ln"] = {"switch": self.switch}
        return [schemes.get(name, **options.get(name, {})) for name in self.schemes]

    def kinds(self) -> list[SwarmKind]:
        """One kind of swarm per kind of matrices."""
        random = self.dim**0.5 if self.random_beta is None else self.random_beta
        seeds = tuple(range(self.seed, self.seed + self.seeds))
        same = {name: getattr(self, name) for name in ("heads", "causal", "rule", "radius")}
        return [
            SwarmKind(
                self.tokens,
                self.dim,
                self.beta if weights == "identity" else random,
                weights,
                seeds=seeds,
                **same,
            )
            for weights in self.weights
        ]

    @staticmethod
    def times(until: float, count: int) -> Float[Tensor, "times"]:
        return torch.linspace(0.0, until, count, dtype=torch.float64)

    def as_dict(self) -> dict[str, Any]:
        return keywords(self)
