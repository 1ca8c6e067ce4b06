"""Units: the pieces a run is made of, one window of the model's text each.

    DIR/units/w0003-L01024/heads.parquet, curves.parquet, samples.parquet, rows.parquet,
                           depth.parquet, unit.json

A unit is written by whichever process computed it, in whatever order, and appears under its name
only when it is whole. `unit.json` has its facts and the sha256 of each of its files.
"""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import polars as pl

from headgauge.atomic import one_line, whole_folder
from headgauge.errors import InputError
from headgauge.runs.json_files import check_form, json_text, read_json
from headgauge.runs.manifest import UnitFacts, UnitFile
from headgauge.runs.schema import KEYS, ON_REQUEST, TABLES
from headgauge.runs.tables import check_table, checked, sha256, write_table

UNITS = "units"
_FACTS = "unit.json"


@dataclass(frozen=True, order=True)
class UnitKey:
    """Which window, and its length L; ordered as the rows of the tables are."""

    window: int
    length: int

    @property
    def name(self) -> str:
        return f"w{self.window:04d}-L{self.length:05d}"

    @classmethod
    def from_name(cls, name: str) -> "UnitKey | None":
        found = re.fullmatch(r"w(\d{4,})-L(\d{5,})", name)
        key = cls(int(found[1]), int(found[2])) if found else None
        return key if key is not None and key.name == name else None


@dataclass(frozen=True, eq=False)
class UnitTables:
    """A unit: its tables by name, as in `schema`, and its facts."""

    key: UnitKey
    tables: dict[str, pl.DataFrame]
    facts: UnitFacts


def unit_folder(folder: Path, key: UnitKey) -> Path:
    return folder / UNITS / key.name


def begun_units(path: str | Path) -> set[UnitKey]:
    """The units a folder has, by their names alone: quick, for an estimate of what is left."""
    names = os.listdir(Path(path, UNITS)) if os.path.isdir(Path(path, UNITS)) else ()
    return {key for name in names if (key := UnitKey.from_name(name)) is not None}


def write_unit(folder: Path, unit: UnitTables) -> None:
    """Write a unit of the run in `folder`; a whole one that is there already stays as it is."""
    frames = {name: _own(unit.key, name, frame) for name, frame in unit.tables.items()}
    target = unit_folder(folder, unit.key)
    if target.exists():
        if is_whole(folder, unit.key):
            return
        remove_unit(folder, unit.key)
    needed = sum(int(frame.estimated_size()) for frame in frames.values())
    with whole_folder(target, needed) as temporary:
        sums = {}
        for name, frame in frames.items():
            path = temporary / f"{name}.parquet"
            write_table(path, frame)
            sums[name] = sha256(path)
        text = json_text({"tables": sums, "facts": unit.facts})
        (temporary / _FACTS).write_text(text, encoding="utf-8", newline="\n")


def _own(key: UnitKey, name: str, frame: pl.DataFrame) -> pl.DataFrame:
    frame = checked(name, frame, TABLES[name], KEYS[name])
    other = frame.filter((pl.col("window") != key.window) | (pl.col("length") != key.length))
    if other.height:
        window, length = other.row(0)[:2]
        raise InputError(
            f"the table {name} of {key.name} has rows of {UnitKey(window, length).name}"
        )
    return frame


def read_unit(folder: Path, key: UnitKey) -> UnitFile:
    """What unit.json says of a unit: its facts, and the sha256 of its tables by their names."""
    path = unit_folder(folder, key) / _FACTS
    try:
        found = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder} has no unit {key.name}") from None
    check_form(path, found, UnitFile)
    if not TABLES.keys() - ON_REQUEST <= found["tables"].keys() <= TABLES.keys():
        raise InputError(f"{path} is damaged: it names other tables than a unit has")
    return cast(UnitFile, found)


def is_whole(folder: Path, key: UnitKey) -> bool:
    """Whether all files of a unit are there, as they were written, with this version's columns."""
    try:
        for name, written in read_unit(folder, key)["tables"].items():
            check_table(TABLES[name], unit_folder(folder, key) / f"{name}.parquet", written)
    except InputError:
        return False
    return True


def remove_unit(folder: Path, key: UnitKey) -> None:
    place = unit_folder(folder, key)
    with one_line(place):
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
