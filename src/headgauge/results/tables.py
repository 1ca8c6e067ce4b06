"""The tables of a run on disk: checked, sorted by their keys, the same bytes for the same rows.

polars' bytes depend on the compression, on how the rows are grouped and on the chunks of a frame.
All three are fixed here, so neither the number of threads nor the order of the work shows.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from headgauge.atomic import whole_file
from headgauge.errors import InputError
from headgauge.results.schema import HEAD, TABLES, UNIT, frame_schema

KEYS: dict[str, tuple[str, ...]] = {
    "heads": (*UNIT, *HEAD),
    "curves": (*UNIT, *HEAD, "top_n", "vectors", "scale", "keys"),
    "samples": (*UNIT, *HEAD, "row", "rank"),
    "rows": (*UNIT, *HEAD, "row"),
    "depth": (*UNIT, "layer"),
    "paper_curves": (*UNIT, *HEAD, "top_n", "vectors", "scale", "keys", "rule"),
    "sensitivity": (*UNIT, *HEAD, "logits", "direction", "epsilon", "temperature"),
    "points": (*UNIT, *HEAD, "row", "key"),
    "vanishing": (*UNIT, *HEAD, "rule"),
    "shared_tokens": (*UNIT, *HEAD, "row", "key"),
    "vector_sets": (*UNIT, *HEAD, "vectors"),
}
_ROW_GROUP = 1 << 16
_LEVEL = 3


def checked(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame sorted by its keys, if it is the table `name`; else an error that says why not."""
    problem = _other_schema(name, frame.schema)
    if problem:
        raise InputError(f"not the table {name}: {problem}")
    keys = list(KEYS[name])
    for key in keys:
        if frame[key].null_count():
            raise InputError(f"the table {name} has rows without {key!r}, which is one of its keys")
    frame = frame.sort(keys)
    if frame.select(keys).is_duplicated().any():
        twice = frame.filter(frame.select(keys).is_duplicated()).row(0, named=True)
        where = ", ".join(f"{key} {twice[key]}" for key in keys)
        raise InputError(f"the table {name} has two rows for {where}")
    return frame


def write_table(path: Path, frame: pl.DataFrame) -> None:
    """A checked frame, to a file that is not yet in its place."""
    frame.rechunk().write_parquet(
        path,
        compression="zstd",
        compression_level=_LEVEL,
        statistics=True,
        row_group_size=_ROW_GROUP,
    )


def join_tables(paths: Sequence[Path], target: Path) -> None:
    """One table after the other as a single file, a few row groups in memory at a time."""
    with whole_file(target, needed=sum(path.stat().st_size for path in paths)) as temporary:
        pl.scan_parquet(list(paths)).sink_parquet(
            temporary,
            compression="zstd",
            compression_level=_LEVEL,
            statistics=True,
            row_group_size=_ROW_GROUP,
            maintain_order=True,
        )


def check_table(name: str, path: Path) -> None:
    """An InputError if the file is not a whole table `name` of this version."""
    try:
        problem = _other_schema(name, pl.read_parquet_schema(path))
    except FileNotFoundError:
        raise InputError(f"{path} is missing") from None
    except (OSError, pl.exceptions.PolarsError):
        raise InputError(f"{path} is damaged: no parquet file") from None
    if problem:
        raise InputError(f"{path} is not the table {name}: {problem}")


def read_table(name: str, path: Path) -> pl.DataFrame:
    """The table `name` from a file, or an InputError that says what is wrong with the file."""
    check_table(name, path)
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError):
        raise InputError(f"{path} is damaged: its rows cannot be read") from None


def _other_schema(name: str, found: dict[str, Any]) -> str | None:
    """How the columns differ from the table's, or None."""
    wanted = frame_schema(TABLES[name])
    said = [f"no column {column!r}" for column in wanted if column not in found]
    said += [f"a column {column!r} too many" for column in found if column not in wanted]
    said += [
        f"{column!r} is {found[column]}, not {kind}"
        for column, kind in wanted.items()
        if column in found and found[column] != kind
    ]
    if not said and list(found) != list(wanted):
        place = next(
            i for i, pair in enumerate(zip(found, wanted, strict=True)) if pair[0] != pair[1]
        )
        said = [f"column {place} is {list(found)[place]!r}, not {list(wanted)[place]!r}"]
    return "; ".join(said[:3]) + ("; …" if len(said) > 3 else "") if said else None
