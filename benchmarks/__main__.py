"""Run the benchmarks: `python -m benchmarks [PART …] [--rounds 5] [--json]`."""

import argparse
import importlib
import json
import platform
import sys
from dataclasses import asdict
from typing import Any

PARTS = (
    "normalizers",
    "engine",
    "scan",
    "reproduce",
    "effects",
    "swap",
    "memory",
    "fused_statistics",
    "dynamics",
    "monitor",
    "first_use",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; or all")
    parser.add_argument("--rounds", type=int, default=5, help="timed calls of each, at most")
    parser.add_argument("--json", action="store_true", help="one JSON document, no table")
    options = parser.parse_args()
    wrong = [name for name in options.parts if name not in PARTS]
    if wrong:
        print(f"no benchmark {wrong[0]!r}; there are {', '.join(PARTS)}", file=sys.stderr)
        sys.exit(2)
    import torch  # a wrong name needs no seconds
    from rich.console import Console

    from benchmarks.table import Part, table

    # A table in a log file has no window to fit into.
    console = Console(stderr=options.json, width=None if sys.stdout.isatty() else 170)
    where = (
        f"torch {torch.__version__}, Python {platform.python_version()}, "
        f"{torch.get_num_threads()} threads, at most {options.rounds} rounds in turns"
    )
    parts: list[Part] = []
    try:
        for name in options.parts or PARTS:
            suite: Any = importlib.import_module(f"benchmarks.{name}")
            parts.append(Part(name, suite.setting(), []))
            with console.status(name) as status:
                for result in suite.run(options.rounds):
                    parts[-1].results.append(result)
                    told = f"{name}: {result.what}, {result.figure:.3g}"
                    status.update(told)
                    if not console.is_terminal:  # a log shows how far it is
                        print(told, file=sys.stderr, flush=True)
    finally:  # what was measured before something failed
        if options.json:
            print(json.dumps(_document(where, parts), indent=2))
        else:
            console.print(table(parts, where))
            for part in parts:
                console.print(f"{part.name}: {part.setting}", style="dim", highlight=False)


def _document(where: str, parts: list[Any]) -> dict[str, object]:
    found: dict[str, object] = {"setting": where}
    for part in parts:
        rows = [
            asdict(each) | {"figure": each.figure, "spread": each.spread, "met": each.met}
            for each in part.results
        ]
        found[part.name] = {"setting": part.setting, "results": rows}
    return found


if __name__ == "__main__":
    main()
