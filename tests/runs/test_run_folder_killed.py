"""Runs that are killed and taken up again end with the tables of one that was left alone."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from headgauge.runs import RunFolder, UnitKey
from headgauge.runs.units import is_whole


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob(".writing-*"))


def being_written(folder: Path) -> set[str]:
    """The names in `units` alone: folders vanish while they are looked into."""
    units = folder / "units"
    names = os.listdir(units) if units.is_dir() else []
    return {name for name in names if name.startswith(".writing-")}


def started(small_run, folder: Path, *arguments: int) -> subprocess.Popen:
    command = [sys.executable, small_run.__file__, str(folder), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def events(small_run, tmp_path_factory) -> int:
    """How many files a whole run opens, renames or removes."""
    command = [
        sys.executable,
        small_run.__file__,
        str(tmp_path_factory.mktemp("counted") / "a"),
        "0",
    ]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def looks_whole(folder: Path, small_run) -> None:
    """What a reader of a folder can see is whole."""
    for place in folder.glob("units/w*"):
        key = UnitKey.from_name(place.name)
        assert key is not None
        assert is_whole(folder, key)
    for table in folder.glob("*.parquet"):
        assert pl.read_parquet(table).height > 0
    if (folder / "manifest.json").exists():
        assert json.loads((folder / "manifest.json").read_text())["settings"]["model"] == "small"


@pytest.mark.parametrize("seed", range(5))
def test_a_run_killed_at_any_moment_goes_on(seed, made, small_run, tmp_path):
    """SIGKILL at the n-th opening, renaming or removal of a file, twice, then to the end."""
    folder = tmp_path / "killed"
    draw = random.Random(seed)
    for _ in range(2):
        child = started(small_run, folder, seed, draw.randrange(1, 90))
        assert child.wait() == -signal.SIGKILL
        looks_whole(folder, small_run)
    small_run.make(folder, seed)
    assert bytes_of(folder) == bytes_of(made)
    assert leftovers(folder) == []


@pytest.mark.parametrize("event", range(1, 9))
def test_a_run_killed_while_it_is_opened_goes_on(event, small_run, tmp_path):
    folder = tmp_path / "killed"
    child = started(small_run, folder, 0, event)
    assert child.wait() == -signal.SIGKILL
    run = RunFolder.open(folder, small_run.SETTINGS)
    assert run.finished() == set()
    assert leftovers(folder) == []


@pytest.mark.parametrize("before_end", [0, 7, 20])
def test_a_run_killed_while_it_merges_goes_on(before_end, events, made, small_run, tmp_path):
    folder = tmp_path / "killed"
    child = started(small_run, folder, 0, events - before_end)
    assert child.wait() == -signal.SIGKILL
    looks_whole(folder, small_run)
    assert len(list(folder.glob("units/w*"))) == len(small_run.KEYS)
    small_run.make(folder, 0)
    assert bytes_of(folder) == bytes_of(made)
    assert leftovers(folder) == []


def test_a_run_killed_from_outside_goes_on(made, small_run, tmp_path):
    folder = tmp_path / "killed"
    draw = random.Random(0)
    for _ in range(4):
        child = started(small_run, folder, 0)
        known = being_written(folder)
        while child.poll() is None and being_written(folder) <= known:
            time.sleep(0.0005)
        time.sleep(draw.random() * 0.02)
        child.kill()
        child.wait()
        looks_whole(folder, small_run)
    small_run.make(folder, 0)
    assert bytes_of(folder) == bytes_of(made)
    assert leftovers(folder) == []
