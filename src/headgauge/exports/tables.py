"""One row per head in the formats people load: verdicts, and every measure over the windows."""

import io
import json
from collections.abc import Callable

import numpy as np
import polars as pl

from headgauge.runs.schema import HEAD
from headgauge.scanning import ScanResult
from headgauge.scanning.summary import heads_over_windows

_LAYER = HEAD[:-1]
# pandas' table schema; whole numbers as its Int64, which has nulls.
_PANDAS = {
    pl.Int64: {"type": "integer", "extDtype": "Int64"},
    pl.Float64: {"type": "number"},
    pl.String: {"type": "string"},
    pl.Boolean: {"type": "boolean"},
}


def head_columns(scan: ScanResult) -> pl.DataFrame:
    """`frame()` and what heads.parquet has besides, at the longest length, layer by layer."""
    longest = scan.heads.filter(pl.col("length") == pl.col("length").max())
    words = longest.select(*HEAD, "cross", "seen").unique(HEAD, keep="first")
    known = scan.frame()
    more = heads_over_windows(longest).join(words, on=HEAD)
    more = more.drop(set(known.columns) - set(HEAD), strict=False)
    return known.join(more, on=HEAD, how="left").sort(HEAD)


def text(scan: ScanResult, format: str) -> str:
    """The table in one of `TEXTS`."""
    return TEXTS[format](head_columns(scan))


def content(scan: ScanResult, format: str) -> bytes:
    """The table in one of `FILES`."""
    target = io.BytesIO()
    _WRITERS[format](head_columns(scan), target)
    return target.getvalue()


def _json(frame: pl.DataFrame) -> str:
    return frame.write_json() + "\n"


def _pandas(frame: pl.DataFrame) -> str:
    """What `pandas.read_json(…, orient="table")` reads with types."""
    fields = [{"name": name, **_PANDAS[kind.base_type()]} for name, kind in frame.schema.items()]
    schema = {"fields": fields, "pandas_version": "1.4.0"}
    return json.dumps({"schema": schema, "data": json.loads(frame.write_json())}) + "\n"


def _arrow(frame: pl.DataFrame, target: io.BytesIO) -> None:
    # Feather as every reader knows it: polars' own strings are newer.
    frame.write_ipc(target, compat_level=pl.CompatLevel.oldest())


def _numpy(frame: pl.DataFrame, target: io.BytesIO) -> None:
    """An array of layers × heads for each column, NaN or "" where a layer has no such head, and
    beside it `layer`, `occurrence` and `module` of its rows."""
    layers = frame.select(_LAYER).unique(maintain_order=True)
    rows = frame.join(layers.with_row_index("row"), on=_LAYER, maintain_order="left")["row"]
    heads = frame["head"].to_numpy()
    arrays = {name: _array(layers[name]) for name in _LAYER}
    for name in (each for each in frame.columns if each not in HEAD):
        values = _array(frame[name])
        empty = "" if values.dtype.kind == "U" else np.nan
        made = np.full((layers.height, heads.max() + 1), empty, values.dtype)
        made[rows.to_numpy(), heads] = values
        arrays[name] = made
    np.savez_compressed(target, **arrays)  # pyright: ignore[reportArgumentType]


def _array(column: pl.Series) -> np.ndarray:
    """Numbers as floats, which know NaN; names of layers and words as they are."""
    if column.dtype == pl.String:
        return np.array(column.fill_null("").to_list(), dtype=str)
    whole = column.name in HEAD
    return column.cast(pl.Int64 if whole else pl.Float64).to_numpy()


TEXTS: dict[str, Callable[[pl.DataFrame], str]] = {
    "csv": lambda frame: frame.write_csv(),
    "tsv": lambda frame: frame.write_csv(separator="\t"),
    "json": _json,
    "jsonl": lambda frame: frame.write_ndjson(),
    "pandas": _pandas,
}
_WRITERS: dict[str, Callable[[pl.DataFrame, io.BytesIO], object]] = {
    "parquet": lambda frame, target: frame.write_parquet(target),
    "arrow": _arrow,
    "numpy": _numpy,
}
FILES = {"parquet": "parquet", "arrow": "arrow", "numpy": "npz"}  # how their names end
