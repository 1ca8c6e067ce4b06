"""Curves on their way to a table: column by column, because a reproduction has some 10⁵ rows."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import polars as pl

from headgauge import engine
from headgauge.runs.schema import TABLES, frame_schema

_MEASURES = tuple(field.name for field in fields(engine.Curves))


@dataclass(frozen=True, eq=False)
class HeadCurves:
    """The curves of one head for one choice: what names them, the N, and the means over rows."""

    table: str
    where: dict[str, Any]
    top_ns: tuple[int, ...]
    means: engine.Means


def curve_table(name: str, found: list[HeadCurves]) -> pl.DataFrame:
    """The table `name` of all curves that go there; not finite is null."""
    schema = frame_schema(TABLES[name])
    mine = [each for each in found if each.table == name]
    if not mine:
        return pl.DataFrame(schema=schema)
    counts = [len(each.top_ns) for each in mine]
    columns: dict[str, Any] = {
        label: np.repeat(np.array([each.where[label] for each in mine], object), counts).tolist()
        for label in mine[0].where
    }
    columns["top_n"] = np.concatenate([each.top_ns for each in mine])
    columns["rows"] = np.concatenate([each.means.rows for each in mine])
    means = [each.means.means() for each in mine]
    for measure in _MEASURES:
        values = np.concatenate([each[measure] for each in means])
        columns[measure] = np.where(np.isfinite(values), values, np.nan)
    return pl.DataFrame(
        {label: pl.Series(label, columns[label], dtype=kind) for label, kind in schema.items()}
    ).fill_nan(None)
