"""`headgauge scan`, of all rows or some, against the plain forward pass on the same windows.

All after loading, in turns, on all threads; the phases are what the scan itself measured. The
plain pass is transformers' own call with sdpa, logits included; where the scan multiplies by a
faster library than the model would (`products`), a pass by that one stands beside it.
"""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.timing import Share
from headgauge import models, scanning
from headgauge.measure.requests import Task
from headgauge.products import FasterLinear
from headgauge.runs import UnitKey

LENGTH, WINDOWS = 1024, 4
LIMIT, TARGET = 3.4, 3.0
ROLES = 1.1  # times the scan without them
ROWS, LIMIT_OF_ROWS = 128, 1.6


def run(rounds: int) -> Iterator[Share]:
    """The plain pass, the scan, and the scan's phases, at most three rounds."""
    source = models.ModelSource("default")
    settings = scanning.ScanSettings(
        lengths=(LENGTH,), windows=WINDOWS, threads=torch.get_num_threads()
    )
    plan = scanning.scan_plan(source, None, settings)
    some = replace(plan, settings=replace(settings, rows=ROWS))
    seconds: dict[str, list[float]] = {
        name: [] for name in ("plain", "faster", "scan", "bare", "some")
    }
    phases: dict[str, list[float]] = {}
    for turn in range(min(rounds, 3) + 1):
        plain, (scan, parts), (bare, _) = _plain(plan), _scan(plan), _scan(_without_roles(plan))
        few, _ = _scan(some)
        with FasterLinear():
            faster = _plain(plan)
        if turn == 0:
            continue  # compiles and fills the caches
        seconds["plain"].append(plain)
        seconds["faster"].append(faster)
        seconds["scan"].append(scan)
        seconds["bare"].append(bare)
        seconds["some"].append(few)
        for name, spent in parts.items():
            phases.setdefault(name, []).append(spent)
    plain, scan, bare = (seconds[name] for name in ("plain", "scan", "bare"))
    yield Share("headgauge scan, with its tables written", scan, plain, LIMIT, TARGET)
    yield Share(f"the same with --rows {ROWS}", seconds["some"], plain, LIMIT_OF_ROWS)
    yield Share("a plain pass by the scan's products", seconds["faster"], plain)
    yield Share("the scan without roles", bare, plain)
    yield Share("roles: with them", scan, bare, ROLES, against="without them")
    for name, spent in phases.items():
        yield Share(f"  of which {name}", spent, plain)
    rest = [all_of_it - sum(each) for all_of_it, *each in zip(scan, *phases.values(), strict=True)]
    yield Share("  of which loss, tables, the rest", rest, plain)


def _plain(plan: scanning.Plan) -> float:
    began = time.perf_counter()
    for unit in plan.units:
        with torch.no_grad():
            plan.loaded.model(torch.tensor([unit.ids]))
    return time.perf_counter() - began


def _without_roles(plan: scanning.Plan) -> scanning.Plan:
    """The same scan, and what heads do not asked."""

    def task(settings: Any, key: UnitKey) -> Task:
        return replace(plan.experiment.task(settings, key), roles=False)

    return replace(plan, experiment=replace(plan.experiment, task=task))


def _scan(plan: scanning.Plan) -> tuple[float, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        result = scanning.run_scan(plan, Path(folder, "run"))
        spent = time.perf_counter() - began
    return spent, dict(result.manifest["times"]["seconds"])


def setting() -> str:
    """What was measured, for the line above the table."""
    return (
        f"default model, {WINDOWS} windows of {LENGTH} tokens, all heads, N = "
        f"{', '.join(map(str, scanning.ScanSettings().top_ns))}"
    )
