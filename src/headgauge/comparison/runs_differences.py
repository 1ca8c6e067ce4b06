"""Every measure of every head in each run, and what of it differs between two.

With d_w = b_w − a_w in window w of W, both runs on the same windows of the same text:

    difference = mean of d_w,  error = std(d_w)/√W,  W − 1 degrees of freedom.

On other windows it is the difference of the two means, with error √(e_a² + e_b²) of their standard
errors and Welch's degrees of freedom, (e_a² + e_b²)²/(e_a⁴/(W_a − 1) + e_b⁴/(W_b − 1)). A head is
`beyond` where the difference exceeds two errors; by chance that happens to 2·P(t > 2) of the heads.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from headgauge.registry.measures import BY_LARGEST, HEAD_MEASURES
from headgauge.runs import UnitKey
from headgauge.runs.schema import HEAD
from headgauge.scanning import ScanResult
from headgauge.scanning.verdicts import at_length, derived, numbers

LOSS = "loss"
SURE = 2.0  # standard errors
_EXACT = 1e-12  # of the numbers: an error below it is rounding, and the difference no accident
# Of the rows that were measured: of fewer of them it is another number, not the same less surely.
NO_MEANS = (*BY_LARGEST, "output_stable_rank")
_BY = [*HEAD, "measure"]


@dataclass(frozen=True, eq=False)
class Side:
    """A run with its numbers: one row of `windows` per window, head and measure; `losses` by
    window."""

    name: str
    scan: ScanResult
    length: int
    windows: pl.DataFrame
    losses: dict[int, float]

    @property
    def read(self) -> tuple[Any, ...]:
        """Which windows of which text: two sides that share this can be paired."""
        made = self.scan.manifest
        data, splits = made["data"] or {}, made["splits"] or {}
        units = {window: made["units"][name] for window, name in self.units().items()}
        places = tuple((window, each["start"], each["tokens"]) for window, each in units.items())
        bos = (splits.get("bos") or {}).get("put")
        return data.get("sha256"), data.get("tokens"), splits.get("offset"), bos, places

    def units(self) -> dict[int, str]:
        """By window the name of its unit, at the length that is compared."""
        return _units(self.scan, self.length)


def side_of(name: str, scan: ScanResult) -> Side:
    """A run as it is compared, at its longest length."""
    length, heads, curves = at_length(scan.heads, scan.curves, None)
    named = measures_of(scan)
    found = numbers(heads, curves, list(named.values())).with_columns(
        measure=pl.col("place").replace_strict(dict(enumerate(named)), return_dtype=pl.String)
    )
    records = scan.manifest["units"]
    losses = {window: records[unit]["loss"] for window, unit in _units(scan, length).items()}
    known = {window: float(loss) for window, loss in losses.items() if loss is not None}
    known = {window: loss for window, loss in known.items() if math.isfinite(loss)}
    if len(known) < len(losses):  # the mean would be over other windows
        known = {}
    return Side(name, scan, length, found.select("window", *_BY, "number"), known)


def _units(scan: ScanResult, length: int) -> dict[int, str]:
    keys = {name: UnitKey.from_name(name) for name in scan.manifest["units"]}
    return {key.window: name for name, key in keys.items() if key and key.length == length}


def measures_of(scan: ScanResult) -> dict[str, tuple[str, dict[str, Any]]]:
    """By name the columns that are compared: all measures of a head, and those of the curves that
    verdicts and roles are judged by, with the choice that picks their rows."""
    there = {*scan.heads.columns, *derived(scan.heads)}
    found: dict[str, tuple[str, dict[str, Any]]] = {
        name: (name, {}) for name in HEAD_MEASURES if name in there
    }
    for line in (*scan.thresholds, *scan.role_lines):
        if line.choice and (line.measure, line.choice) not in found.values():
            found[line.what if line.measure in found else line.measure] = line.measure, line.choice
    return found


def pairs(sides: Sequence[Side]) -> list[tuple[Side, Side]]:
    """(side, against): each with the one before it, and with the first."""
    steps = list(zip(sides[1:], sides, strict=False))
    return steps + [(side, sides[0]) for side in sides[2:]]


def side_row(side: Side) -> dict[str, Any]:
    model, data = side.scan.manifest["model"], side.scan.manifest["data"]
    assert model is not None  # a scan describes both before it runs
    assert data is not None
    losses = list(side.losses.values())
    return {
        "side": side.name,
        "model": model["name"],
        "quantisation": model["quantisation"],
        "text": data["name"],
        "length": side.length,
        "windows": side.windows["window"].n_unique(),
        "loss": float(np.mean(losses)) if losses else None,
        "loss_error": _error(losses),
        "warning": "; ".join(side.scan.warnings()) or None,
    }


def difference_tables(sides: Sequence[Side]) -> dict[str, Any]:
    """The tables values, differences and measures."""
    values = {side.name: _values(side) for side in sides}
    differences, measured = [], []
    for side, against in pairs(sides):
        paired = side.read == against.read
        own = _differences(side, against, values, paired)
        differences.append(own)
        measured += [_loss_row(side, against, paired), *_measure_rows(side, against, own, paired)]
    held = pl.concat([table.with_columns(side=pl.lit(name)) for name, table in values.items()])
    return {"values": held, "differences": pl.concat(differences), "measures": measured}


def _values(side: Side) -> pl.DataFrame:
    """One row per head and measure: as a scan has it, and its standard error over windows."""
    largest = pl.col("measure").is_in(BY_LARGEST)
    mean, error = pl.col("number").mean(), pl.col("number").std() / pl.col("number").count().sqrt()
    return (
        side.windows.group_by(_BY, maintain_order=True)
        .agg(
            mean.alias("mean"),
            pl.max("number"),
            error.alias("error"),
            pl.count("number").alias("n"),
        )
        .select(
            *_BY,
            pl.when(largest).then("number").otherwise("mean").alias("value"),
            pl.when(~largest).then("error").alias("error"),
            "n",
        )
    )


def _differences(
    side: Side, against: Side, values: dict[str, pl.DataFrame], paired: bool
) -> pl.DataFrame:
    """One row per head and measure, with what the summary needs beside the table's columns."""
    both = values[side.name].join(
        values[against.name], on=_BY, how="left", suffix="_before", maintain_order="left"
    )
    plain = pl.col("value") - pl.col("value_before")
    if paired:
        found = both.join(_paired(side, against), on=_BY, how="left", maintain_order="left")
        largest = pl.col("measure").is_in(BY_LARGEST)
        found = found.with_columns(
            difference=pl.when(largest).then(plain).otherwise("paired"),
            error=pl.when(~largest).then("paired_error"),
            freedom=pl.when(~largest & pl.col("paired_error").is_not_null()).then(
                pl.col("pairs") - 1.0
            ),
        )
    else:
        a, b = pl.col("error_before") ** 2, pl.col("error") ** 2
        small = a**2 / (pl.col("n_before") - 1) + b**2 / (pl.col("n") - 1)
        welch = (
            pl.when(small > 0)
            .then((a + b) ** 2 / small)
            .otherwise(pl.col("n").cast(pl.Float64) + pl.col("n_before") - 2)
        )
        found = both.with_columns(
            difference=plain,
            freedom=pl.when((a + b).is_not_null()).then(welch),
            error=(a + b).sqrt(),
        )
    size = pl.max_horizontal(pl.col("value").abs(), pl.col("value_before").abs())
    exact = pl.col("error") <= _EXACT * size
    beyond = pl.col("difference").abs() > pl.when(exact).then(0.0).otherwise(SURE * pl.col("error"))
    return found.with_columns(
        side=pl.lit(side.name), against=pl.lit(against.name), exact=exact, beyond=beyond
    ).select(
        *("side", "against"), *_BY, *("difference", "error", "freedom", "beyond", "exact"),
        *("value", "value_before"),
    )  # fmt: skip


