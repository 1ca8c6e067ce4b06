"""A run whose result is a folder of tables: its manifest, and its tables one after the other.

A run that is started again does what is not there yet.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from headgauge.atomic import one_line, sweep
from headgauge.errors import InputError
from headgauge.results.environment import hardware, software, source_code
from headgauge.results.json_files import plain, write_json
from headgauge.results.manifest import Manifest, TableRecord, now
from headgauge.results.run_folder import MANIFEST, begin_or_take_up, find_manifest
from headgauge.results.table_folders import TableFolder
from headgauge.results.units import sha256


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
        with one_line(path):
            if path.exists() and not path.is_dir():
                raise InputError(f"{path} is a file: give a folder to write to")
            path.mkdir(parents=True, exist_ok=True)
            sweep(path)
            made = begin_or_take_up(path, plain(dict(settings)))
        if made["source_code"] is None:
            made["research_type"], made["pseudocode"] = research_type, pseudocode
            made["source_code"], made["software"] = source_code(), software()
            made["hardware"] = hardware(device)
        folder = cls(path, made, tables)
        folder.save()
        return folder

    def has(self, name: str) -> bool:
        """Whether a table is there and whole."""
        try:
            self.tables.read(self.path, name)
        except InputError:
            return False
        return True

    def read(self, name: str) -> pl.DataFrame:
        return self.tables.read(self.path, name)

    def write(self, name: str, frame: pl.DataFrame, seconds: float | None = None) -> None:
        path = self.tables.write(self.path, name, frame)
        self.manifest["tables"][name] = TableRecord(rows=len(frame), sha256=sha256(path))
        if seconds is not None:
            self.manifest["times"]["seconds"][name] = round(seconds, 3)
        self.save()

    def finish(self, notes: list[str]) -> None:
        self.manifest["status"] = "finished"
        self.manifest["notes"] = notes
        self.manifest["times"]["finished"] = now()
        self.save()

    def save(self) -> None:
        write_json(self.path / MANIFEST, cast(dict[str, Any], self.manifest))


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
    return found, {name: tables.read(folder, name) for name in tables.tables}
