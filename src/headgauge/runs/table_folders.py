"""Tables that stand together in a run's folder: the paper's figures', a simulation's."""

import os
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from headgauge.atomic import one_line, whole_file
from headgauge.errors import InputError
from headgauge.runs.tables import other_columns, read_table, write_table, wrong_values


@dataclass(frozen=True)
class TableFolder:
    """DIR/name/TABLE.parquet for each of `tables`, which names the type of a row of each."""

    name: str
    what: str  # "a reproduction"
    tables: dict[str, type]

    def write(self, folder: Path, name: str, frame: pl.DataFrame) -> Path:
        """One table, whole or not at all."""
        row = self.tables[name]
        problem = other_columns(row, frame.schema)
        if problem:
            raise InputError(f"not the table {name} of {self.what}: {problem}")
        problem = wrong_values(row, frame.lazy())
        if problem:
            raise InputError(f"the table {name} of {self.what} has rows {problem}")
        place = folder / self.name
        with one_line(place):
            place.mkdir(exist_ok=True)
        with whole_file(place / f"{name}.parquet") as temporary:
            write_table(temporary, frame)
        return place / f"{name}.parquet"

    def there(self, folder: Path) -> bool:
        """Whether a run's folder has such tables."""
        return os.path.isdir(folder / self.name)  # of a name that cannot be, too

    def read(self, folder: Path, name: str, written: str) -> pl.DataFrame:
        """One table, or an InputError that says what is wrong with its file."""
        return read_table(self.tables[name], folder / self.name / f"{name}.parquet", written)
