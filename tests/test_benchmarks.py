"""The benchmarks' table, and how a part is asked for."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.table import Part, table
from benchmarks.timing import Comparison, Result, Share, in_turns

ROOT = Path(__file__).parents[1]


def test_the_table_has_every_figure_with_its_spread_beside_limit_and_target():
    rows: list[Result] = [
        Share("a scan", [6.2, 8.0, 6.8], [2.0, 2.0, 2.0], 3.4, 3.0),
        Comparison("a simulation", "scipy", "headgauge", 30.0, [2.0, 3.0, 4.0], 5.0, 10.0),
        Result("memory", "plain", (0.25,), limit=0.2, unit="GB"),
    ]
    console = Console(width=150, record=True, file=io.StringIO())
    console.print(table([Part("scan", "four windows", rows)], "here"))
    lines = {row.what: next(s for s in _lines(console) if row.what in s) for row in rows}
    assert _cells(lines["a scan"])[2:] == [
        "6.80 s", "2.00 s", "3.40 ×", "3.10–4.00", "≤ 3.4", "≤ 3", "limit",
    ]  # fmt: skip
    assert _cells(lines["a simulation"])[4:] == [
        "10.0 × as fast", "7.50–15.0", "≥ 5", "≥ 10", "target",
    ]  # fmt: skip
    assert _cells(lines["memory"])[3:] == ["", "0.250 GB", "one round", "≤ 0.2", "", "no"]


def _lines(console: Console) -> list[str]:
    return console.export_text(clear=False).splitlines()


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("│").split("│")]


def test_the_spread_is_the_middle_half_of_many_rounds():
    assert Result("", "", tuple(map(float, range(100)))).spread == (25.0, 74.0)
    assert Result("", "", (3.0, 1.0, 2.0)).spread == (1.0, 3.0)


def test_the_first_turn_is_not_counted():
    calls: list[str] = []
    ways = {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}
    assert {name: len(each) for name, each in in_turns(ways, 2).items()} == {"a": 2, "b": 2}
    assert calls == ["a", "b"] * 3


@pytest.mark.parametrize("asked", [["scans"], ["scan", "no-such"]])
def test_a_wrong_part_is_told_in_one_line(asked: list[str]):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *asked], capture_output=True, text=True, cwd=ROOT
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"no benchmark '{asked[-1]}'; there are normalizers, engine, ")
    assert done.stderr.count("\n") == 1
