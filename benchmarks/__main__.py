"""Run the benchmarks: `python -m benchmarks [SUITE …] [--rounds 5] [--json]`."""

import argparse
import json
import platform
import sys
from dataclasses import asdict
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

from benchmarks import (
    dynamics,
    effects,
    engine,
    fused_statistics,
    memory,
    monitor,
    normalizers,
    scan,
    swap,
)
from benchmarks.timing import Comparison

SUITES: dict[str, Any] = {
    "normalizers": normalizers,
    "engine": engine,
    "scan": scan,
    "effects": effects,
    "swap": swap,
    "memory": memory,
    "fused_statistics": fused_statistics,
    "dynamics": dynamics,
    "monitor": monitor,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="all unless named")
    parser.add_argument("--rounds", type=int, default=5, help="timed calls of each (median)")
    parser.add_argument("--json", action="store_true", help="one JSON document, no table")
    options = parser.parse_args()
    for name in options.suites:
        if name not in SUITES:
            parser.error(f"no suite {name!r}; there are {', '.join(SUITES)}")
    # A table in a log file has no window to fit into.
    console = Console(stderr=options.json, width=None if sys.stdout.isatty() else 130)
    where = (
        f"torch {torch.__version__}, Python {platform.python_version()}, "
        f"{torch.get_num_threads()} threads, {options.rounds} rounds in turns"
    )
    document: dict[str, object] = {"setting": where}
    for name in options.suites or SUITES:
        suite = SUITES[name]
        results: list[Any] = []
        with console.status("") as status:
            for result in suite.run(options.rounds):
                results.append(result)
                told = f"{name}: {result.what}, {result.ratio:.3g}×"
                status.update(told)
                if not console.is_terminal:  # a log has what was measured before something fails
                    print(told, file=sys.stderr, flush=True)
        document[name] = {
            "setting": suite.setting(),
            "results": [asdict(r) | {"ratio": r.ratio, "met": r.met} for r in results],
        }
        if not options.json:
            table = getattr(suite, "table", _table)
            console.print(table(f"{name}: {suite.setting()}", where, results))
    if options.json:
        print(json.dumps(document, indent=2))


def _table(title: str, caption: str, results: list[Comparison]) -> Table:
    table = Table(title=title, caption=caption)
    for heading in ("what", "against"):
        table.add_column(heading)
    for heading in ("theirs, s", "ours, s", "theirs/ours", "goal", "met"):
        table.add_column(heading, justify="right")
    for result in results:
        table.add_row(
            result.what,
            result.theirs_name,
            f"{result.theirs_seconds:.4f}",
            f"{result.ours_seconds:.4f}",
            f"{result.ratio:.2f}",
            "–" if result.goal is None else f"≥ {result.goal:.2f}",
            {True: "yes", False: "no", None: ""}[result.met],
        )
    return table


if __name__ == "__main__":
    main()
