"""A run whose result is a folder of tables: its manifest, and its tables one after the other.

A run that is started again does what is not there yet.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from headgauge.atomic import folder_to_write, sweep
from headgauge.errors import InputError
from headgauge.runs.environment import hardware, software, source_code
from headgauge.runs.manifest import Manifest, TableRecord, now
from headgauge.runs.manifest_file import begin_or_take_up, changed_manifest, find_manifest
from headgauge.runs.table_folders import TableFolder
from headgauge.runs.tables import AGAIN, sha256


@dataclass(eq=False)
class TableRun:
    """A run that is being made."""

    path: Path
    manifest: Manifest
    tables: TableFolder

    @classmethod
    def open(
        cls,
        path: str | Path,
        settings: Mapping[str, Any],
        device: str,
        tables: TableFolder,
        research_type: str,
        pseudocode: str,
    ) -> "TableRun":
        """Begin one, or take up one that has the same settings."""
        path = Path(path)
        folder_to_write(path)
        sweep(path / tables.name)
        begin_or_take_up(path, settings)
        with changed_manifest(path) as made:
            if made["source_code"] is None:
                made["research_type"], made["pseudocode"] = research_type, pseudocode
                made["source_code"], made["software"] = source_code(), software()
                made["hardware"] = hardware(device)
        return cls(path, made, tables)

    def has(self, name: str) -> bool:
        """Whether a table is there and as it was written."""
        try:
            self.read(name)
        except InputError:
            return False
        return True

    def read(self, name: str) -> pl.DataFrame:
        """A table, whichever process made it."""
        found = find_manifest(self.path)
        return _read(self.path, self.tables, name, found or self.manifest)

    def write(self, name: str, frame: pl.DataFrame, seconds: float | None = None) -> None:
        with changed_manifest(self.path) as made:
            path = self.tables.write(self.path, name, frame)
            made["tables"][name] = TableRecord(rows=len(frame), sha256=sha256(path))
            if seconds is not None:
                made["times"]["seconds"][name] = round(seconds, 3)
        self.manifest = made

    def finish(self, notes: list[str]) -> None:
        with changed_manifest(self.path) as made:
            made["status"] = "finished"
            made["notes"] = notes
            made["times"]["finished"] = now()
        self.manifest = made


def load_tables(
    folder: str | Path, tables: TableFolder
) -> tuple[Manifest, dict[str, pl.DataFrame]]:
    """The manifest and the tables of a finished run."""
    folder = Path(folder)
    found = find_manifest(folder)
    if found is None or not tables.there(folder):
        raise InputError(f"{folder} is no {tables.what.split(' ', 1)[1]} of headgauge")
    if found["status"] != "finished":
        raise InputError(
            f"{folder} is not finished: repeat the command that began it, and it goes on from there"
        )
    return found, {name: _read(folder, tables, name, found) for name in tables.tables}


def _read(folder: Path, tables: TableFolder, name: str, manifest: Manifest) -> pl.DataFrame:
    known = manifest["tables"].get(name)
    if known is None:
        raise InputError(f"{folder} has no table {name}; {AGAIN}")
    return tables.read(folder, name, known["sha256"])
