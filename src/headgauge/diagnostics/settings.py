"""Every choice of a scan that can change a number: what a run is identified by."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from headgauge.errors import InputError
from headgauge.models import VECTOR_KINDS

TOP_NS = (1, 2, 4, 8, 16, 32, 64)
KEYS = ("visible", "all")
PRECISIONS = ("float32", "float64")


@dataclass(frozen=True)
class ScanSettings:
    """What is measured, where the paper leaves a choice, and how exactly.

    `lengths` are the window lengths, the longest last: a shorter one reads the beginning of the
    same windows. `layers` and `heads` are None for all. `precision` is that of the curves' inner
    loops (see `engine.Geometry.of`). `block_rows` and `threads` are here because the last digits of
    a matrix product depend on how it is cut.
    """

    lengths: tuple[int, ...] = (1024,)
    windows: int = 4
    offset: int = 0
    bos: str = "auto"
    top_ns: tuple[int, ...] = TOP_NS
    vectors: tuple[str, ...] = ("value",)
    raw: bool = False
    keys: tuple[str, ...] = ("visible",)
    layers: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None
    precision: str = "float32"
    sample_rows: int = 4
    sample_keys: int = 8
    save_rows: bool = False
    block_rows: int = 256
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.lengths or min(self.lengths) < 2:
            raise InputError(f"a window needs at least 2 tokens, got length {min(self.lengths)}")
        if self.windows < 1 or self.offset < 0:
            raise InputError(
                f"windows {self.windows} must be at least 1, offset {self.offset} at least 0"
            )
        if not self.top_ns or min(self.top_ns) < 1:
            raise InputError(f"top-N needs numbers of 1 or more, got {_listed(self.top_ns)}")
        if max(self.top_ns) >= self.length:
            raise InputError(
                f"no row of a window of {self.length} tokens sees more than {self.length} keys: "
                f"top-N must stay below, got {max(self.top_ns)}"
            )
        _among("vectors", self.vectors, VECTOR_KINDS)
        _among("keys", self.keys, KEYS)
        _among("precision", (self.precision,), PRECISIONS)
        _among("bos", (self.bos,), ("auto", "always", "never"))
        if self.threads < 1:
            raise InputError(f"a scan needs at least 1 thread, got {self.threads}")

    @property
    def length(self) -> int:
        """The main length, which the verdicts are about."""
        return max(self.lengths)

    @property
    def scale(self) -> str:
        return "raw" if self.raw else "unit"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def _among(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    given, known = tuple(given), tuple(known)
    if not given:
        raise InputError(f"{what} needs at least one of {_listed(known)}")
    for each in given:
        if each not in known:
            raise InputError(f"no {what} named {each!r}; there are {_listed(known)}")


def _listed(values: Iterable[object]) -> str:
    return ", ".join(str(value) for value in values)
