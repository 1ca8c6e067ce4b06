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
from headgauge.paper.choices import CHOICES, Choice
from headgauge.paper.measured import Measured
from headgauge.paper.verdicts.critical import critical_n
from headgauge.paper.verdicts.distance import moved
from headgauge.runs.paper_schema import ChoiceRow
from headgauge.runs.schema import HEAD, frame_schema

CHOICE = ("vectors", "scale", "keys")


def choice_table(
    measured: Measured, critical: pl.DataFrame, in_full: Choice | None
) -> pl.DataFrame:
    """ChoiceRows, the closest first, then by how many of the paper's numbers they meet."""
    own = measured.curves.filter(
        pl.col("rule") == "model",
        pl.col("length") == measured.length,
        pl.col("window") == pl.col("window").min(),
    )
    rows = []
    for name, table in own.sort(CHOICE).group_by(CHOICE, maintain_order=True):
        choice = Choice(*map(str, name))
        if table["top_n"].n_unique() > 1:
            rows.append(_row(choice, table, critical) | {"measured": choice == in_full})
    order = {choice: place for place, choice in enumerate(CHOICES)}
    rows.sort(key=lambda row: (-row["agrees"], row["off"], order[_choice(row)]))
    for place, row in enumerate(rows):
        row["closest"] = place == 0
    return pl.DataFrame(rows, schema=frame_schema(ChoiceRow))


def closest(table: pl.DataFrame) -> Choice:
    """The choice that a table of them comes to."""
    return _choice(table.filter("closest").row(0, named=True))


def _choice(row: dict[str, Any]) -> Choice:
    return Choice(*(row[name] for name in CHOICE))


def _row(choice: Choice, table: pl.DataFrame, critical: pl.DataFrame) -> dict[str, Any]:
    near = table.filter(pl.col("top_n") <= 100)
    settled = near.filter(pl.col("top_n") >= limits.SETTLED).drop_nulls("separability")
    means = _means(settled, "top_n", "separability")
    heads = _means(settled, HEAD, "separability")
    low, high = min(means.values(), default=None), max(means.values(), default=None)
    printed, share = _critical(critical, choice, "printed")
    corrected, _ = _critical(critical, choice, "appendix")
    meets = [
        share is not None and limits.CRITICAL[0] <= share <= limits.CRITICAL[1],
        low is not None and high is not None and _in_band(low) and _in_band(high),
        _levels_off(near),
    ]
    return vars(choice) | {
        "critical_n": printed,
        "critical_share": share,
        "critical_n_corrected": corrected,
        "separability_at_16": means.get((limits.SETTLED,)),
        "plateau_low": low,
        "plateau_high": high,
        "heads_in_band": _share_in_band(heads),
        "agrees": sum(meets),
        "off": _off(share, low, high),
        "rows": float(near["rows"].cast(pl.Float64).max() or 0.0),  # pyright: ignore[reportArgumentType]
    }


def _off(share: float | None, low: float | None, high: float | None) -> float:
    """Doublings between the critical share and .06 (none counts as all of L), and half-widths of
    the band between its middle and the plateau's."""
    doublings = abs(math.log2((1.0 if share is None else share) / limits.CRITICAL_SHARE))
    middle, half = sum(limits.BAND) / 2, (limits.BAND[1] - limits.BAND[0]) / 2
    plateau = 0.0 if low is None or high is None else (low + high) / 2
    return doublings + abs(plateau - middle) / half


def _critical(
    critical: pl.DataFrame, choice: Choice, expected: str
) -> tuple[int | None, float | None]:
    """The critical N at the longest L and its share of L."""
    found = critical.filter(
        pl.col("length") == pl.col("length").max(),
        rule="model",
        expected=expected,
        level=limits.LEVEL,
        **vars(choice),
    )
    n = None if found.is_empty() else critical_n(found.row(0, named=True))
    return n, None if n is None else n / found["length"][0]


def _levels_off(near: pl.DataFrame) -> bool:
    means = _means(near.drop_nulls("distance"), "top_n", "distance")
    places = [means.get((n,)) for n in (1, 20, 100)]
    there = [each for each in places if each is not None]
    return len(there) == 3 and moved(*there) < limits.PLATEAU


def _means(
    table: pl.DataFrame, by: str | tuple[str, ...], measure: str
) -> dict[tuple[Any, ...], float]:
    """Means that do not depend on the order of the rows: the sums are exact."""
    groups = table.group_by(by if isinstance(by, tuple) else (by,)).agg(measure)
    return {tuple(name): math.fsum(values) / len(values) for *name, values in groups.iter_rows()}


def _in_band(value: float) -> bool:
    return limits.BAND[0] <= value <= limits.BAND[1]


def _share_in_band(heads: dict[tuple[Any, ...], float]) -> float | None:
    inside = [_in_band(value) for value in heads.values()]
    return sum(inside) / len(inside) if inside else None