def _paired(side: Side, against: Side) -> pl.DataFrame:
    """The mean of b − a over windows, its standard error and how many there are."""
    both = _both(side, against)
    error = pl.col("apart").std() / pl.col("apart").count().sqrt()
    return both.group_by(_BY, maintain_order=True).agg(
        pl.col("apart").mean().alias("paired"),
        error.alias("paired_error"),
        pl.count("apart").alias("pairs"),
    )


def _both(side: Side, against: Side) -> pl.DataFrame:
    joined = side.windows.join(against.windows, on=["window", *_BY], suffix="_before")
    return joined.with_columns(apart=pl.col("number") - pl.col("number_before"))


def _measure_rows(
    side: Side, against: Side, differences: pl.DataFrame, paired: bool
) -> list[dict[str, Any]]:
    """Over heads, measure by measure; one that no head has in both runs has no row."""
    errors = _mean_errors(side, against, paired)
    rows = []
    for (measure,), own in differences.group_by("measure", maintain_order=True):
        seen = own.drop_nulls("difference")
        if seen.is_empty():
            continue
        sure = seen.drop_nulls("beyond")
        drawn = sure.filter(~pl.col("exact"))["freedom"].to_numpy()
        named = ("value_before", "value", "difference")
        before, after, apart = (float(seen[each].to_numpy().mean()) for each in named)
        # A mean that is fixed (a ratio to the layer's mean) differs by rounding alone.
        fixed = abs(apart) <= _EXACT * max(abs(before), abs(after))
        error = None if measure in BY_LARGEST else errors.get(str(measure))
        rows.append(
            {
                "side": side.name,
                "against": against.name,
                "measure": measure,
                "heads": seen.height,
                "before": before,
                "after": after,
                "difference": 0.0 if fixed else apart,
                "error": 0.0 if fixed and error is not None else error,
                "paired": paired,
                "median": seen["difference"].abs().median(),
                "beyond": int(sure["beyond"].sum()) if sure.height else None,
                "by_chance": float(2 * stats.t.sf(SURE, drawn).sum()) if sure.height else None,
            }
        )
    return rows


