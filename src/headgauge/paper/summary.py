"""From heads to a figure: means over heads and windows, how the heads spread, bootstrap bands.

The heads of a model are all there are, so they are not resampled: a band says how far the mean over
heads would move on other windows of the same text. With a single window there is none.

The numbers are added up in the table's own order, a row at a time: a library's sums depend on the
number of its threads, and a run must come to the same bytes wherever it is summed up.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from headgauge.paper.measured import CHOICE
from headgauge.runs.paper_schema import FigureRow
from headgauge.runs.schema import HEAD, frame_schema

DRAWS = 2000
BAND = (2.5, 97.5)  # percentiles
_PLACE = (*CHOICE, "length", "top_n")


def summarise(
    curves: pl.DataFrame,
    measures: Sequence[str],
    seed: int,
    row: type = FigureRow,
    place: Sequence[str] = _PLACE,
) -> pl.DataFrame:
    """A row for each place (choice, L, N) and measure; heads that lack a number are left out."""
    heads = curves.select(HEAD).unique().sort(HEAD).with_row_index("head_number")
    numbered = curves.join(heads, on=HEAD, maintain_order="left").with_row_index("number")
    values = numbered.select(pl.col(measures).cast(pl.Float64)).to_numpy()
    windows, who = numbered["window"].to_numpy(), numbered["head_number"].to_numpy()
    rows = numbered["rows"].cast(pl.Float64).to_numpy()
    groups = numbered.group_by(place, maintain_order=True).agg("number")
    found = []
    for *values_there, chosen in groups.iter_rows():
        at = np.array(chosen)
        known: dict[str, Any] = dict(zip(place, values_there, strict=True))
        table = _by_window(windows[at], who[at], values[at], len(heads))
        found += _figure_rows(known, table, measures, _mean(rows[at][:, None])[0], seed)
    order = [
        name for name in (*CHOICE, "measure", "length", "top_n") if name in (*place, "measure")
    ]
    return pl.DataFrame(found, schema=frame_schema(row)).sort(order)


def bootstrap(values: np.ndarray, seed: int) -> tuple[float | None, float | None]:
    """The 95 % percentile interval of the mean; (None, None) for a single value."""
    if len(values) < 2:
        return None, None
    drawn = np.random.default_rng(seed).integers(len(values), size=(DRAWS, len(values)))
    low, high = np.percentile(values[drawn].mean(-1), BAND)
    return float(low), float(high)


def _by_window(
    windows: np.ndarray, heads: np.ndarray, values: np.ndarray, count: int
) -> np.ndarray:
    """(windows, heads, measures), NaN where a head has no number."""
    places = {window: at for at, window in enumerate(sorted(set(windows.tolist())))}
    table = np.full((len(places), count, values.shape[1]), np.nan)
    table[[places[window] for window in windows.tolist()], heads] = values
    return table


def _figure_rows(
    place: dict[str, Any], table: np.ndarray, measures: Sequence[str], rows: float, seed: int
) -> list[dict[str, Any]]:
    found = []
    for at, measure in enumerate(measures):
        # A head or a window without this number is left out as a whole.
        numbers = table[:, :, at]
        numbers = numbers[:, ~np.isnan(numbers).all(0)]
        numbers = numbers[~np.isnan(numbers).all(1)]
        if not numbers.size:
            continue
        each = _mean(numbers.T)
        heads = _mean(numbers)
        low, high = bootstrap(each, seed)
        lowest, q25, median, q75, highest = np.quantile(heads, (0, 0.25, 0.5, 0.75, 1)).tolist()
        found.append(
            place
            | {"measure": measure, "mean": float(_mean(each[:, None])[0]), "low": low, "high": high}
            | {"minimum": lowest, "q25": q25, "median": median, "q75": q75, "maximum": highest}
            | {"heads": numbers.shape[1], "windows": len(numbers), "rows": rows}
        )
    return found


def _mean(numbers: np.ndarray) -> np.ndarray:
    """Means down the columns over what is there. Of several columns numpy adds up row by row; a
    single one it would cut into pieces that depend on where it lies in memory."""
    there = ~np.isnan(numbers)
    known = np.where(there, numbers, 0.0)
    if known.shape[1] == 1:
        return np.array([math.fsum(known[:, 0].tolist())]) / there.sum(0)
    return np.ascontiguousarray(known).sum(0) / there.sum(0)
