"""The folder of a run: begun, taken up again, finished, read.

DIR/manifest.json     what the run was (`manifest.Manifest`)
DIR/heads.parquet     the tables, once it is finished; also curves, samples and, on request, rows
                      and depth
DIR/units/…           the pieces they are made of (`units`)
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from headgauge.atomic import folder_to_write, one_line, sweep
from headgauge.errors import InputError
from headgauge.runs.differences import differences, sentence
from headgauge.runs.forms import check_form
from headgauge.runs.json_files import plain
from headgauge.runs.manifest import Data, Facts, Manifest, Model, Splits, TableRecord, now
from headgauge.runs.manifest_file import (
    MANIFEST,
    begin_or_take_up,
    changed_manifest,
    find_manifest,
)
from headgauge.runs.schema import HEAD, TABLES
from headgauge.runs.tables import AGAIN, join_tables, scan_table, scanned, sha256
from headgauge.runs.units import (
    UNITS,
    UnitKey,
    UnitTables,
    is_whole,
    read_facts,
    read_tables,
    remove_unit,
    unit_folder,
    write_unit,
)

_SURROUNDINGS = ("source_code", "hardware", "software")


@dataclass(eq=False)
class RunFolder:
    """A run that is being made. Open it once; workers may `add` units through copies of it."""

    path: Path
    manifest: Manifest

    @classmethod
    def open(cls, path: str | Path, settings: Mapping[str, Any]) -> "RunFolder":
        """Begin a run, or take up one that has the same settings."""
        path = Path(path)
        folder_to_write(path)
        # The manifest comes first: a folder without one that holds anything is foreign.
        made = begin_or_take_up(path, settings)
        with one_line(path):
            (path / UNITS).mkdir(exist_ok=True)
            sweep(path / UNITS)
        return cls(path, made)

    def write_manifest(self, described: Manifest) -> None:
        """Say what the run is; its settings, state and times stay as the folder has them.

        A run that is taken up keeps the code, packages and hardware it was begun with, and a note
        says what has changed.
        """
        with changed_manifest(self.path) as there:
            kept = ["settings", "status", "units", "tables", "times"]
            if there["source_code"] is not None:
                kept += _SURROUNDINGS
            notes = [*there["notes"], *described["notes"], *_changed(there, described)]
            known = {name: there[name] for name in kept} | {"notes": list(dict.fromkeys(notes))}
            there |= cast(Manifest, {**plain(dict(described)), **known})
        self.manifest = there

    def finished(self) -> set[UnitKey]:
        """The units that are whole; what is damaged is removed."""
        done = set()
        with one_line(self.path / UNITS):
            keys = begun_units(self.path)
        for key in sorted(keys):
            if is_whole(self.path, key):
                done.add(key)
            else:
                remove_unit(self.path, key)
        return done

    def add(self, tables: UnitTables) -> None:
        """Write a unit; see `write_unit`."""
        write_unit(self.path, tables)

    def merge(self, keys: Iterable[UnitKey]) -> None:
        """Put the tables of these units together and finish the manifest.

        Units are sorted inside and come in the order of their keys, so the tables are sorted too.
        """
        ordered = sorted(set(keys))
        missing = [key.name for key in ordered if not is_whole(self.path, key)]
        if missing or not ordered:
            raise InputError(
                f"{self.path} cannot be finished: {len(missing)} of {len(ordered)} units are "
                "missing" + (f", the first is {missing[0]}" if missing else "")
            )
        names = self._tables(ordered)
        for name in names:
            parts = [unit_folder(self.path, key) / f"{name}.parquet" for key in ordered]
            join_tables(parts, self.path / f"{name}.parquet")
        self._finish(ordered, names)

    def _tables(self, keys: list[UnitKey]) -> list[str]:
        """The tables of the units, which must all have the same."""
        first = read_tables(self.path, keys[0])
        for key in keys[1:]:
            if set(read_tables(self.path, key)) != set(first):
                raise InputError(
                    f"{self.path} cannot be finished: only one of {keys[0].name} and {key.name} "
                    f"has the table {sorted(set(first) ^ set(read_tables(self.path, key)))[0]}"
                )
        return first

    def _finish(self, keys: list[UnitKey], names: list[str]) -> None:
        seconds: dict[str, float] = {}
        with changed_manifest(self.path) as made:
            times = made["times"]
            made["units"], times["units"] = {}, {}
            for key in keys:
                facts = asdict(read_facts(self.path, key))
                times["units"][key.name] = facts.pop("seconds")
                made["units"][key.name] = plain(facts)
                for phase, spent in times["units"][key.name].items():
                    seconds[phase] = seconds.get(phase, 0.0) + spent
            times["seconds"] = seconds
            times["finished"] = now()
            made["tables"] = {name: _table_record(self.path, name) for name in names}
            made["status"] = "finished"
        self.manifest = made


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run. `rows` may be large and is read when it is collected; None if not kept."""

    path: Path
    manifest: Manifest
    heads: pl.DataFrame
    curves: pl.DataFrame
    samples: pl.DataFrame
    rows: pl.LazyFrame | None

    def table(self, name: str) -> pl.DataFrame:
        """Another table of the run, such as `depth` or those a reproduction has."""
        return _table(self.path, self.manifest, name).collect()


