"""The tables of a reproduction's figures, in the run's folder under paper/."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from headgauge.errors import InputError
from headgauge.runs.manifest import Manifest
from headgauge.runs.paper_schema import PAPER_TABLES
from headgauge.runs.table_folders import TableFolder
from headgauge.runs.table_run import TableRun, load_tables
from headgauge.runs.tables import AGAIN

_PAPER = TableFolder("paper", "a reproduction", PAPER_TABLES)
FOLDER = _PAPER.name


RESEARCH_TYPE = "reproduction of a paper's experiments on a trained model"
PSEUDOCODE = "arXiv 2508.17821, Algorithms 1 to 5"


def open_paper(path: str | Path, settings: Mapping[str, Any], device: str) -> TableRun:
    """Begin a reproduction, or take up one that has the same settings."""
    return TableRun.open(path, settings, device, _PAPER, RESEARCH_TYPE, PSEUDOCODE)


def has_paper(folder: str | Path) -> bool:
    """Whether a folder has the tables of a reproduction."""
    return _PAPER.there(Path(folder))


def load_paper(folder: str | Path) -> tuple[Manifest, dict[str, pl.DataFrame]]:
    """The manifest and the tables of a finished reproduction."""
    found, tables = load_tables(folder, _PAPER)
    for name, said in _damage(tables):
        path = Path(folder, FOLDER, f"{name}.parquet")
        raise InputError(f"{path} is damaged: {said}; {AGAIN}")
    return found, tables


def _damage(tables: dict[str, pl.DataFrame]) -> Iterator[tuple[str, str]]:
    """What no single column shows: the table, and what is wrong with it."""
    ends = tables["choices"].select(pl.col("plateau_low", "plateau_high").is_null())
    if (ends["plateau_low"] != ends["plateau_high"]).any():
        yield "choices", "a plateau has only one end"
    places = tables["fig1"].filter(panel="model").select("layer", "head", "row")
    if places.drop_nulls().height < places.height:
        yield "fig1", "a point of the model has no layer, head or row"


def text_folder(text: str) -> str:
    """A text's name as the name of a folder: its run, its figures."""
    return re.sub(r"[^\w.-]+", "-", text).strip(".-") or "text"
