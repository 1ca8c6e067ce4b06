"""Tables as files: checked, sorted by their keys, the same bytes for the same rows.

polars' bytes depend on the compression, on how the rows are grouped and on the chunks of a frame.
All three are fixed here, so neither the number of threads nor the order of the work shows.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from headgauge import __version__
from headgauge.atomic import whole_file
from headgauge.errors import InputError
from headgauge.runs.columns import columns, has_errors
from headgauge.runs.manifest import FORMAT, TableRecord
from headgauge.runs.schema import frame_schema

AGAIN = "repeat the command that made the run"
_FORMAT: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 3,
    "statistics": True,
    "row_group_size": 1 << 16,
}


def checked(name: str, frame: pl.DataFrame, row: type, keys: Sequence[str] = ()) -> pl.DataFrame:
    """The frame, sorted by its keys, if it is the table `name` with rows of this type; else an
    error that says why not."""
    if problem := _other_columns(row, frame.schema):
        raise InputError(f"not the table {name}: {problem}")
    if problem := _wrong_values(row, frame.lazy()):
        raise InputError(f"the table {name} has rows {problem}")
    if not keys:
        return frame
    frame = frame.sort(keys)
    for twice in frame.filter(frame.select(keys).is_duplicated()).iter_rows(named=True):
        where = ", ".join(f"{key} {twice[key]}" for key in keys)
        raise InputError(f"the table {name} has two rows for {where}")
    return frame


def write_table(path: Path, frame: pl.DataFrame) -> None:
    """A checked frame, to a file that is not yet in its place."""
    frame.rechunk().write_parquet(path.absolute(), **_FORMAT)


def join_tables(paths: Sequence[Path], target: Path) -> None:
    """One table after the other as a single file, a few row groups in memory at a time."""
    with whole_file(target, needed=sum(path.stat().st_size for path in paths)) as temporary:
        _scanned(paths).sink_parquet(temporary.absolute(), maintain_order=True, **_FORMAT)


def _scanned(paths: Sequence[Path]) -> pl.LazyFrame:
    """The rows of these files and of no others: to polars a name is a pattern unless told."""
    # From the root on, because it takes a "~" at the beginning for the home folder.
    places = [path.absolute() for path in paths]
    return pl.scan_parquet(places, glob=False, hive_partitioning=False)


def check_table(row: type, path: Path, written: str | None = None) -> None:
    """An InputError if the file is not a whole table of this version, with rows of this type.

    `written` is the sha256 that it was written with.
    """
    try:
        if written is not None and sha256(path) != written:
            raise InputError(f"{path} is damaged: not the bytes that were written; {AGAIN}")
        with path.open("rb") as file:
            problem = _other_columns(row, pl.read_parquet_schema(file))
    except FileNotFoundError:
        raise InputError(f"{path} is missing; {AGAIN}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except pl.exceptions.PolarsError:
        raise InputError(f"{path} is damaged: no parquet file; {AGAIN}") from None
    if problem:
        raise InputError(
            f"{path} has other columns than format {FORMAT} in headgauge {__version__}: {problem}; "
            f"{AGAIN}, or read it with the version that its manifest.json names"
        )


def scan_table(row: type, path: Path, written: str | None = None) -> pl.LazyFrame:
    """A table from a file, looked through but not in memory; an InputError says what is wrong."""
    check_table(row, path, written)
    try:
        problem = _wrong_values(row, _scanned([path]))
    except (OSError, pl.exceptions.PolarsError):
        raise InputError(f"{path} is damaged: its rows cannot be read; {AGAIN}") from None
    if problem:
        raise InputError(f"{path} is damaged: it has rows {problem}; make the run in a new folder")
    return _scanned([path])


def table_record(path: Path) -> TableRecord:
    """What the manifest keeps of a file."""
    rows = _scanned([path]).select(pl.len()).collect().item()
    return TableRecord(rows=rows, sha256=sha256(path))


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _other_columns(row: type, found: dict[str, Any]) -> str | None:
    """How the columns differ from those of a table with such rows, or None."""
    wanted = frame_schema(row, has_errors(found, row))
    said = [f"no column {column!r}" for column in wanted if column not in found]
    said += [f"a column {column!r} too many" for column in found if column not in wanted]
    said += [
        f"{column!r} is {found[column]}, not {kind}"
        for column, kind in wanted.items()
        if column in found and found[column] != kind
    ]
    for place, (here, there) in enumerate(zip(found, wanted, strict=not said)):
        if not said and here != there:
            said = [f"column {place} is {here!r}, not {there!r}"]
    return "; ".join(said[:3]) + ("; …" if len(said) > 3 else "") if said else None


def _wrong_values(row: type, frame: pl.LazyFrame) -> str | None:
    """What rows of this type cannot hold, or None: no value, a number below 0 or outside its
    range, an unknown word.

    A measure may be null everywhere: a model whose weights are not finite has none.
    """
    tests: dict[str, pl.Expr] = {}
    for name, column in columns(row).items():
        here = pl.col(name)
        if not column.optional and (column.kind is not float or column.range):
            tests[f"without {name!r}"] = here.is_null().any()
        if column.kind is int:  # counts and places
            tests[f"with {name!r} below 0"] = (here < 0).any()
        if column.range:
            low, high, beyond = column.range
            tests[f"with {name!r} {beyond}"] = here.is_between(low, high).not_().any()
        if column.words:
            known = ", ".join(column.words)
            tests[f"with {name!r} none of {known}"] = here.is_in(column.words).not_().any()
    found = frame.select(test.alias(said) for said, test in tests.items()).collect()
    return next((said for said, wrong in found.row(0, named=True).items() if wrong), None)
