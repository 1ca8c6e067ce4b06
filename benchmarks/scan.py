"""`headgauge scan`, with roles and without, against the plain forward pass on the same windows.

All after loading, in turns, on all threads; the phases are what the scan itself measured. The
plain pass is transformers' own call with sdpa, logits included.
"""

import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from rich.table import Table

from headgauge import models, scanning
from headgauge.measure.requests import Task
from headgauge.runs import UnitKey

LENGTH, WINDOWS = 1024, 4
GOAL, AIM = 4.0, 3.0
ROLES = 1.1  # times the scan without them


@dataclass(frozen=True)
class Share:
    """One row: seconds of all windows, and how many times the plain pass (or what `what` says)."""

    what: str
    seconds: float
    plain_seconds: float
    goal: float | None = None

    @property
    def ratio(self) -> float:
        return self.seconds / self.plain_seconds

    @property
    def met(self) -> bool | None:
        return None if self.goal is None else self.ratio <= self.goal


def run(rounds: int) -> Iterator[Share]:
    """The plain pass, the scan, and the scan's phases; the fastest of at most three rounds each:
    whatever else the machine does in half a minute only adds."""
    source = models.ModelSource("default")
    settings = scanning.ScanSettings(
        lengths=(LENGTH,), windows=WINDOWS, threads=torch.get_num_threads()
    )
    plan = scanning.scan_plan(source, None, settings)
    seconds: dict[str, list[float]] = {"plain": [], "scan": [], "bare": []}
    phases: dict[str, list[float]] = {}
    for turn in range(min(rounds, 3) + 1):
        plain, (scan, parts), (bare, _) = _plain(plan), _scan(plan), _scan(_without_roles(plan))
        if turn == 0:
            continue  # compiles and fills the caches
        seconds["plain"].append(plain)
        seconds["scan"].append(scan)
        seconds["bare"].append(bare)
        for name, spent in parts.items():
            phases.setdefault(name, []).append(spent)
    plain, scan, bare = (min(seconds[name]) for name in ("plain", "scan", "bare"))
    yield Share("plain sdpa forward", plain, plain)
    yield Share("headgauge scan, with its tables written", scan, plain, GOAL)
    yield Share("the same without roles", bare, plain)
    yield Share("roles: with them, times without", scan, bare, ROLES)
    fastest = seconds["scan"].index(scan)
    parts = {name: each[fastest] for name, each in phases.items()}
    for name, spent in parts.items():
        yield Share(f"  of which {name}", spent, plain)
    yield Share("  of which loss, tables, the rest", scan - sum(parts.values()), plain)


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
        f"{', '.join(map(str, scanning.ScanSettings().top_ns))}; at most {GOAL:g}, aim {AIM:g}"
    )


def table(
    title: str, caption: str, results: list[Share], against: str = "times the plain pass"
) -> Table:
    """The rows as a table."""
    made = Table(title=title, caption=caption)
    made.add_column("what")
    for heading in ("seconds", against, "goal", "met"):
        made.add_column(heading, justify="right")
    for each in results:
        goal = "–" if each.goal is None else f"≤ {each.goal:g}"
        met = {True: "yes", False: "no", None: ""}[each.met]
        made.add_row(each.what, f"{each.seconds:.2f}", f"{each.ratio:.2f}", goal, met)
    return made
