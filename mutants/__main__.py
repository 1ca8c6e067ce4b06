"""`make mutants`: break the code on purpose, one place at a time, and see whether the tests notice.

Each TOML file here has the breaks of one package:

    [[break]]
    name = "the radius without its root"
    file = "src/headgauge/theory/normalization/separability.py"
    old = "…"       # stands exactly once in the file
    new = "…"
    tests = ["tests/theory/normalization/test_separability.py"]

The breaks are applied to a copy of the working tree. One that no test notices is a hole in the net;
one whose text is gone has to follow the code. `python -m mutants engine models` runs some of them.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("src", "tests", "docs", "README.md", "CONTRIBUTING.md", "Makefile", "pyproject.toml")
PATIENCE = 600  # seconds: a break may make a loop endless, which is noticed too


def breaks(wanted: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        if not wanted or path.stem in wanted:
            for each in tomllib.loads(path.read_text(encoding="utf-8"))["break"]:
                yield path.stem, each


def seen(copy: Path, each: dict[str, Any]) -> str:
    """What became of a break: noticed, NOT NOTICED, or why it could not be tried."""
    path = copy / each["file"]
    whole = path.read_text(encoding="utf-8") if path.is_file() else ""
    if (count := whole.count(each["old"])) != 1:
        return f"STALE: its text stands {count} times in {each['file']}"
    path.write_text(whole.replace(each["old"], each["new"]), encoding="utf-8")
    paths = {"PYTHONPATH": str(copy / "src")}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider"]
    try:
        ended = subprocess.run(
            [*command, *each["tests"]],
            cwd=copy,
            env=os.environ | paths,
            capture_output=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return "noticed (it hung)"
    finally:
        path.write_text(whole, encoding="utf-8")
    # 1: a test failed; 2: a file of tests could not even be read. Anything else ran no test.
    return {0: "NOT NOTICED", 1: "noticed", 2: "noticed"}.get(
        ended.returncode, f"BROKEN: pytest ended with {ended.returncode}"
    )


def main(wanted: list[str]) -> int:
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            place = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            place(ROOT / name, copy / name)
        for package, each in breaks(wanted):
            began = time.perf_counter()
            found = seen(copy, each)
            missed += not found.startswith("noticed")
            print(f"{package:12} {each['name']:60} {found}  {time.perf_counter() - began:.0f} s")
            sys.stdout.flush()
    print(f"{missed} not noticed" if missed else "all noticed")
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
