"""`headgauge.scan`: every head of a model over windows of a text.

    result = headgauge.scan("default")                    # or a folder, a GGUF file, a hub name
    result = headgauge.scan(model, token_ids, length=512, top_n=[1, 4, 16])
    result = headgauge.scan(model, text="The prince said …", tokenizer=tokenizer)
    result.heads                                          # polars
    result.verdicts()
    result.save("runs/mine")

Units go through joblib (see `headgauge.workers`). With `out` each is written as it finishes, and a
run that is started again in the same folder does what is left.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from headgauge.errors import THREADS, InputError, check_whole
from headgauge.measure.describing import describe_plan
from headgauge.measure.fitting import scan_settings
from headgauge.measure.plan import Model, Plan, make_plan, source_of
from headgauge.measure.reading import Tokens, look_at
from headgauge.measure.settings import UnitSettings
from headgauge.measure.unit import Source, Unit, measure_unit
from headgauge.models import MemorySource
from headgauge.runs import RunFolder, UnitKey, UnitTables, begun_settings, write_unit
from headgauge.scanning.result import ScanResult
from headgauge.workers import as_they_finish

Progress = Callable[[float], object]


def scan(
    model: Model = "default",
    tokens: Tokens = None,
    *,
    text: str | Sequence[str] | None = None,
    chat: bool = False,
    length: int | Sequence[int] | None = None,
    windows: int | None = None,
    offset: int = 0,
    bos: str = "auto",
    top_n: Sequence[int] | None = None,
    vectors: str | Sequence[str] = "value",
    raw: bool = False,
    keys: str | Sequence[str] = "visible",
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    precision: str = "float32",
    rows: bool = False,
    depth: bool = False,
    seed: int = 0,
    tokenizer: Any = None,
    dtype: str | None = None,
    device: str | None = None,
    revision: str | None = None,
    threads: int | None = None,
    jobs: int = 1,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> ScanResult:
    """Measure every head.

    `model` is a name, a folder, a file, a transformers model or what `models.load` returned.
    `tokens` is a text by name or path (a .jsonl file has a document in each line), documents as a
    list of strings, token ids of shape (tokens,) or (windows, length), or a tokenizer's batch,
    whose attention_mask says what is padding; `text` is the text itself. War and Peace where
    nothing is said. `chat` puts documents or `text` into the model's chat template.

    `length` may be several: the shorter ones show the trend that `capacity` extends. Sizes that are
    not given (1024 tokens, 4 windows, N up to 64) fit themselves to the model's context and the
    text, and the result's notes say so. `depth` follows the residual stream through the layers,
    `revision` is a branch, tag or commit of a hub model. The other options are those of
    `ScanSettings`.
    """
    seen = look_at(tokens, text, chat)
    settings = scan_settings(
        length=length,
        windows=windows,
        top_n=top_n,
        layers=layers,
        heads=heads,
        vectors=_tuple(vectors),
        keys=_tuple(keys),
        offset=offset,
        bos=bos,
        raw=raw,
        precision=precision,
        save_rows=rows,
        depth=depth,
        seed=seed,
        threads=default_threads(jobs, out) if threads is None else threads,
    )
    source = source_of(model, tokenizer, dtype, device, revision)
    return run_plan(make_plan(source, seen, settings), out, jobs, progress)


def default_threads(jobs: int, out: str | Path | None) -> int:
    """What a run in `out` began with, so that it goes on to the same digits; else a fair share."""
    _check_jobs(jobs)
    if out is not None:
        begun = begun_settings(out)
        if begun is not None and isinstance(begun.get("threads"), int):
            return begun["threads"]
    return max(1, torch.get_num_threads() // max(1, jobs))


def run_plan(
    plan: Plan, out: str | Path | None, jobs: int = 1, progress: Progress | None = None
) -> ScanResult:
    """Do the units that are not done yet, and gather them."""
    _check_jobs(jobs)
    if jobs > 1 and isinstance(plan.source, MemorySource):
        raise InputError(
            f"{plan.loaded.name} is in this process's memory: run it with one job, or give its "
            "name or folder so that other processes can load it"
        )
    described = describe_plan(plan)
    if out is None:
        units = sorted(_run(plan, plan.units, None, jobs, progress), key=lambda unit: unit.key)
        return ScanResult.of_units(described, units)
    folder = RunFolder.open(out, plan.identity)
    folder.write_manifest(described)
    done = folder.finished()
    left = [unit for unit in plan.units if unit.key not in done]
    for _ in _run(plan, left, folder.path, jobs, progress):
        pass
    folder.merge(unit.key for unit in plan.units)
    return ScanResult.load(out)


def _run(
    plan: Plan,
    units: Sequence[Unit],
    folder: Path | None,
    jobs: int,
    progress: Progress | None,
) -> Iterator[UnitTables]:
    costs = {unit.key: _cost(unit, plan.settings) for unit in units}
    whole = sum(costs.values())
    done = 0.0

    def within(key: UnitKey) -> Progress | None:
        # A callback cannot reach over to another process.
        report = progress if jobs == 1 else None
        return report and (lambda share: report((done + share * costs[key]) / whole))

    calls = ((plan.source, unit, plan.settings, folder, within(unit.key)) for unit in units)
    for tables in as_they_finish(do_unit, calls, max(1, min(jobs, len(units)))):
        done += costs[tables.key]
        if progress is not None:
            progress(done / whole)
        yield tables


def do_unit(
    source: Source,
    unit: Unit,
    settings: UnitSettings,
    folder: Path | None,
    progress: Progress | None = None,
) -> UnitTables:
    """Measure a unit and, with a folder, write it there: all that another process has to do."""
    tables = measure_unit(source, unit, settings, progress)
    if folder is None:
        return tables
    write_unit(folder, tables)
    return replace(tables, rows=None, paper={})  # they lie in the folder, and are large


def _check_jobs(jobs: int) -> None:
    check_whole("jobs", jobs, 1, THREADS)


def _cost(unit: Unit, settings: UnitSettings) -> float:
    """Relative: a model is linear in the length, measuring its rows is square."""
    length = len(unit.ids)
    asked = settings.requests(unit.key)
    rows = sum((2 + len(each.top_ns)) * min(each.rows or length, length) for each in asked)
    return length * (4096.0 + 4 * length * len(settings.probes(unit.key)) + rows)


def _tuple(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
