"""The folder of a run: begun, taken up again, finished, read.

DIR/manifest.json     what the run was (`manifest.Manifest`)
DIR/heads.parquet     the tables, once it is finished; also curves, samples and, on request, rows
                      and depth
DIR/units/…           the pieces they are made of (`units`)
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from headgauge.atomic import WRITING, one_line, sweep
from headgauge.errors import InputError
from headgauge.results.differences import differences, sentence
from headgauge.results.json_files import plain, read_json, write_json
from headgauge.results.manifest import FORMAT, Manifest, TableRecord, first_manifest, now
from headgauge.results.tables import check_table, join_tables, read_table
from headgauge.results.units import (
    UNITS,
    UnitKey,
    UnitTables,
    is_whole,
    read_facts,
    read_tables,
    remove_unit,
    sha256,
    unit_folder,
    write_unit,
)

MANIFEST = "manifest.json"
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
        with one_line(path):
            if path.exists() and not path.is_dir():
                raise InputError(f"{path} is a file: give a folder to write to")
            path.mkdir(parents=True, exist_ok=True)
            sweep(path)
            sweep(path / UNITS)
            run = cls(path, begin_or_take_up(path, plain(dict(settings))))
            # The manifest comes first: a folder without one that holds anything is foreign.
            run._save()
            (path / UNITS).mkdir(exist_ok=True)
        return run

    def write_manifest(self, described: Manifest) -> None:
        """Say what the run is; its settings, state and times stay as the folder has them.

        A run that is taken up keeps the code, packages and hardware it was begun with, and a note
        says what has changed.
        """
        kept = ["settings", "status", "units", "tables", "times"]
        if self.manifest["source_code"] is not None:
            kept += _SURROUNDINGS
        notes = [*self.manifest["notes"], *described["notes"], *_changed(self.manifest, described)]
        known = {name: self.manifest[name] for name in kept}
        notes = list(dict.fromkeys(notes))
        self.manifest = cast(Manifest, {**plain(dict(described)), **known, "notes": notes})
        self._save()

    def finished(self) -> set[UnitKey]:
        """The units that are whole; what is damaged is removed."""
        done = set()
        for place in sorted((self.path / UNITS).iterdir()):
            key = UnitKey.from_name(place.name)
            if key is None:
                continue
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
        times = self.manifest["times"]
        self.manifest["units"], times["units"] = {}, {}
        for key in keys:
            facts = asdict(read_facts(self.path, key))
            times["units"][key.name] = facts.pop("seconds")
            self.manifest["units"][key.name] = plain(facts)
            for phase, spent in times["units"][key.name].items():
                seconds[phase] = seconds.get(phase, 0.0) + spent
        times["seconds"] = seconds
        times["finished"] = now()
        self.manifest["tables"] = {name: _table_record(self.path, name) for name in names}
        self.manifest["status"] = "finished"
        self._save()

    def _save(self) -> None:
        write_json(self.path / MANIFEST, cast(dict[str, Any], self.manifest))


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
        if name not in self.manifest["tables"]:
            raise InputError(f"{self.path} has no table {name}")
        return read_table(name, self.path / f"{name}.parquet")


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
    frames = {
        name: read_table(name, path / f"{name}.parquet") for name in ("heads", "curves", "samples")
    }
    rows = path / "rows.parquet"
    if "rows" not in found["tables"]:
        return Run(path, found, **frames, rows=None)
    check_table("rows", rows)
    return Run(path, found, **frames, rows=pl.scan_parquet(rows))


def begin_or_take_up(path: Path, settings: dict[str, Any]) -> Manifest:
    found = find_manifest(path)
    if found is None:
        _refuse_foreign(path)
        return first_manifest(settings)
    other = differences(found["settings"], settings)
    if other:
        raise InputError(
            f"{path} holds a run with other settings: {sentence(other)}; choose another --out "
            "or remove it"
        )
    found["times"]["resumed"] += 1
    return found


def begun_settings(path: str | Path) -> dict[str, Any] | None:
    """The settings of the run that was begun in a folder; None if there is none."""
    found = find_manifest(Path(path)) if Path(path).is_dir() else None
    return None if found is None else found["settings"]


def begun_units(path: str | Path) -> set[UnitKey]:
    """The units a folder has, by their names alone: quick, for an estimate of what is left."""
    places = Path(path, UNITS).iterdir() if Path(path, UNITS).is_dir() else ()
    return {key for place in places if (key := UnitKey.from_name(place.name)) is not None}


def find_manifest(path: Path) -> Manifest | None:
    try:
        found = read_json(path / MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if found.get("format") != FORMAT or not Manifest.__required_keys__ <= found.keys():
        raise InputError(
            f"{path / MANIFEST} is not of the form {FORMAT!r}: choose another folder or remove it"
        )
    return cast(Manifest, found)


def _refuse_foreign(path: Path) -> None:
    foreign = sorted(place.name for place in path.iterdir() if not place.name.startswith(WRITING))
    if foreign:
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise InputError(
            f"{path} holds no run but other files ({foreign[0]!r}{more}): choose another --out or "
            "an empty folder"
        )


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
    height = pl.scan_parquet(file).select(pl.len()).collect().item()
    return TableRecord(rows=height, sha256=sha256(file))
