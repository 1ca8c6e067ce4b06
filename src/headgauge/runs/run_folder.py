"""The folder of a run, of whichever layout: begun, taken up again, finished, read.

DIR/manifest.json      what the run was (`manifest.Manifest`)
DIR/heads.parquet, …   its tables, where its layout (`layouts`) has them
DIR/units/…            the pieces that those of a scan are made of (`units`)
"""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from headgauge.atomic import folder_to_write, one_line, sweep, whole_file
from headgauge.errors import InputError
from headgauge.runs.json_files import check_form, plain
from headgauge.runs.layouts import SCAN, Layout
from headgauge.runs.manifest import Manifest, TableRecord, keep_facts, now
from headgauge.runs.manifest_file import (
    MANIFEST,
    begin_or_take_up,
    changed_manifest,
    differences,
    find_manifest,
)
from headgauge.runs.tables import (
    AGAIN,
    checked,
    height,
    join_tables,
    scan_table,
    sha256,
    write_table,
)
from headgauge.runs.units import (
    UNITS,
    UnitKey,
    UnitTables,
    is_whole,
    read_unit,
    remove_unit,
    unit_folder,
    write_unit,
)

_SURROUNDINGS = ("source_code", "hardware", "software")


@dataclass(eq=False)
class RunFolder:
    """A run that is being made: by units, which are merged, or table by table. Open it once;
    workers may `add` units through copies of it."""

    path: Path
    manifest: Manifest
    layout: Layout

    @classmethod
    def open(
        cls, path: str | Path, settings: Mapping[str, Any], layout: Layout = SCAN
    ) -> "RunFolder":
        """Begin a run, or take up one that has the same settings."""
        path = Path(path)
        folder_to_write(path)
        # The manifest comes first: a folder without one that holds anything is foreign.
        made = begin_or_take_up(path, settings)
        for place in (UNITS, layout.folder):
            sweep(path / place)
        return cls(path, made, layout)

    def describe(self, described: Manifest) -> None:
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

    def add(self, unit: UnitTables) -> None:
        """Write a unit; see `write_unit`."""
        write_unit(self.path, unit)

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
        units = {key: read_unit(self.path, key) for key in ordered}
        first = units[ordered[0]]["tables"]
        for key, unit in units.items():
            if other := first.keys() ^ unit["tables"].keys():
                raise InputError(
                    f"{self.path} cannot be finished: only one of {ordered[0].name} and {key.name} "
                    f"has the table {sorted(other)[0]}"
                )
        for name in first:
            parts = [unit_folder(self.path, key) / f"{name}.parquet" for key in ordered]
            join_tables(parts, self._file(name))
        with changed_manifest(self.path) as made:
            keep_facts(made, {key.name: unit["facts"] for key, unit in units.items()})
            made["tables"] = {name: self._record(name) for name in first}
        self.finish()

    def has(self, name: str) -> bool:
        """Whether a table is there and as it was written."""
        try:
            self.read(name)
        except InputError:
            return False
        return True

    def read(self, name: str) -> pl.DataFrame:
        """A table, whichever process made it."""
        found = find_manifest(self.path) or self.manifest
        return _table(self.path, self.layout, found, name).collect()

    def write(self, name: str, frame: pl.DataFrame, seconds: float | None = None) -> None:
        """One table, whole or not at all, and the seconds it took."""
        frame = checked(name, frame, self.layout.tables[name])
        with changed_manifest(self.path) as made:
            with one_line(self._file(name).parent):
                self._file(name).parent.mkdir(exist_ok=True)
            with whole_file(self._file(name)) as temporary:
                write_table(temporary, frame)
            made["tables"][name] = self._record(name)
            if seconds is not None:
                made["times"]["seconds"][name] = round(seconds, 3)
        self.manifest = made

    def finish(self, notes: list[str] | None = None) -> None:
        """All tables are there; `notes` are the run's."""
        with changed_manifest(self.path) as made:
            made["status"], made["times"]["finished"] = "finished", now()
            made["notes"] = made["notes"] if notes is None else notes
        self.manifest = made

    def _file(self, name: str) -> Path:
        return self.layout.file(self.path, name)

    def _record(self, name: str) -> TableRecord:
        return TableRecord(rows=height(self._file(name)), sha256=sha256(self._file(name)))


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run: its tables by name. `rows` may be large and is read when it is collected;
    None if not kept. `folder` is None for a run that is only in memory."""

    manifest: Manifest
    tables: dict[str, pl.DataFrame]
    rows: pl.LazyFrame | None = None
    folder: Path | None = None


def load_run(path: str | Path, layout: Layout = SCAN, names: Collection[str] | None = None) -> Run:
    """A finished run from its folder, with all its tables, or those of them with these names."""
    path = Path(path)
    found = find_manifest(path)
    if found is None or not layout.is_in(path):
        what = f"it has no {layout.folder or MANIFEST}"
        what = what if path.is_dir() else "there is no such folder"
        raise InputError(f"{path} is no {layout.name} of headgauge: {what}")
    if found["status"] != "finished":
        raise InputError(
            f"{path} is not finished: repeat the command that began it, and it goes on from there"
        )
    for place, form in layout.needs.items():
        value: Any = found
        for name in place.split("."):
            value = value[name]
        check_form(path / MANIFEST, value, form, place)
    for name in found["units"]:
        if UnitKey.from_name(name) is None:
            raise InputError(f"{path / MANIFEST} is damaged: {name!r} is no unit; {AGAIN}")
    left_out = {name for name in layout.on_request if name not in found["tables"]} | {"rows"}
    wanted = [name for name in names or layout.tables if name not in left_out]
    tables = {name: _table(path, layout, found, name).collect() for name in wanted}
    for name, said in layout.damage(tables):
        raise InputError(f"{layout.file(path, name)} is damaged: {said}; {AGAIN}")
    kept = "rows" in layout.on_request and "rows" in found["tables"]
    rows = _table(path, layout, found, "rows") if kept else None
    return Run(found, tables, rows, path)


def _table(path: Path, layout: Layout, manifest: Manifest, name: str) -> pl.LazyFrame:
    if name not in manifest["tables"]:
        raise InputError(f"{path} has no table {name}; {AGAIN}")
    written = manifest["tables"][name]["sha256"]
    return scan_table(layout.tables[name], layout.file(path, name), written)


def begun_units(path: str | Path) -> set[UnitKey]:
    """The units a folder has, by their names alone: quick, for an estimate of what is left."""
    places = Path(path, UNITS).iterdir() if os.path.isdir(Path(path, UNITS)) else ()
    return {key for place in places if (key := UnitKey.from_name(place.name)) is not None}


def _changed(before: Manifest, after: Manifest) -> list[str]:
    """A note on what is no longer as when the run was begun."""
    notes = []
    for part in _SURROUNDINGS:
        there, here = before[part], after[part]
        if there and here and (changed := differences(there, here, "before", "after")):
            notes.append(f"taken up with another {part.replace('_', ' ')}: {changed}")
    return notes
