"""From heads to a figure: means over heads and windows, how the heads spread, bootstrap bands.

The heads of a model are all there are, so they are not resampled: a band says how far the mean over
heads would move on other windows of the same text. With a single window there is none.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from headgauge.experiments.measured import CHOICE
from headgauge.results.paper_schema import FigureRow
from headgauge.results.schema import HEAD, frame_schema

DRAWS = 2000
BAND = (2.5, 97.5)  # percentiles


def summarise(curves: pl.DataFrame, measures: Sequence[str], seed: int) -> pl.DataFrame:
    """A FigureRow for each choice, L, N and measure; heads that lack a number are left out."""
    place = [*CHOICE, "length", "top_n"]
    long = curves.unpivot(
        on=list(measures),
        index=[*place, "window", *HEAD, "rows"],
        variable_name="measure",
        value_name="value",
    ).drop_nulls("value")
    if long.is_empty():
        return pl.DataFrame(schema=frame_schema(FigureRow))
    group = [*place, "measure"]
    windows = (
        long.sort(*group, "window", *HEAD)
        .group_by(*group, "window", maintain_order=True)
        .agg(pl.col("value").mean(), pl.col("rows").mean())
        .group_by(group, maintain_order=True)
        .agg(
            pl.col("value").mean().alias("mean"),
            pl.col("value").alias("each"),
            pl.len().cast(pl.Int64).alias("windows"),
            pl.col("rows").mean(),
        )
    )
    values = pl.col("value")
    heads = (
        long.sort(*group, *HEAD, "window")
        .group_by(*group, *HEAD, maintain_order=True)
        .agg(values.mean())
        .group_by(group, maintain_order=True)
        .agg(
            values.min().alias("minimum"),
            values.quantile(0.25, "linear").alias("q25"),
            values.median().alias("median"),
            values.quantile(0.75, "linear").alias("q75"),
            values.max().alias("maximum"),
            pl.len().cast(pl.Int64).alias("heads"),
        )
    )
    bands = [bootstrap(np.array(each), seed) for each in windows["each"].to_list()]
    low, high = zip(*bands, strict=True)
    found = windows.with_columns(
        low=pl.Series(low, dtype=pl.Float64), high=pl.Series(high, dtype=pl.Float64)
    ).join(heads, on=group, maintain_order="left")
    return found.select(pl.col(name) for name in frame_schema(FigureRow)).sort(
        *CHOICE, "measure", "length", "top_n"
    )


def bootstrap(values: np.ndarray, seed: int) -> tuple[float | None, float | None]:
    """The 95 % percentile interval of the mean; (None, None) for a single value."""
    if len(values) < 2:
        return None, None
    drawn = np.random.default_rng(seed).integers(len(values), size=(DRAWS, len(values)))
    low, high = np.percentile(values[drawn].mean(-1), BAND)
    return float(low), float(high)
