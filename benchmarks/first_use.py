"""The first use on a machine: the time until a scan can measure, with an empty cache of kernels.

Every number is of a process of its own, from its start until the model is loaded and what `scan`
needs is compiled; the same with a filled cache is what loading alone takes. A further process
scans a short window and counts what it had to compile.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Result

LIMIT = 30.0
LENGTH = 256
_PATIENCE = 300.0


def run(rounds: int) -> Iterator[Result]:
    """At most three rounds, each with a cache of its own."""
    empty, filled, compiled = [], [], []
    for _ in range(min(rounds, 3)):
        with tempfile.TemporaryDirectory() as folder:
            empty.append(_child("ready", folder))
            _wait(folder)
            filled.append(_child("ready", folder))
            compiled.append(_child("compiled", folder))
    both = "loading the model with a filled cache"
    above = tuple(a - b for a, b in zip(empty, filled, strict=True))
    yield Result("model loaded and kernels compiled", "", tuple(empty), limit=LIMIT)
    yield Result("of which above", both, above)
    what = "compiled by a second process that scans"
    yield Result(what, "", tuple(compiled), limit=0.0, unit="kernels")


def _child(way: str, folder: str) -> float:
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.first_use", way],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
        env=os.environ | {"NUMBA_CACHE_DIR": folder},
    )
    return time.perf_counter() - began if way == "ready" else float(done.stdout.split()[-1])


def _wait(folder: str) -> None:
    """Until what a scan rarely needs is compiled as well."""
    until = time.monotonic() + _PATIENCE
    while not list(Path(folder).rglob("scan-*.ready")):
        if time.monotonic() > until:
            raise TimeoutError(f"not all kernels were compiled in {_PATIENCE:g} s")
        time.sleep(0.2)


def _ready() -> None:
    """As the command does it."""
    from headgauge import first_use

    first_use.start("scan")
    from headgauge import models, scanning  # noqa: F401

    models.ModelSource("default").open()
    for _ in first_use.waiting():
        pass


def _compiled() -> None:
    """How many kernels a scan compiles here, whichever they are."""
    from numba.core.dispatcher import Dispatcher

    from headgauge import models, scanning

    settings = scanning.ScanSettings(lengths=(LENGTH,), windows=1, layers=(0, 15, 29))
    scanning.run_scan(scanning.scan_plan(models.ModelSource("default"), None, settings), None)
    modules = [module for name, module in sys.modules.items() if name.startswith("headgauge")]
    named = [each for module in modules for each in vars(module).values()]
    kernels = {each for each in named if isinstance(each, Dispatcher)}
    print(sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels))


def setting() -> str:
    """What was measured, for the line above the table."""
    return "default model, an empty folder for compiled kernels"


if __name__ == "__main__":
    {"ready": _ready, "compiled": _compiled}[sys.argv[1]]()
