"""What the heads of a unit leave behind, on its way to the unit's tables."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import polars as pl

from headgauge import engine
from headgauge.runs.schema import TABLES, frame_schema

_MEASURES = tuple(field.name for field in fields(engine.Curves))


@dataclass(frozen=True, eq=False)
class HeadCurves:
    """The curves of one head for one choice: what names them, the N, and the means over rows."""

    where: dict[str, Any]
    top_ns: tuple[int, ...]
    means: engine.Means


@dataclass(eq=False)
class Gathered:
    """Parts of tables by their names, which are rows, frames or curves, and seconds by phase."""

    parts: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[phase] += time.perf_counter() - began

    def table(self, name: str) -> pl.DataFrame:
        """The table `name` of all parts that go there."""
        parts, schema = self.parts[name], frame_schema(TABLES[name])
        if parts and isinstance(parts[0], HeadCurves):
            return _curve_table(parts, schema)
        if parts and isinstance(parts[0], pl.DataFrame):
            return pl.concat(parts)
        return pl.DataFrame(parts, schema=schema)


def _curve_table(curves: list[HeadCurves], schema: dict[str, Any]) -> pl.DataFrame:
    """Column by column, because a reproduction has some 10⁵ rows; not finite is null."""
    counts = [len(each.top_ns) for each in curves]
    columns: dict[str, Any] = {
        label: np.repeat(np.array([each.where[label] for each in curves], object), counts).tolist()
        for label in curves[0].where
    }
    columns["top_n"] = np.concatenate([each.top_ns for each in curves])
    columns["rows"] = np.concatenate([each.means.rows for each in curves])
    means = [each.means.means() for each in curves]
    for measure in _MEASURES:
        values = np.concatenate([each[measure] for each in means])
        columns[measure] = np.where(np.isfinite(values), values, np.nan)
    return pl.DataFrame(
        {label: pl.Series(label, columns[label], dtype=kind) for label, kind in schema.items()}
    ).fill_nan(None)
