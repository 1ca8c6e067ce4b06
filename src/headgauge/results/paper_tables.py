"""The tables of a reproduction's figures, in the run's folder under paper/."""

from pathlib import Path

import polars as pl

from headgauge.errors import InputError
from headgauge.results.atomic import one_line, whole_file
from headgauge.results.paper_schema import PAPER_TABLES
from headgauge.results.schema import frame_schema
from headgauge.results.tables import write_table

FOLDER = "paper"


def write_paper(folder: Path, tables: dict[str, pl.DataFrame]) -> list[Path]:
    """FOLDER/paper/NAME.parquet for every table, each whole or not at all."""
    place = folder / FOLDER
    with one_line(place):
        place.mkdir(exist_ok=True)
    written = []
    for name, row in PAPER_TABLES.items():
        schema = frame_schema(row)
        if dict(tables[name].schema) != dict(schema):
            raise InputError(f"not the table {name} of a reproduction: its columns differ")
        with whole_file(place / f"{name}.parquet") as temporary:
            write_table(temporary, tables[name])
        written.append(place / f"{name}.parquet")
    return written


def has_paper(folder: Path) -> bool:
    """Whether a run's folder has the tables of a reproduction."""
    return (folder / FOLDER).is_dir()


def read_paper(folder: Path) -> dict[str, pl.DataFrame]:
    """The tables by name, or an InputError that says what is wrong with which file."""
    found = {}
    for name, row in PAPER_TABLES.items():
        path = folder / FOLDER / f"{name}.parquet"
        try:
            found[name] = pl.read_parquet(path)
        except FileNotFoundError:
            raise InputError(f"{path} is missing: repeat the command that made the run") from None
        except (OSError, pl.exceptions.PolarsError):
            raise InputError(f"{path} is damaged: no parquet file") from None
        if dict(found[name].schema) != dict(frame_schema(row)):
            raise InputError(f"{path} has other columns: it was made by another version")
    return found