def load_run(path: str | Path) -> Run:
    """A finished run, from its folder."""
    path = Path(path)
    found = find_manifest(path)
    if found is None:
        what = f"it has no {MANIFEST}" if path.is_dir() else "there is no such folder"
        raise InputError(f"{path} is no run of headgauge: {what}")
    if found["status"] != "finished":
        raise InputError(
            f"{path} is not finished: repeat the command that began it, and it goes on from there"
        )
    _check_described(path / MANIFEST, found)
    heads, curves, samples = (
        _table(path, found, name).collect() for name in ("heads", "curves", "samples")
    )
    for name, frame in (("curves", curves.filter(pl.col("rows") > 0)), ("samples", samples)):
        if frame.join(heads, on=HEAD, how="anti").height:
            file = path / f"{name}.parquet"
            raise InputError(f"{file} is damaged: it has heads that heads.parquet lacks; {AGAIN}")
    rows = _table(path, found, "rows") if "rows" in found["tables"] else None
    return Run(path, found, heads, curves, samples, rows)


def _table(path: Path, manifest: Manifest, name: str) -> pl.LazyFrame:
    if name not in manifest["tables"]:
        raise InputError(f"{path} has no table {name}")
    written = manifest["tables"][name]["sha256"]
    return scan_table(TABLES[name], path / f"{name}.parquet", written)


def _check_described(file: Path, found: Manifest) -> None:
    """A finished run says what it read, and has facts of units that can be."""
    for name, form in (("model", Model), ("data", Data), ("splits", Splits)):
        check_form(file, found[name], form, name)
    check_form(file, cast(Model, found["model"])["facts"], Facts, "model.facts")
    for name in found["units"]:
        if UnitKey.from_name(name) is None:
            raise InputError(f"{file} is damaged: {name!r} is no unit; {AGAIN}")


def begun_units(path: str | Path) -> set[UnitKey]:
    """The units a folder has, by their names alone: quick, for an estimate of what is left."""
    places = Path(path, UNITS).iterdir() if os.path.isdir(Path(path, UNITS)) else ()
    return {key for place in places if (key := UnitKey.from_name(place.name)) is not None}


def _changed(before: Manifest, after: Manifest) -> list[str]:
    """A note on what is no longer as when the run was begun."""
    notes = []
    for part in _SURROUNDINGS:
        there, here = before[part], after[part]
        found = differences(dict(there), dict(here)) if there and here else {}
        if found:
            changed = sentence(found, "before", "after")
            notes.append(f"taken up with another {part.replace('_', ' ')}: {changed}")
    return notes


def _table_record(path: Path, name: str) -> TableRecord:
    file = path / f"{name}.parquet"
    height = scanned([file]).select(pl.len()).collect().item()
    return TableRecord(rows=height, sha256=sha256(file))
