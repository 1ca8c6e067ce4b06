"""What hangs on the choice of vectors and keys, choice by choice, beside the paper's numbers."""

import math
from typing import Any

import polars as pl

from headgauge.experiments.measured import Measured
from headgauge.results.paper_schema import ChoiceRow
from headgauge.results.schema import HEAD, frame_schema

BAND = (0.70, 0.85)  # where the paper sees the separability settle, for N of 16 and more
SETTLED = 16
CRITICAL = (0.03, 0.07)  # of L: what counts as "about .06 L" and "below 6 %"
CHOICE = ("vectors", "scale", "keys")


def choice_table(
    measured: Measured, critical: pl.DataFrame, closest: dict[str, str]
) -> pl.DataFrame:
    """ChoiceRows, the closest first, then by how many of the paper's numbers they meet."""
    own = measured.curves.filter(
        pl.col("rule") == "model",
        pl.col("length") == measured.length,
        pl.col("window") == pl.col("window").min(),
    )
    rows = [
        _row(dict(zip(CHOICE, name, strict=True)), table, critical, closest)
        for name, table in own.sort(CHOICE).group_by(CHOICE, maintain_order=True)
        if table["top_n"].n_unique() > 1
    ]
    return pl.DataFrame(rows, schema=frame_schema(ChoiceRow)).sort(
        "closest", "agrees", *CHOICE, descending=[True, True, False, False, False]
    )


def _row(
    choice: dict[str, str], table: pl.DataFrame, critical: pl.DataFrame, closest: dict[str, str]
) -> dict[str, Any]:
    near = table.filter(pl.col("top_n") <= 100)
    settled = near.filter(pl.col("top_n") >= SETTLED).drop_nulls("separability")
    means = _means(settled, "top_n", "separability")
    heads = _means(settled, HEAD, "separability")
    low, high = min(means.values(), default=None), max(means.values(), default=None)
    printed, share = critical_n(critical, choice, "printed")
    corrected, _ = critical_n(critical, choice, "appendix")
    at_16 = means.get((SETTLED,))
    meets = [
        share is not None and CRITICAL[0] <= share <= CRITICAL[1],
        low is not None and high is not None and BAND[0] <= low <= high <= BAND[1],
        _levels_off(near),
    ]
    return choice | {
        "critical_n": printed,
        "critical_share": share,
        "critical_n_corrected": corrected,
        "separability_at_16": at_16,
        "plateau_low": low,
        "plateau_high": high,
        "heads_in_band": _share_in_band(heads),
        "agrees": sum(meets),
        "closest": choice == closest,
        "rows": float(near["rows"].cast(pl.Float64).max() or 0.0),  # pyright: ignore[reportArgumentType]
    }


def critical_n(
    critical: pl.DataFrame, choice: dict[str, str], expected: str, level: float = 0.01
) -> tuple[int | None, float | None]:
    """The critical N at the longest L and its share of L."""
    found = critical.filter(
        pl.col("length") == pl.col("length").max(),
        rule="model",
        expected=expected,
        level=level,
        **choice,
    )
    return (None, None) if found.is_empty() else found.select("critical_n", "share").row(0)


def named(row: dict[str, Any]) -> str:
    """A choice in a line: final/unit/all."""
    return "/".join(row[part] for part in CHOICE)


def _levels_off(near: pl.DataFrame) -> bool:
    """Whether the distance moves by less than 15 % of its earlier rise after N = 20."""
    means = _means(near.drop_nulls("distance"), "top_n", "distance")
    one, twenty, hundred = (means.get((n,)) for n in (1, 20, 100))
    if one is None or twenty is None or hundred is None:
        return False
    return abs(hundred - twenty) < 0.15 * (twenty - one)


def _means(
    table: pl.DataFrame, by: str | tuple[str, ...], measure: str
) -> dict[tuple[Any, ...], float]:
    """Means that do not depend on the order of the rows: the sums are exact."""
    groups = table.group_by(by if isinstance(by, tuple) else (by,)).agg(measure)
    return {tuple(name): math.fsum(values) / len(values) for *name, values in groups.iter_rows()}


def _share_in_band(heads: dict[tuple[Any, ...], float]) -> float | None:
    inside = [BAND[0] <= value <= BAND[1] for value in heads.values()]
    return sum(inside) / len(inside) if inside else None
