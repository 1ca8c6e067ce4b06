"""The folder of a simulation: its manifest, and its tables under dynamics/."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypedDict

import polars as pl

from headgauge.errors import InputError
from headgauge.runs.dynamics_schema import DYNAMICS_TABLES
from headgauge.runs.forms import check_form
from headgauge.runs.manifest import Manifest
from headgauge.runs.manifest_file import MANIFEST
from headgauge.runs.table_folders import TableFolder
from headgauge.runs.table_run import TableRun, load_tables
from headgauge.runs.tables import AGAIN

_DYNAMICS = TableFolder("dynamics", "a simulation", DYNAMICS_TABLES)
FOLDER = _DYNAMICS.name
_PLACE = ("scheme", "tokens", "dim", "beta", "time")  # in the phase diagram

RESEARCH_TYPE = "simulation"
PSEUDOCODE = (
    "arXiv 2510.22026: the continuous systems of six normalisation schemes, their equiangular "
    "reduction, swarms of particles, the phase diagram over time and β"
)


class _Told(TypedDict):
    """The settings that a simulation's views tell."""

    tokens: int
    dim: int
    beta: float
    horizon: float
    seeds: int


def open_simulation(path: str | Path, settings: Mapping[str, Any], device: str) -> TableRun:
    """Begin one, or take up one that has the same settings."""
    return TableRun.open(path, settings, device, _DYNAMICS, RESEARCH_TYPE, PSEUDOCODE)


def has_simulation(folder: str | Path) -> bool:
    """Whether a folder has the tables of a simulation."""
    return _DYNAMICS.there(Path(folder))


def load_simulation(folder: str | Path) -> tuple[Manifest, dict[str, pl.DataFrame]]:
    """The manifest and the tables of a finished simulation."""
    found, tables = load_tables(folder, _DYNAMICS)
    check_form(Path(folder, MANIFEST), found["settings"], _Told, "settings")
    if tables["phase"].select(_PLACE).is_duplicated().any():
        path = Path(folder, FOLDER, "phase.parquet")
        raise InputError(f"{path} is damaged: two rows for one β and time; {AGAIN}")
    _check_sphere(Path(folder, FOLDER, "sphere.parquet"), tables["sphere"])
    return found, tables


def _check_sphere(path: Path, sphere: pl.DataFrame) -> None:
    """Every particle of every scheme has a place at every time."""
    places = sphere.select("scheme", "time", "particle")
    if math.prod(places[name].n_unique() for name in places.columns) != places.height:
        raise InputError(f"{path} is damaged: particles have no place at some time; {AGAIN}")
