"""The units of a plan, done in this process or in several, and gathered.

Units go through joblib (see `headgauge.workers`). With a folder each is written as it finishes, and
a run that is started again in the same folder does what is left.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import torch

from headgauge import runs
from headgauge.errors import THREADS, InputError, check_whole
from headgauge.measure.measuring import Progress
from headgauge.measure.plan import Plan, describe_plan
from headgauge.measure.requests import Experiment, Task
from headgauge.measure.unit import Unit, known_heads, measure_unit, settled
from headgauge.models import LoadedModel
from headgauge.runs.manifest import keep_facts
from headgauge.runs.schema import KEYS
from headgauge.threads import in_turn
from headgauge.workers import as_they_finish

_PASSES = 150  # about what the heads of a model cost that are ablated one by one


def default_threads(jobs: int, out: str | Path | None) -> int:
    """What a run in `out` began with, so that it goes on to the same digits; else a fair share."""
    check_whole("jobs", jobs, 1, THREADS)
    if out is not None:
        begun = runs.begun_settings(out)
        if begun is not None and isinstance(begun.get("threads"), int):
            return begun["threads"]
    return max(1, torch.get_num_threads() // jobs)


def run_plan(
    plan: Plan, out: str | Path | None, jobs: int = 1, progress: Progress | None = None
) -> runs.Run:
    """Do the units that are not done yet, and gather them."""
    check_whole("jobs", jobs, 1, THREADS)
    if jobs > 1 and isinstance(plan.source, LoadedModel):
        raise InputError(
            f"{plan.loaded.name} is in this process's memory: run it with one job, or give its "
            "name or folder so that other processes can load it"
        )
    described, folder, left = describe_plan(plan), None, plan.units
    experiment = plan.experiment
    if out is not None:
        folder = runs.RunFolder.open(out, plan.identity, experiment.layout)
        folder.describe(described)
        done = folder.finished()
        left = [unit for unit in plan.units if unit.key not in done]
    once = _once(plan, folder) if left else {}
    found = list(_run(plan, left, once, folder and folder.path, jobs, progress))
    if folder is None:
        return _in_memory(experiment, described, sorted(found, key=lambda unit: unit.key), once)
    folder.merge((unit.key for unit in plan.units), experiment.derived)
    return runs.load_run(folder.path, experiment.layout)


def _once(plan: Plan, folder: runs.RunFolder | None) -> dict[str, pl.DataFrame]:
    """The tables that all units share, from the folder where it has them."""
    found = {}
    for name, make in plan.experiment.once(plan.settings).items():
        if folder is not None and folder.has(name):
            found[name] = folder.read(name)
            continue
        with in_turn(), settled(plan.loaded.model, plan.settings):
            found[name] = make(plan)
        if folder is not None:
            folder.write(name, found[name])
    return found


def _in_memory(
    experiment: Experiment,
    manifest: runs.Manifest,
    units: Sequence[runs.UnitTables],
    once: dict[str, pl.DataFrame],
) -> runs.Run:
    keep_facts(manifest, {unit.key.name: unit.facts for unit in units})
    kept = [name for name in units[0].tables if name in experiment.layout.tables]
    joined = {name: pl.concat([unit.tables[name] for unit in units]) for name in kept}
    tables = {name: frame.sort(KEYS[name]) for name, frame in joined.items()} | once  # as in files
    tables |= {name: make(tables[source]) for name, (source, make) in experiment.derived.items()}
    rows = tables.pop("rows", None)
    return runs.Run(manifest, tables, None if rows is None else rows.lazy())


def _run(
    plan: Plan,
    units: Sequence[Unit],
    once: dict[str, pl.DataFrame],
    folder: Path | None,
    jobs: int,
    progress: Progress | None,
) -> Iterator[runs.UnitTables]:
    tasks = with_facts(plan, {unit.key: replace(plan.task(unit), once=once) for unit in units})
    costs = {unit.key: _cost(unit, tasks[unit.key]) for unit in units}
    total, done = sum(costs.values()), 0.0

    def within(key: runs.UnitKey) -> Progress | None:
        # A callback cannot reach over to another process.
        report = progress if jobs == 1 else None
        return report and (lambda share: report((done + share * costs[key]) / total))

    calls = (
        (plan.source, unit, plan.settings, tasks[unit.key], within(unit.key), folder)
        for unit in units
    )
    for tables in as_they_finish(measure_unit, calls, max(1, min(jobs, len(units)))):
        done += costs[tables.key]
        if progress is not None:
            progress(done / total)
        yield tables


def with_facts(plan: Plan, tasks: Mapping[runs.UnitKey, Task]) -> dict[runs.UnitKey, Task]:
    """Tasks with what they need to know of the heads before, where one of them does."""
    if not any(task.judged and task.roles for task in tasks.values()):
        return dict(tasks)
    bos = plan.edges.bos
    facts = known_heads(plan.loaded, bos.id if bos.put else None, plan.settings)
    return {key: replace(task, facts=facts) for key, task in tasks.items()}


def _cost(unit: Unit, task: Task) -> float:
    """Relative: a model is linear in the length, measuring its rows is square."""
    length = len(unit.ids)
    rows = sum((2 + len(each.top_ns)) * min(each.rows or length, length) for each in task.curves)
    passes = 1 if task.ablate is None else _PASSES
    return length * (4096.0 * passes + 4 * length * len(task.probes) + rows)
