"""Peak memory of a scan beside that of the plain forward pass, as L grows.

Each number is the highest resident size of a process of its own that loaded the default model and
did one window. A scan keeps nothing of a layer but its means, so a few layers show the peak.
"""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

LENGTHS = (1024, 2048, 4096, 8192)
GOALS = {4096: 1.0, 8192: 3.0}  # GB above the plain pass
LAYERS = (0, 15, 29)


@dataclass(frozen=True)
class Peak:
    """One row: gigabytes at one length."""

    what: str
    length: int
    plain: float
    scan: float

    @property
    def ratio(self) -> float:
        return self.scan / self.plain

    @property
    def above(self) -> float:
        return self.scan - self.plain

    @property
    def met(self) -> bool | None:
        goal = GOALS.get(self.length)
        return None if goal is None else self.above <= goal


def run(rounds: int) -> Iterator[Peak]:
    """One process per number: a peak cannot be taken back."""
    del rounds
    for length in LENGTHS:
        plain, scan = (_peak(way, length) for way in ("plain", "scan"))
        yield Peak(f"L = {length}", length, plain, scan)


def _peak(way: str, length: int) -> float:
    command = [sys.executable, "-m", "benchmarks.memory", way, str(length)]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1]
    )
    return float(done.stdout.split()[-1])


def _child(way: str, length: int) -> float:
    """Do it once, and say how much memory this process ever had, in GB."""
    import torch

    from headgauge import models, scanning
    from headgauge.measure.unit import measure_unit

    settings = scanning.ScanSettings(
        lengths=(length,), windows=1, layers=LAYERS, threads=torch.get_num_threads()
    )
    plan = scanning.scan_plan(models.ModelSource("default"), None, settings)
    if way == "plain":
        with torch.no_grad():
            plan.loaded.model(torch.tensor([plan.units[0].ids]))
    else:
        measure_unit(plan.source, plan.units[0], settings, plan.task(plan.units[0]))
    return highest()


def highest() -> float:
    """How much memory this process ever had, in GB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    kilobytes = next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]
    return int(kilobytes) * 1024 / 1e9


def setting() -> str:
    """What was measured, for the line above the table."""
    return (
        f"default model, one window, layers {', '.join(map(str, LAYERS))} measured; text and model "
        "loaded in both; at most 1 GB above the plain pass at 4096, 3 GB at 8192"
    )


def table(title: str, caption: str, results: list[Peak]) -> Table:
    """The rows as a table."""
    del caption
    made = Table(title=title)
    for heading in ("L", "plain sdpa, GB", "scan, GB", "above, GB", "goal", "met"):
        made.add_column(heading, justify="right")
    for each in results:
        goal = GOALS.get(each.length)
        made.add_row(
            str(each.length),
            f"{each.plain:.2f}",
            f"{each.scan:.2f}",
            f"{each.above:+.2f}",
            "–" if goal is None else f"≤ {goal:g}",
            {True: "yes", False: "no", None: ""}[each.met],
        )
    return made


if __name__ == "__main__":
    print(_child(sys.argv[1], int(sys.argv[2])))
