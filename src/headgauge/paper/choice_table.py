"""What depends on the choice of vectors and keys, choice by choice, beside the paper's numbers.

The closest choice on a text is the one that meets the most of three of them (critical N, plateau of
the separability, plateau of the distance), and among equals the one whose critical N and
separability are least off. Choosing is one thing and judging another: what was chosen on one text
proves nothing there.
"""

import math
from typing import Any

import polars as pl

from headgauge.paper import limits
from headgauge.paper.bands import mean
from headgauge.paper.choices import CHOICES, Choice
from headgauge.paper.verdicts.critical import critical_n
from headgauge.paper.verdicts.distance import moved
from headgauge.registry.published import CHOICE, CRITICAL_SHARE, LARGEST_N, LEVEL, PLATEAU, SETTLED
from headgauge.runs.paper_schema import paper_frame
from headgauge.runs.schema import HEAD


def choice_table(
    at_longest: pl.DataFrame, critical: pl.DataFrame, in_full: Choice | None
) -> pl.DataFrame:
    """ChoiceRows, the closest first, then by how many of the paper's numbers they meet.

    `at_longest` are the curves at the longest L, `critical` is Figure 2c.
    """
    own = at_longest.filter(pl.col("window") == pl.col("window").min(), rule="model")
    critical = critical.filter(
        pl.col("length") == pl.col("length").max(), rule="model", level=LEVEL
    )
    rows = []
    for choice in CHOICES:
        curves = own.filter(**vars(choice))
        if curves["top_n"].n_unique() > 1:
            row = _row(curves, critical.filter(**vars(choice)))
            rows.append(vars(choice) | row | {"measured": choice == in_full, "closest": False})
    rows.sort(key=lambda row: (-row["agrees"], row["off"]))
    for row in rows[:1]:
        row["closest"] = True
    return paper_frame("choices", rows)


def closest(table: pl.DataFrame) -> Choice:
    """The choice that a table of them comes to."""
    return Choice(*table.filter("closest").select(CHOICE).row(0))


def _row(curves: pl.DataFrame, critical: pl.DataFrame) -> dict[str, Any]:
    near = curves.filter(pl.col("top_n") <= LARGEST_N)
    settled = near.filter(pl.col("top_n") >= SETTLED)
    distances = _means(near, "top_n", measure="distance")
    means = _means(settled, "top_n", measure="separability")
    low, high = min(means.values(), default=None), max(means.values(), default=None)
    heads = [_in(PLATEAU, each) for each in _means(settled, *HEAD, measure="separability").values()]
    by_form = {row["expected"]: row for row in critical.iter_rows(named=True)}
    printed, corrected = (
        critical_n(by_form[form]) if form in by_form else None for form in ("printed", "appendix")
    )
    share = None if printed is None else printed / by_form["printed"]["length"]
    there = [distances[n,] for n in (1, 20, 100) if (n,) in distances]
    meets = [
        _in(limits.CRITICAL, share),
        _in(PLATEAU, low) and _in(PLATEAU, high),
        len(there) == 3 and moved(*there) < limits.LEVELLED,
    ]
    return {
        "critical_n": printed,
        "critical_share": share,
        "critical_n_corrected": corrected,
        "separability_at_16": means.get((SETTLED,)),
        "plateau_low": low,
        "plateau_high": high,
        "heads_in_band": sum(heads) / len(heads) if heads else None,
        "agrees": sum(meets),
        "off": _off(share, low, high),
        "rows": float(near["rows"].cast(pl.Float64).max() or 0.0),  # pyright: ignore[reportArgumentType]
    }


def _off(share: float | None, low: float | None, high: float | None) -> float:
    """Doublings between the critical share and .06 (none counts as all of L), and half-widths of
    the band between its middle and the plateau's."""
    doublings = abs(math.log2((1.0 if share is None else share) / CRITICAL_SHARE))
    middle, half = sum(PLATEAU) / 2, (PLATEAU[1] - PLATEAU[0]) / 2
    plateau = 0.0 if low is None or high is None else (low + high) / 2
    return doublings + abs(plateau - middle) / half


def _means(table: pl.DataFrame, *by: str, measure: str) -> dict[tuple[Any, ...], float]:
    """Means of what is there, which do not depend on the order of the rows."""
    groups = table.drop_nulls(measure).group_by(by).agg(measure)
    return {tuple(name): mean(values) for *name, values in groups.iter_rows()}


def _in(ends: tuple[float, float], value: float | None) -> bool:
    return value is not None and ends[0] <= value <= ends[1]
