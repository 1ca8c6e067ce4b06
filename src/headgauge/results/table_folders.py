"""Tables that stand together in a run's folder: the paper's figures', a simulation's."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from headgauge.atomic import one_line, whole_file
from headgauge.errors import InputError
from headgauge.results.schema import frame_schema
from headgauge.results.tables import write_table


@dataclass(frozen=True)
class TableFolder:
    """DIR/name/TABLE.parquet for each of `tables`, which names the type of a row of each."""

    name: str
    what: str  # "a reproduction"
    tables: dict[str, type]

    def write(self, folder: Path, name: str, frame: pl.DataFrame) -> Path:
        """One table, whole or not at all."""
        if dict(frame.schema) != dict(frame_schema(self.tables[name])):
            raise InputError(f"not the table {name} of {self.what}: its columns differ")
        place = folder / self.name
        with one_line(place):
            place.mkdir(exist_ok=True)
        with whole_file(place / f"{name}.parquet") as temporary:
            write_table(temporary, frame)
        return place / f"{name}.parquet"

    def there(self, folder: Path) -> bool:
        """Whether a run's folder has such tables."""
        return (folder / self.name).is_dir()

    def read(self, folder: Path, name: str) -> pl.DataFrame:
        """One table, or an InputError that says what is wrong with its file."""
        path = folder / self.name / f"{name}.parquet"
        try:
            found = pl.read_parquet(path)
        except FileNotFoundError:
            raise InputError(f"{path} is missing: repeat the command that made the run") from None
        except (OSError, pl.exceptions.PolarsError):
            raise InputError(f"{path} is damaged: no parquet file") from None
        if dict(found.schema) != dict(frame_schema(self.tables[name])):
            raise InputError(f"{path} has other columns: it was made by another version")
        return found
