"""Every choice of a scan that can change a number: what a run is identified by.

`scan_settings` is where the command line and Python meet: a size that is None is a default, and
free, so that it gives way to the model's context and the text; what was asked for does not.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any, get_args

from headgauge.errors import InputError, whole
from headgauge.measure.requests import CurveRequest, Experiment, Task
from headgauge.measure.runner import default_threads
from headgauge.measure.settings import LENGTH, TOP_NS, UnitSettings, check_among
from headgauge.models import VECTOR_KINDS
from headgauge.options.commands import ScanOptions
from headgauge.runs import UnitKey
from headgauge.runs.columns import Keys

KEYS = get_args(Keys)
PSEUDOCODE = (
    "arXiv 2508.17821, the measures of Algorithms 2 and 4 (distance, expected distance, bounds and "
    "separability over N at fixed L; several L as in Algorithm 1), and per-row entropy, Jacobian "
    "norm and logits"
)


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
        if not self.top_ns or min(self.top_ns) < 1:
            listed = ", ".join(map(str, self.top_ns))
            raise InputError(f"top-N needs numbers of 1 or more, got {listed}")
        if max(self.top_ns) >= self.length:
            raise InputError(
                f"no row of a window of {self.length} tokens sees more than {self.length} keys: "
                f"top-N must stay below, got {max(self.top_ns)}"
            )
        check_among("vectors", self.vectors, VECTOR_KINDS)
        check_among("keys", self.keys, KEYS)

    def as_dict(self) -> dict[str, Any]:
        # A run without depth is what it was before there was one: its folder is still taken up.
        return {k: v for k, v in super().as_dict().items() if k != "depth" or v}


def scan_task(settings: ScanSettings, key: UnitKey) -> Task:
    """What a scan measures, in every unit alike."""
    scale = "raw" if settings.raw else "unit"
    asked = product(settings.vectors, settings.keys)
    curves = (CurveRequest(vectors, scale, keys, settings.top_ns) for vectors, keys in asked)
    return Task(tuple(curves), depth=settings.depth)


def _notes(settings: ScanSettings) -> list[str]:
    largest = max(settings.top_ns)
    if "top_ns" not in settings.free or largest == max(TOP_NS):
        return []
    instead = f"up to {largest} instead of {max(TOP_NS)}"
    return [f"N: {instead}, a window has {settings.length} tokens"]


SCAN = Experiment(PSEUDOCODE, scan_task, _notes)


def scan_settings(asked: ScanOptions, target: int | None = None) -> ScanSettings:
    """From what a caller asked for, which is checked here; a size that is None is a default, and
    free.

    `asked.length` may be several in Python. `target` is a context that the trend over lengths is
    to be continued to: without shorter lengths it wants L/8, L/4 and L/2.
    """
    given = {"length": asked.length, "shorter": asked.lengths}
    given |= {"windows": asked.windows, "top_ns": asked.top_n}
    free = frozenset(name for name, value in given.items() if value is None)
    lengths = _all_lengths(asked.length, asked.lengths, target)
    if asked.lengths is not None and max(lengths) in asked.lengths:
        free -= {"length"}
    sizes: dict[str, Any] = {
        "windows": None if asked.windows is None else whole("windows", asked.windows),
        "top_ns": None if asked.top_n is None else _in_order("top-N", asked.top_n),
        "layers": None if asked.layers is None else wholes("layers", asked.layers),
        "heads": None if asked.heads is None else wholes("heads", asked.heads),
    }
    threads = default_threads(asked.jobs, asked.out) if asked.threads is None else asked.threads
    keys = KEYS if asked.keys in ("both", ("both",)) else names(asked.keys)
    return ScanSettings(
        free=free,
        lengths=lengths,
        vectors=names(asked.vectors),
        keys=keys,
        save_rows=asked.rows,
        threads=whole("threads", threads),
        offset=whole("offset", asked.offset),
        seed=whole("seed", asked.seed),
        **{name: getattr(asked, name) for name in ("bos", "raw", "precision", "depth")},
        **{name: value for name, value in sizes.items() if value is not None},
    )


def names(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _in_order(what: str, given: Any) -> tuple[int, ...]:
    return tuple(sorted(set(wholes(what, given))))


def wholes(what: str, given: Any) -> tuple[int, ...]:
    """Whole numbers, one or several, in the order given."""
    several = list(given) if isinstance(given, Iterable) else [given]
    if not several:
        raise InputError(f"{what} needs at least one number, got none")
    return tuple(whole(what, each) for each in several)


def _all_lengths(length: Any, shorter: Any, target: int | None) -> tuple[int, ...]:
    """The main length and the shorter ones that a trend needs."""
    asked = () if length is None else wholes("length", length)
    below = () if shorter is None else wholes("lengths", shorter)
    longest = max(asked, default=max(LENGTH, *below, 0))
    if asked and max(below, default=0) > longest:
        raise InputError(f"--lengths must not exceed --length {longest}, got {max(below)}")
    if target is not None and target <= longest:
        if asked or target // 2 < max(below, default=2):
            raise InputError(f"--target-length {target} must exceed --length {longest}")
        longest = target // 2
    if target is None or below:
        return tuple(sorted({*below, *asked, longest}))
    return tuple(sorted({*(max(2, longest // part) for part in (8, 4, 2)), *asked, longest}))
