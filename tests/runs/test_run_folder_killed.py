"""Runs that are killed and taken up again end with the tables of one that was left alone."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from headgauge.runs import RunFolder, UnitKey
from headgauge.runs.units import is_whole

Killed = Callable[..., tuple[int, int]]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob(".writing-*"))


def being_written(folder: Path) -> set[str]:
    """The names in `units` alone: folders vanish while they are looked into."""
    units = folder / "units"
    names = os.listdir(units) if units.is_dir() else []
    return {name for name in names if name.startswith(".writing-")}


@pytest.fixture(scope="module")
def run_until(small_run: Any) -> Iterator[Killed]:
    """Make a run in a process that dies at an event (0: at none): its exit code, and how many files
    it has opened, renamed or removed."""
    serving = subprocess.Popen(
        [sys.executable, small_run.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert serving.stdin is not None
    assert serving.stdout is not None
    told, said = serving.stdin, serving.stdout

    def call(folder: Path, seed: int = 0, event: int = 0) -> tuple[int, int]:
        told.write(f"{seed} {event} {folder}\n")
        told.flush()
        code, events = said.readline().split()
        return int(code), int(events)

    with serving:
        yield call
        told.close()


def looks_whole(folder: Path) -> None:
    """What a reader of a folder can see is whole."""
    for place in folder.glob("units/w*"):
        key = UnitKey.from_name(place.name)
        assert key is not None
        assert is_whole(folder, key)
    for table in folder.glob("*.parquet"):
        assert pl.read_parquet(table).height > 0
    if (folder / "manifest.json").exists():
        assert json.loads((folder / "manifest.json").read_text())["settings"]["model"] == "small"


def goes_on(folder: Path, seed: int, made: Path, small_run: Any) -> None:
    looks_whole(folder)
    small_run.make(folder, seed)
    assert bytes_of(folder) == bytes_of(made)
    assert leftovers(folder) == []


def test_a_run_killed_at_any_moment_goes_on(made, small_run, run_until, tmp_path):
    """SIGKILL at the n-th opening, renaming or removal of a file, twice, then to the end."""
    for seed in range(4):
        folder = tmp_path / str(seed)
        draw = random.Random(seed)
        for _ in range(2):
            event = draw.randrange(1, 90)
            assert run_until(folder, seed, event) == (-signal.SIGKILL, event)
            looks_whole(folder)
        goes_on(folder, seed, made, small_run)


def test_a_run_killed_while_it_is_opened_goes_on(small_run, run_until, tmp_path):
    for event in range(1, 9):
        folder = tmp_path / str(event)
        assert run_until(folder, event=event) == (-signal.SIGKILL, event)
        run = RunFolder.open(folder, small_run.SETTINGS)
        assert run.finished() == set()
        assert leftovers(folder) == []


def test_a_run_killed_while_it_merges_goes_on(made, small_run, run_until, tmp_path):
    code, events = run_until(tmp_path / "whole")
    assert code == 0
    for before_end in (0, 7, 20):
        folder = tmp_path / str(before_end)
        assert run_until(folder, event=events - before_end)[0] == -signal.SIGKILL
        assert len(list(folder.glob("units/w*"))) == len(small_run.KEYS)
        goes_on(folder, 0, made, small_run)


def test_a_run_killed_from_outside_goes_on(made, small_run, tmp_path):
    folder = tmp_path / "killed"
    draw = random.Random(0)
    for _ in range(3):
        child = subprocess.Popen([sys.executable, small_run.__file__, str(folder)])
        known = being_written(folder)
        while child.poll() is None and being_written(folder) <= known:
            time.sleep(0.0005)
        time.sleep(draw.random() * 0.02)
        child.kill()
        child.wait()
        looks_whole(folder)
    goes_on(folder, 0, made, small_run)