def _mean_errors(side: Side, against: Side, paired: bool) -> dict[str, float | None]:
    """By measure the standard error of the mean difference over heads, from the spread of that
    mean over windows: heads of one window move together."""
    if paired:
        return _errors(_both(side, against), "apart")
    own, other = _errors(side.windows, "number"), _errors(against.windows, "number")
    return {name: _together(own[name], other.get(name)) for name in own}


def _errors(windows: pl.DataFrame, column: str) -> dict[str, float | None]:
    # In order, so that the same runs give the same last digit.
    ordered = {"maintain_order": True}
    means = windows.group_by("measure", "window", **ordered).agg(pl.col(column).mean())
    error = pl.col(column).std() / pl.col(column).count().sqrt()
    return dict(means.group_by("measure", **ordered).agg(error).rows())


def _loss_row(side: Side, against: Side, paired: bool) -> dict[str, Any]:
    """The loss beside the measures, over no heads."""
    now, then = side.losses, against.losses
    before, after = (float(np.mean(list(each.values()))) if each else None for each in (then, now))
    apart = [now[window] - then[window] for window in now if window in then]
    error = (
        _error(apart) if paired else _together(_error([*now.values()]), _error([*then.values()]))
    )
    nothing = dict.fromkeys(("median", "beyond", "by_chance"))
    return nothing | {
        "side": side.name,
        "against": against.name,
        "measure": LOSS,
        "heads": 0,
        "before": before,
        "after": after,
        "difference": None if before is None or after is None else after - before,
        "error": error,
        "paired": paired,
    }


def _error(values: Sequence[float]) -> float | None:
    """The standard error of a mean; None with one."""
    if len(values) < 2:
        return None
    return float(np.std(values, ddof=1) / math.sqrt(len(values)))


def _together(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else math.hypot(one, other)
