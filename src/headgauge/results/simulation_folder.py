"""The folder of a simulation: its manifest, and its tables under dynamics/, one after the other.

A simulation that is started again does the tables that are not there yet.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from headgauge.errors import InputError
from headgauge.results.atomic import one_line, sweep
from headgauge.results.dynamics_schema import DYNAMICS_TABLES
from headgauge.results.environment import hardware, software, source_code
from headgauge.results.json_files import plain, write_json
from headgauge.results.manifest import Manifest, TableRecord, now
from headgauge.results.run_folder import MANIFEST, begin_or_take_up, find_manifest
from headgauge.results.table_folders import TableFolder
from headgauge.results.units import sha256

_DYNAMICS = TableFolder("dynamics", "a simulation", DYNAMICS_TABLES)
FOLDER = _DYNAMICS.name

RESEARCH_TYPE = "simulation"
PSEUDOCODE = (
    "arXiv 2510.22026: the continuous systems of six normalisation schemes, their equiangular "
    "reduction, swarms of particles, the phase diagram over time and β"
)


@dataclass(eq=False)
class SimulationFolder:
    """A simulation that is being made."""

    path: Path
    manifest: Manifest

    @classmethod
    def open(cls, path: str | Path, settings: Mapping[str, Any], device: str) -> "SimulationFolder":
        """Begin one, or take up one that has the same settings."""
        path = Path(path)
        with one_line(path):
            if path.exists() and not path.is_dir():
                raise InputError(f"{path} is a file: give a folder to write to")
            path.mkdir(parents=True, exist_ok=True)
            sweep(path)
            made = begin_or_take_up(path, plain(dict(settings)))
        if made["source_code"] is None:
            made["research_type"], made["pseudocode"] = RESEARCH_TYPE, PSEUDOCODE
            made["source_code"], made["software"] = source_code(), software()
            made["hardware"] = hardware(device)
        folder = cls(path, made)
        folder._save()
        return folder

    def has(self, name: str) -> bool:
        """Whether a table is there and whole."""
        try:
            _DYNAMICS.read(self.path, name)
        except InputError:
            return False
        return True

    def read(self, name: str) -> pl.DataFrame:
        return _DYNAMICS.read(self.path, name)

    def write(self, name: str, frame: pl.DataFrame, seconds: float) -> None:
        path = _DYNAMICS.write(self.path, name, frame)
        self.manifest["tables"][name] = TableRecord(rows=len(frame), sha256=sha256(path))
        self.manifest["times"]["seconds"][name] = round(seconds, 3)
        self._save()

    def finish(self, notes: list[str]) -> None:
        self.manifest["status"] = "finished"
        self.manifest["notes"] = notes
        self.manifest["times"]["finished"] = now()
        self._save()

    def _save(self) -> None:
        write_json(self.path / MANIFEST, cast(dict[str, Any], self.manifest))


def has_simulation(folder: str | Path) -> bool:
    """Whether a folder has the tables of a simulation."""
    return _DYNAMICS.there(Path(folder))


def load_simulation(folder: str | Path) -> tuple[Manifest, dict[str, pl.DataFrame]]:
    """The manifest and the tables of a finished simulation."""
    folder = Path(folder)
    found = find_manifest(folder)
    if found is None or not has_simulation(folder):
        raise InputError(f"{folder} is no simulation of headgauge")
    if found["status"] != "finished":
        raise InputError(
            f"{folder} is not finished: repeat the command that began it, and it goes on from there"
        )
    return found, {name: _DYNAMICS.read(folder, name) for name in DYNAMICS_TABLES}
