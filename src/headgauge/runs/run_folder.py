"""The folder of a run, of whichever layout: begun, taken up again, finished, read.

DIR/manifest.json      what the run was (`manifest.Manifest`)
DIR/heads.parquet, …   its tables, where its layout (`layouts`) has them
DIR/units/…            the pieces that those of a scan are made of (`units`)
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from headgauge.atomic import folder_to_write, one_line, sweep, whole_file
from headgauge.errors import InputError
from headgauge.runs import manifest_file, tables, units
from headgauge.runs.json_files import check_form, plain
from headgauge.runs.layouts import SCAN, Layout
from headgauge.runs.manifest import Manifest, keep_facts, now
from headgauge.runs.manifest_file import MANIFEST, changed_manifest, find_manifest
from headgauge.runs.units import UNITS, UnitKey

# Tables that follow from another, by name: that one's name, and how.
Derived = Mapping[str, tuple[str, Callable[[pl.DataFrame], pl.DataFrame]]]
_SURROUNDINGS = ("source_code", "hardware", "software")


@dataclass(eq=False)
class RunFolder:
    """A run that is being made: by units, which `units.write_unit` writes and which are merged, or
    table by table."""

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
        made = manifest_file.begin_or_take_up(path, settings)
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
            keys = units.begun_units(self.path)
        for key in sorted(keys):
            if units.is_whole(self.path, key):
                done.add(key)
            else:
                units.remove_unit(self.path, key)
        return done

    def merge(self, keys: Iterable[UnitKey], derived: Derived | None = None) -> None:
        """Put the tables of these units together, make those that follow from them, and finish the
        manifest; what the layout does not have stays in the units.

        Units are sorted inside and come in the order of their keys, so the tables are sorted too.
        """
        ordered = sorted(set(keys))
        missing = [key.name for key in ordered if not units.is_whole(self.path, key)]
        if missing or not ordered:
            raise InputError(
                f"{self.path} cannot be finished: {len(missing)} of {len(ordered)} units are "
                "missing" + (f", the first is {missing[0]}" if missing else "")
            )
        found = {key: units.read_unit(self.path, key) for key in ordered}
        first = found[ordered[0]]["tables"]
        for key, unit in found.items():
            if other := first.keys() ^ unit["tables"].keys():
                raise InputError(
                    f"{self.path} cannot be finished: only one of {ordered[0].name} and {key.name} "
                    f"has the table {sorted(other)[0]}"
                )
        kept = [name for name in first if name in self.layout.tables]
        files = {name: self.layout.file(self.path, name) for name in kept}
        for name, file in files.items():
            parts = [units.unit_folder(self.path, key) / f"{name}.parquet" for key in ordered]
            tables.join_tables(parts, file)
        with changed_manifest(self.path) as made:
            keep_facts(made, {key.name: unit["facts"] for key, unit in found.items()})
            made["tables"] |= {name: tables.table_record(file) for name, file in files.items()}
        for name, (source, make) in (derived or {}).items():
            self.write(name, make(self.read(source)))
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
        frame = tables.checked(name, frame, self.layout.tables[name])
        file = self.layout.file(self.path, name)
        with changed_manifest(self.path) as made:
            with one_line(file.parent):
                file.parent.mkdir(exist_ok=True)
            with whole_file(file) as temporary:
                tables.write_table(temporary, frame)
            made["tables"][name] = tables.table_record(file)
            if seconds is not None:
                made["times"]["seconds"][name] = round(seconds, 3)
        self.manifest = made

    def finish(self, notes: list[str] | None = None) -> None:
        """All tables are there; `notes` are the run's."""
        with changed_manifest(self.path) as made:
            made["status"], made["times"]["finished"] = "finished", now()
            made["notes"] = made["notes"] if notes is None else notes
        self.manifest = made


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
            raise InputError(f"{path / MANIFEST} is damaged: {name!r} is no unit; {tables.AGAIN}")
    left_out = {name for name in layout.on_request if name not in found["tables"]}
    wanted = [name for name in names or layout.tables if name not in {*left_out, "rows"}]
    frames = {name: _table(path, layout, found, name).collect() for name in wanted}
    for name, said in layout.damage(frames):
        raise InputError(f"{layout.file(path, name)} is damaged: {said}; {tables.AGAIN}")
    kept = "rows" in layout.on_request and "rows" not in left_out
    return Run(found, frames, _table(path, layout, found, "rows") if kept else None, path)


def _table(path: Path, layout: Layout, manifest: Manifest, name: str) -> pl.LazyFrame:
    if name not in manifest["tables"]:
        raise InputError(f"{path} has no table {name}; {tables.AGAIN}")
    written = manifest["tables"][name]["sha256"]
    return tables.scan_table(layout.tables[name], layout.file(path, name), written)


def _changed(before: Manifest, after: Manifest) -> list[str]:
    """A note on what is no longer as when the run was begun."""
    notes = []
    for part in _SURROUNDINGS:
        there, here = before[part], after[part]
        changed = there and here and manifest_file.differences(there, here, "before", "after")
        if changed:
            notes.append(f"taken up with another {part.replace('_', ' ')}: {changed}")
    return notes
