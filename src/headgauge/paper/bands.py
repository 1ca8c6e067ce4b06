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

from headgauge.registry.published import CHOICE_AND_RULE
from headgauge.runs.paper_schema import paper_frame
from headgauge.runs.schema import HEAD

DRAWS = 2000
BAND = (2.5, 97.5)  # percentiles


def over_heads(
    curves: pl.DataFrame,
    measures: Sequence[str],
    by: Sequence[str] = (*CHOICE_AND_RULE, "length", "top_n"),
    table: str = "fig2a",
) -> pl.DataFrame:
    """A row for each group (choice, L, N) and measure; heads that lack a number are left out."""
    heads = curves.select(HEAD).unique().sort(HEAD).with_row_index("head_number")
    numbered = curves.join(heads, on=HEAD, maintain_order="left").with_row_index("number")
    values = numbered.select(pl.col(measures).cast(pl.Float64)).to_numpy()
    windows, who = numbered["window"].to_numpy(), numbered["head_number"].to_numpy()
    rows = numbered["rows"].cast(pl.Float64).to_numpy()
    spreads: list[dict[str, Any]] = []
    by_head: list[np.ndarray] = []
    for *there, numbers in numbered.group_by(by, maintain_order=True).agg("number").iter_rows():
        at = np.array(numbers)
        # (windows, heads, measures), NaN where a head has no number
        known, window = np.unique(windows[at], return_inverse=True)
        every = np.full((len(known), len(heads), len(measures)), np.nan)
        every[window, who[at]] = values[at]
        group = dict(zip(by, there, strict=True)) | {"rows": mean(rows[at])}
        for measure, measured in zip(measures, np.moveaxis(every, -1, 0), strict=True):
            lacks = np.isnan(measured)
            measured = measured[~lacks.all(1)][:, ~lacks.all(0)]
            if measured.size:
                over = _means(measured.T)
                low, high = bootstrap(over)
                spread = {"measure": measure, "mean": mean(over), "low": low, "high": high}
                spread |= {"heads": measured.shape[1], "windows": len(measured)}
                spreads.append(group | spread)
                by_head.append(_means(measured))
    for row, quantiles in zip(spreads, _quantiles(by_head), strict=True):
        row |= zip(("minimum", "q25", "median", "q75", "maximum"), quantiles, strict=True)
    before = by.index("length")
    return paper_frame(table, spreads).sort(*by[:before], "measure", *by[before:])


def _quantiles(samples: list[np.ndarray]) -> list[list[float]]:
    """Those of the same size at once: one call for each of thousands takes seconds."""
    sizes = np.array([len(each) for each in samples])
    found = np.empty((len(samples), 5))
    for size in np.unique(sizes):
        at = np.flatnonzero(sizes == size)
        found[at] = np.quantile([samples[i] for i in at], (0, 0.25, 0.5, 0.75, 1), axis=1).T
    return found.tolist()


def bootstrap(values: np.ndarray, seed: int = 0) -> tuple[float | None, float | None]:
    """The 95 % percentile interval of the mean; (None, None) for a single value."""
    if len(values) < 2:
        return None, None
    drawn = np.random.default_rng(seed).integers(len(values), size=(DRAWS, len(values)))
    low, high = np.percentile(values[drawn].mean(-1), BAND)
    return float(low), float(high)


def mean(values: Any) -> float:
    """The exact sum over the count: it does not depend on the order."""
    return math.fsum(values) / len(values)


def _means(numbers: np.ndarray) -> np.ndarray:
    """Means down the columns over what is there. Of several columns numpy adds up row by row; a
    single one it would cut into pieces that depend on where it lies in memory."""
    there = ~np.isnan(numbers)
    known = np.where(there, numbers, 0.0)
    if known.shape[1] == 1:
        return np.array([math.fsum(known[:, 0].tolist())]) / there.sum(0)
    return np.ascontiguousarray(known).sum(0) / there.sum(0)
