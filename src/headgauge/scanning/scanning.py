"""`headgauge.scan`: every head of a model over windows of a text.

    result = headgauge.scan("default")                    # or a folder, a GGUF file, a hub name
    result = headgauge.scan(model, token_ids, length=512, top_n=[1, 4, 16])
    result = headgauge.scan(model, text="The prince said …", tokenizer=tokenizer)
    result.heads                                          # polars
    result.verdicts()
    result.save("runs/mine")

With `out` each unit is written as it finishes, and a run that is started again in the same folder
does what is left. `ScanSettings` has every choice that can change a number: what a run is
identified by.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, cast, get_args

import polars as pl

from headgauge.errors import InputError, whole, wholes
from headgauge.measure.calibration import ablating, means_table
from headgauge.measure.plan import Model, Plan, make_plan, source_of
from headgauge.measure.reading import Seen, Tokens, look_at
from headgauge.measure.requests import OFF_SINK, Ablate, CurveRequest, Experiment, Task
from headgauge.measure.runner import Progress, default_threads, run_plan
from headgauge.measure.settings import LENGTH, TOP_NS, UnitSettings, check_among
from headgauge.measure.unit import Source
from headgauge.models import VECTOR_KINDS
from headgauge.models.head_names import Heads, named_heads
from headgauge.options import takes
from headgauge.options.commands import ScanOptions
from headgauge.runs import UnitKey
from headgauge.runs.columns import How, Keys
from headgauge.scanning.matrices import check_heads, probes
from headgauge.scanning.result import ScanResult
from headgauge.scanning.spans import Marked, Spans, marked_windows, named_spans, probe

KEYS = get_args(Keys)
OFF_SINK_ROWS = 64  # query rows a head, evenly spread: enough for a mean, a sixteenth of the work
PSEUDOCODE = (
    "arXiv 2508.17821, the measures of Algorithms 2 and 4 (distance, expected distance, bounds and "
    "separability over N at fixed L; several L as in Algorithm 1), and per-row entropy, Jacobian "
    "norm and logits"
)


@takes(ScanOptions)
def scan(
    model: Model = "default",
    tokens: Tokens = None,
    *,
    text: str | Sequence[str] | None = None,
    tokenizer: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> ScanResult:
    """Measure every head.

    `model` is a name, a folder, a file, a transformers model or what `models.load` returned.
    `tokens` is a text by name or path (a .jsonl file has a document in each line), documents as a
    list of strings, token ids of shape (tokens,) or (windows, length), or a tokenizer's batch,
    whose attention_mask says what is padding; `text` is the text itself. War and Peace where
    nothing is said. `chat` puts documents or `text` into the model's chat template.

    `length` may be several: the shorter ones show the trend that `capacity` extends. Sizes that are
    not given fit themselves to the model's context and the text, and the result's notes say so.
    """
    asked = ScanOptions(**options)
    seen = look_at(tokens, text, asked.chat)
    settings = scan_settings(asked)
    what = "scan-float64" if asked.precision == "float64" else "scan"
    source = source_of(model, tokenizer, asked.dtype, asked.device, asked.revision, what)
    return run_scan(scan_plan(source, seen, settings), asked.out, asked.jobs, progress)


@dataclass(frozen=True, kw_only=True)
class ScanSettings(UnitSettings):
    """What a scan measures, and what the paper leaves to choose.

    `depth` asks for the residual stream too, layer by layer; `matrix` names the heads whose weights
    are kept token by token; `effects` asks for the loss without each head, with its "mean" or
    "zero" in its place; `spans` has the parts of the text whose weight is measured: None for none,
    () for the classes of tokens alone.
    """

    top_ns: tuple[int, ...] = TOP_NS
    vectors: tuple[str, ...] = ("value",)
    raw: bool = False
    keys: tuple[str, ...] = ("visible",)
    depth: bool = False
    matrix: Heads = ()
    effects: str = ""
    spans: Spans | None = None

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
        if self.effects:
            check_among("how", (self.effects,), get_args(How))

    def as_dict(self) -> dict[str, Any]:
        # A run without them is what it was before there were any: its folder is still taken up.
        later = {"depth": False, "matrix": (), "effects": "", "spans": None}
        known = super().as_dict().items()
        return {k: v for k, v in known if k not in later or v != later[k]}


def scan_settings(asked: ScanOptions, target: int | None = None) -> ScanSettings:
    """From what a caller asked for, which is checked here: the command line and Python meet.

    A size that is None is a default, and free, so that it gives way to the model's context and the
    text. `asked.length` may be several in Python. `target` is a context that the trend over lengths
    is to be continued to: without shorter lengths it wants L/8, L/4 and L/2.
    """
    given = {"length": asked.length, "shorter": asked.lengths}
    given |= {"windows": asked.windows, "top_ns": asked.top_n}
    free = frozenset(name for name, value in given.items() if value is None)
    lengths = _all_lengths(asked.length, asked.lengths, target)
    if asked.lengths is not None and max(lengths) in asked.lengths:
        free -= {"length"}
    top_ns = wholes("top-N", asked.top_n)
    sizes = {
        "windows": None if asked.windows is None else whole("windows", asked.windows),
        "top_ns": top_ns and tuple(sorted(set(top_ns))),
        "layers": wholes("layers", asked.layers),
        "heads": wholes("heads", asked.heads),
    }
    threads = default_threads(asked.jobs, asked.out) if asked.threads is None else asked.threads
    return ScanSettings(
        free=free,
        lengths=lengths,
        vectors=_words(asked.vectors),
        keys=("visible", "all") if _words(asked.keys) == ("both",) else _words(asked.keys),
        matrix=() if asked.matrix is None else named_heads("matrix", asked.matrix),
        spans=named_spans(asked.spans),
        rows=_rows(asked.rows),
        keep_rows=asked.keep_rows,
        threads=whole("threads", threads),
        offset=whole("offset", asked.offset),
        seed=whole("seed", asked.seed),
        **{name: getattr(asked, name) for name in ("bos", "raw", "precision", "depth")},
        effects="mean" if asked.effects else "",
        **{name: value for name, value in sizes.items() if value is not None},
    )


def _rows(given: Any) -> int | None:
    """How many query rows are measured; None: all."""
    if isinstance(given, bool):
        raise InputError(
            f"rows is how many query rows are measured, got {given}: keep_rows keeps every row's "
            "numbers"
        )
    return None if given is None else whole("rows", given)


def _words(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _all_lengths(length: Any, shorter: Any, target: int | None) -> tuple[int, ...]:
    """The main length and the shorter ones that a trend needs."""
    asked, below = wholes("length", length) or (), wholes("lengths", shorter) or ()
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


def scan_task(
    settings: ScanSettings, key: UnitKey, marked: Mapping[int, Marked] | None = None
) -> Task:
    """What a scan measures, in every unit alike but for the matrices and the effects of heads, of
    the longest alone, and the spans, which are `marked` by window."""
    scale = "raw" if settings.raw else "unit"
    asked = product(settings.vectors, settings.keys)
    curves = [CurveRequest(vectors, scale, keys, settings.top_ns) for vectors, keys in asked]
    if OFF_SINK not in settings.keys:
        curves += off_sink_curves(settings.vectors, scale, settings.top_ns)
    longest = key.length == settings.length
    kept = probes(settings.matrix, settings) if settings.matrix and longest else ()
    tables = ("matrices", "tokens") if settings.matrix else ()
    if marked is not None:
        kept, tables = (*kept, probe(marked[key.window], settings)), (*tables, "spans")
    ablate = Ablate(cast(How, settings.effects)) if settings.effects and longest else None
    return Task(tuple(curves), kept, depth=settings.depth, ablate=ablate, tables=tables)


def off_sink_curves(
    vectors: Iterable[str], scale: str, top_ns: tuple[int, ...]
) -> list[CurveRequest]:
    """What `saturated` is judged by, on some of the rows: the curves without the first token."""
    if "value" not in vectors:
        return []
    return [CurveRequest("value", scale, OFF_SINK, top_ns, rows=OFF_SINK_ROWS, part="off sink")]


def _notes(settings: ScanSettings) -> list[str]:
    largest = max(settings.top_ns)
    if "top_ns" not in settings.free or largest == max(TOP_NS):
        return []
    instead = f"up to {largest} instead of {max(TOP_NS)}"
    return [f"N: {instead}, a window has {settings.length} tokens"]


def _once(settings: ScanSettings) -> dict[str, Callable[[Plan], pl.DataFrame]]:
    return {"means": means_table} if settings.effects == "mean" else {}


SCAN = Experiment(PSEUDOCODE, scan_task, _notes, _once)


def scan_plan(source: Source, tokens: Tokens | Seen, settings: ScanSettings) -> Plan:
    """A scan before it runs."""
    check_heads(source.open(), settings.matrix, settings.layers, settings.heads)
    plan = make_plan(source, tokens, settings, SCAN)
    if settings.spans is not None:
        marked, notes = marked_windows(plan, settings.spans)
        experiment = replace(plan.experiment, task=partial(scan_task, marked=marked))
        plan = replace(plan, experiment=experiment, notes=(*plan.notes, *notes))
    return ablating(plan, settings.effects) if settings.effects else plan


def run_scan(
    plan: Plan, out: str | Path | None, jobs: int = 1, progress: Progress | None = None
) -> ScanResult:
    """Do what is not done yet of a scan."""
    return ScanResult.of(run_plan(plan, out, jobs, progress))
