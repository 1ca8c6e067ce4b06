"""Every choice of a scan that can change a number: what a run is identified by."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from headgauge.errors import LARGEST, THREADS, InputError, check_whole
from headgauge.measure.requests import CurveRequest, Probe
from headgauge.models import VECTOR_KINDS
from headgauge.runs import UnitKey

LENGTH = 1024
TOP_NS = (1, 2, 4, 8, 16, 32, 64)
KEYS = ("visible", "all")
PRECISIONS = ("float32", "float64")

PSEUDOCODE = (
    "arXiv 2508.17821, the measures of Algorithms 2 and 4 (distance, expected distance, bounds and "
    "separability over N at fixed L; several L as in Algorithm 1), and per-row entropy, Jacobian "
    "norm and logits"
)


@dataclass(frozen=True, kw_only=True)
class UnitSettings:
    """How windows are read and rows streamed, whatever is measured in them.

    `lengths` are the window lengths, the longest last: a shorter one reads the beginning of the
    same windows. `layers` and `heads` are None for all. `precision` is that of the curves' inner
    loops (see `engine.Geometry.of`). `block_rows` and `threads` are here because the last digits of
    a matrix product depend on how it is cut.

    `free` names the sizes that nobody asked for: "length" (the longest), "shorter" (the others),
    "windows", "top_ns". They give way to the model's context and to the text (`fitting`); what they
    became identifies the run, not that they were free.
    """

    lengths: tuple[int, ...] = (LENGTH,)
    windows: int = 4
    offset: int = 0
    bos: str = "auto"
    layers: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None
    precision: str = "float32"
    sample_rows: int = 4
    sample_keys: int = 8
    save_rows: bool = False
    block_rows: int = 256
    threads: int = 1
    seed: int = 0
    free: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.lengths or min(self.lengths) < 2:
            raise InputError(f"a window needs at least 2 tokens, got length {min(self.lengths)}")
        if self.windows < 1 or self.offset < 0:
            raise InputError(
                f"windows {self.windows} must be at least 1, offset {self.offset} at least 0"
            )
        _among("precision", (self.precision,), PRECISIONS)
        _among("bos", (self.bos,), ("auto", "always", "never"))
        check_whole("threads", self.threads, 1, THREADS)
        check_whole("seed", self.seed, 0, LARGEST)

    def requests(self, key: UnitKey) -> tuple[CurveRequest, ...]:
        """The curves to measure in a unit."""
        raise NotImplementedError

    def probes(self, key: UnitKey) -> tuple[Probe, ...]:
        """What else to measure there, head by head."""
        return ()

    def kinds(self, key: UnitKey) -> tuple[str, ...]:
        """The kinds of vectors a unit needs, in the order they are first asked for."""
        asked = [request.vectors for request in self.requests(key)]
        asked += [kind for probe in self.probes(key) for kind in probe.kinds]
        return tuple(dict.fromkeys(asked))

    @property
    def reproduces(self) -> bool:
        """Whether the run has the tables of a reproduction."""
        return False

    @property
    def follows_depth(self) -> bool:
        """Whether the residual stream is followed through the layers."""
        return False

    @property
    def pseudocode(self) -> str:
        """What is computed, in terms of the paper, for the manifest."""
        return PSEUDOCODE

    def judged(self, key: UnitKey) -> bool:
        """Whether the measures that need no N, and samples, are taken in a unit."""
        return True

    @property
    def length(self) -> int:
        """The main length, which the verdicts are about."""
        return max(self.lengths)

    def lengths_up_to(self, longest: int) -> tuple[int, ...]:
        """The lengths with another main one; shorter ones that nobody asked for keep their share
        of it."""
        shorter = [each for each in self.lengths if each < self.length]
        if "shorter" in self.free:
            shorter = [max(2, each * longest // self.length) for each in shorter]
        return tuple(sorted({*shorter, longest}))

    def as_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "free"}


@dataclass(frozen=True, kw_only=True)
class ScanSettings(UnitSettings):
    """What a scan measures, and what the paper leaves to choose.

    `depth` asks for the residual stream too, layer by layer.
    """

    top_ns: tuple[int, ...] = TOP_NS
    vectors: tuple[str, ...] = ("value",)
    raw: bool = False
    keys: tuple[str, ...] = ("visible",)
    depth: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if "top_ns" in self.free:
            fitting = tuple(n for n in self.top_ns if n < self.length)
            object.__setattr__(self, "top_ns", fitting)
        check_top_ns(self.top_ns, self.length)
        _among("vectors", self.vectors, VECTOR_KINDS)
        _among("keys", self.keys, KEYS)

    @property
    def follows_depth(self) -> bool:
        return self.depth

    def as_dict(self) -> dict[str, Any]:
        # A run without depth is what it was before there was one: its folder is still taken up.
        return {k: v for k, v in super().as_dict().items() if k != "depth" or v}

    def requests(self, key: UnitKey) -> tuple[CurveRequest, ...]:
        scale = "raw" if self.raw else "unit"
        return tuple(
            CurveRequest(vectors, scale, keys, self.top_ns)
            for vectors, keys in product(self.vectors, self.keys)
        )


def check_top_ns(top_ns: Iterable[int], length: int) -> None:
    """Refuse a list of N that no row of a window of this length could answer."""
    top_ns = tuple(top_ns)
    if not top_ns or min(top_ns) < 1:
        raise InputError(f"top-N needs numbers of 1 or more, got {_listed(top_ns)}")
    if max(top_ns) >= length:
        raise InputError(
            f"no row of a window of {length} tokens sees more than {length} keys: "
            f"top-N must stay below, got {max(top_ns)}"
        )


def _among(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    given, known = tuple(given), tuple(known)
    if not given:
        raise InputError(f"{what} needs at least one of {_listed(known)}")
    for each in given:
        if each not in known:
            raise InputError(f"no {what} named {each!r}; there are {_listed(known)}")


def _listed(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in values)
