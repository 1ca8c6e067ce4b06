"""The tables of a reproduction's figures, in the run's folder under paper/."""

import re
from pathlib import Path

import polars as pl

from headgauge.results.paper_schema import PAPER_TABLES
from headgauge.results.table_folders import TableFolder

_PAPER = TableFolder("paper", "a reproduction", PAPER_TABLES)
FOLDER = _PAPER.name


def write_paper(folder: Path, tables: dict[str, pl.DataFrame]) -> list[Path]:
    """FOLDER/paper/NAME.parquet for every table, each whole or not at all."""
    return [_PAPER.write(folder, name, tables[name]) for name in PAPER_TABLES]


def has_paper(folder: Path) -> bool:
    """Whether a run's folder has the tables of a reproduction."""
    return _PAPER.there(folder)


def read_paper(folder: Path) -> dict[str, pl.DataFrame]:
    """The tables by name, or an InputError that says what is wrong with which file."""
    return {name: _PAPER.read(folder, name) for name in PAPER_TABLES}


def text_folder(text: str) -> str:
    """A text's name as the name of a folder: its run, its figures."""
    return re.sub(r"[^\w.-]+", "-", text).strip(".-") or "text"
