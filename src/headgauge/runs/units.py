"""Units: the pieces a run is made of, one window of the model's text each.

    DIR/units/w0003-L01024/heads.parquet, curves.parquet, samples.parquet, rows.parquet,
                           depth.parquet, unit.json

A unit is written by whichever process computed it, in whatever order, and appears under its name
only when it is whole. `unit.json` has its facts and the sha256 of each of its files.
"""

import re
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

import polars as pl

from headgauge.atomic import one_line, whole_folder
from headgauge.errors import InputError
from headgauge.runs.forms import check_form
from headgauge.runs.json_files import json_text, read_json
from headgauge.runs.manifest import UnitFile
from headgauge.runs.schema import PAPER, TABLES
from headgauge.runs.tables import check_table, checked, read_table, sha256, write_table

UNITS = "units"
_FACTS = "unit.json"
_ALWAYS = {"heads", "curves", "samples"}


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


@dataclass(frozen=True)
class UnitFacts:
    """What is known of a unit besides its tables."""

    loss: float | None  # mean −log p of the next token: the proof that the weights are right
    tokens: int  # tokens the model read
    start: int  # the text token the window starts at
    unseen: tuple[str, ...] = ()  # attention modules whose weights could not be seen
    distrusted: dict[str, float] = field(default_factory=dict)  # modules left out, and how far off
    tapped: tuple[str, ...] = ()  # modules seen at their softmax, without values
    bos_losses: dict[str, float] = field(default_factory=dict)  # with_bos, without_bos
    seconds: dict[str, float] = field(default_factory=dict)  # by phase

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "UnitFacts":
        """From what `unit.json` holds, where nan is a text."""
        loss = values["loss"]
        return cls(
            loss=None if loss is None else float(loss),
            tokens=values["tokens"],
            start=values["start"],
            unseen=tuple(values["unseen"]),
            distrusted={name: float(value) for name, value in values["distrusted"].items()},
            tapped=tuple(values["tapped"]),
            # Units from before BOS was compared have none.
            bos_losses={name: float(v) for name, v in values.get("bos_losses", {}).items()},
            seconds={name: float(value) for name, value in values["seconds"].items()},
        )


@dataclass(frozen=True, eq=False)
class UnitTables:
    """A unit: its tables as in `schema`, and its facts."""

    key: UnitKey
    heads: pl.DataFrame
    curves: pl.DataFrame
    samples: pl.DataFrame
    rows: pl.DataFrame | None
    facts: UnitFacts
    paper: dict[str, pl.DataFrame] = field(default_factory=dict)  # a reproduction's, by name
    depth: pl.DataFrame | None = None

    def frames(self) -> dict[str, pl.DataFrame]:
        """The tables there are, by name."""
        found = {"heads": self.heads, "curves": self.curves, "samples": self.samples}
        asked = {"rows": self.rows, "depth": self.depth}
        return found | {k: v for k, v in asked.items() if v is not None} | self.paper


def unit_folder(folder: Path, key: UnitKey) -> Path:
    return folder / UNITS / key.name


def write_unit(folder: Path, tables: UnitTables) -> None:
    """Write a unit of the run in `folder`; a whole one that is there already stays as it is."""
    frames = {name: _own(tables.key, name, frame) for name, frame in tables.frames().items()}
    target = unit_folder(folder, tables.key)
    if target.exists():
        if is_whole(folder, tables.key):
            return
        remove_unit(folder, tables.key)
    needed = sum(int(frame.estimated_size()) for frame in frames.values())
    with whole_folder(target, needed) as temporary:
        sums = {}
        for name, frame in frames.items():
            path = temporary / f"{name}.parquet"
            write_table(path, frame)
            sums[name] = sha256(path)
        text = json_text({"tables": sums, "facts": asdict(tables.facts)})
        (temporary / _FACTS).write_text(text, encoding="utf-8", newline="\n")


def read_unit(folder: Path, key: UnitKey, with_rows: bool = False) -> UnitTables:
    """A unit of the run in `folder`; `rows` is None unless asked for and there."""
    place = unit_folder(folder, key)
    frames = {
        name: read_table(TABLES[name], place / f"{name}.parquet", written)
        for name, written in _record(folder, key)["tables"].items()
        if name != "rows" or with_rows
    }
    return UnitTables(
        key=key,
        heads=frames["heads"],
        curves=frames["curves"],
        samples=frames["samples"],
        rows=frames.get("rows"),
        facts=read_facts(folder, key),
        paper={name: frames[name] for name in PAPER if name in frames},
        depth=frames.get("depth"),
    )


def read_facts(folder: Path, key: UnitKey) -> UnitFacts:
    return UnitFacts.from_json(cast(dict[str, Any], _record(folder, key)["facts"]))


def read_tables(folder: Path, key: UnitKey) -> list[str]:
    """The names of the tables a unit has."""
    return list(_record(folder, key)["tables"])


def is_whole(folder: Path, key: UnitKey) -> bool:
    """Whether all files of a unit are there, as they were written, with this version's columns."""
    place = unit_folder(folder, key)
    try:
        for name, written in _record(folder, key)["tables"].items():
            check_table(TABLES[name], place / f"{name}.parquet", written)
    except InputError:
        return False
    return True


def remove_unit(folder: Path, key: UnitKey) -> None:
    place = unit_folder(folder, key)
    with one_line(place):
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)


def _own(key: UnitKey, name: str, frame: pl.DataFrame) -> pl.DataFrame:
    frame = checked(name, frame)
    other = frame.filter((pl.col("window") != key.window) | (pl.col("length") != key.length))
    if other.height:
        window, length = other.row(0)[:2]
        raise InputError(
            f"the table {name} of {key.name} has rows of {UnitKey(window, length).name}"
        )
    return frame


def _record(folder: Path, key: UnitKey) -> UnitFile:
    path = unit_folder(folder, key) / _FACTS
    try:
        found = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder} has no unit {key.name}") from None
    check_form(path, found, UnitFile)
    if not _ALWAYS <= found["tables"].keys() <= TABLES.keys():
        raise InputError(f"{path} is damaged: it names other tables than a unit has")
    return cast(UnitFile, found)
