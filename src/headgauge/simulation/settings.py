"""Every choice of a simulation that can change a number: what its folder is identified by."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge import normalizers
from headgauge.errors import LARGEST, InputError, check_whole
from headgauge.particles import schemes
from headgauge.particles.attention import WEIGHTS
from headgauge.particles.schemes import Scheme
from headgauge.simulation.swarms import STEEPEST, SwarmKind

PARTS = ("curves", "rates", "swarms", "phase", "sphere")
LONGEST = 1e6  # a horizon; the slowest of the schemes has ended by then, or never does
MOST = 100_000  # seeds, heads, particles


@dataclass(frozen=True, kw_only=True)
class SimulationSettings:
    """`beta` is that of identity matrices; random ones have `random_beta`, √d unless it is given.

    `parts` are what is computed; the others' tables are empty.
    """

    schemes: tuple[str, ...] = schemes.names()
    tokens: int = 256
    dim: int = 512
    beta: float = 5.0
    random_beta: float | None = None
    horizon: float = 10.0
    seeds: int = 20
    seed: int = 0
    weights: tuple[str, ...] = ("identity", "random")
    heads: int = 1
    causal: bool = False
    rule: str = "softmax"
    radius: float = 1.0
    alpha: float = 1.0
    decay: float = 0.0
    switch: float = 2.0
    tolerance: float = 1e-5
    parts: tuple[str, ...] = PARTS
    phase_tokens: int = 32
    phase_dims: tuple[int, ...] = (8, 128, 1024)
    phase_betas: int = 24
    phase_seeds: int = 10
    sphere_particles: int = 48

    def __post_init__(self) -> None:
        for name in self.schemes:
            schemes.get(name)
        normalizers.get(self.rule)
        _among("weights", self.weights, WEIGHTS)
        _among("part", self.parts, PARTS)
        if not 0 < self.horizon <= LONGEST:
            raise InputError(
                f"the horizon must be above 0 and at most {LONGEST:g}, got {self.horizon:g}"
            )
        for what in ("beta", "random_beta"):
            given = getattr(self, what)
            if given is not None and not 0 < given <= STEEPEST:
                raise InputError(f"β must be above 0 and at most {STEEPEST:g}, got {given:g}")
        for what in ("alpha", "decay", "switch"):
            if not math.isfinite(getattr(self, what)):
                raise InputError(f"{what} must be a number, got {getattr(self, what):g}")
        for what in ("seeds", "phase_seeds", "phase_betas", "sphere_particles", "heads"):
            check_whole(what, getattr(self, what), 1, MOST)
        check_whole("seed", self.seed, 0, LARGEST)
        for what in ("tokens", "dim", "phase_tokens"):
            check_whole(what, getattr(self, what), 2, LARGEST)
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

    def chosen(self) -> list[Scheme]:
        """The schemes with their parameters."""
        options: dict[str, dict[str, float]] = {
            "ngpt": {"alpha": self.alpha, "decay": self.decay},
            "mix_ln": {"switch": self.switch},
        }
        return [schemes.get(name, **options.get(name, {})) for name in self.schemes]

    def kinds(self) -> list[SwarmKind]:
        """One kind of swarm per kind of matrices."""
        random = self.dim**0.5 if self.random_beta is None else self.random_beta
        return [
            SwarmKind(
                tokens=self.tokens,
                dim=self.dim,
                beta=self.beta if weights == "identity" else random,
                weights=weights,
                heads=self.heads,
                causal=self.causal,
                rule=self.rule,
                radius=self.radius,
                seeds=tuple(range(self.seed, self.seed + self.seeds)),
            )
            for weights in self.weights
        ]

    def memory(self) -> int:
        """Bytes that the swarms need at the least; every pair of tokens is simulated."""
        if "swarms" not in self.parts:
            return 0
        drawn = self.weights != ("identity",)
        pair = 25 if drawn else 100
        pairs = pair * len(self.schemes) * self.tokens**2
        return pairs + 8 * self.tokens * self.dim + (64 * self.dim**2 if drawn else 0)

    def times(self, until: float, count: int) -> Float[Tensor, "times"]:
        return torch.linspace(0.0, until, count, dtype=torch.float64)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def _among(what: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
    for each in given:
        if each not in known:
            raise InputError(f"no {what} named {each!r}; there are {', '.join(known)}")
