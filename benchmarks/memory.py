"""Peak memory of a scan beside that of the plain forward pass, as L grows.

Each number is the highest resident size of a process of its own that loaded the default model and
did one window. A scan keeps nothing of a layer but its means, so a few layers show the peak.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Result

# GB above the plain pass that are allowed: what it took before logits were made in chunks.
LIMITS = {1024: 0.56, 2048: 0.28, 4096: 0.22, 8192: -0.14}
ROWS = 128
LAYERS = (0, 15, 29)


def run(rounds: int) -> Iterator[Result]:
    """One process per number, at most two rounds: a peak cannot be taken back."""
    for length, limit in LIMITS.items():
        ways = {"scan": "scan", "some": f"scan --rows {ROWS}"}
        taken: dict[str, list[float]] = {way: [] for way in ("plain", *ways)}
        for _ in range(min(rounds, 2)):
            for way, peaks in taken.items():
                peaks.append(_peak(way, length))
        against = f"plain sdpa, {min(taken['plain']):.2f} GB"
        for way, name in ways.items():
            above = tuple(a - b for a, b in zip(taken[way], taken["plain"], strict=True))
            yield Result(f"{name} at L = {length}, above", against, above, limit=limit, unit="GB")


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

    rows = ROWS if way == "some" else None
    settings = scanning.ScanSettings(
        lengths=(length,), windows=1, layers=LAYERS, rows=rows, threads=torch.get_num_threads()
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
        "loaded in both"
    )


if __name__ == "__main__":
    print(_child(sys.argv[1], int(sys.argv[2])))
