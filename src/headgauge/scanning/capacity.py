"""How a head's numbers change with the length, and what they will be at a longer one.

Each measure follows one law in x = log L, fitted to every window by least squares:

    power     log y = a + b x    positive and unbounded: effective N, distance, output ratio, …
    straight  y = a + b x        shares, and the largest logit

The prediction is the mean of the windows' predictions. Its variance has two parts, combined after
Satterthwaite into a 90 % interval of Student's t: the windows differ (the variance of their W
predictions over W, W − 1 degrees of freedom), and the law is only nearly true (the residual s² of
the mean curve over K lengths, s²(1 + 1/K + (x₀ − x̄)²/S), K − 2 degrees of freedom). That formula
takes the departures at different lengths as independent and grows like the distance; a bend grows
like its square, so beyond one doubling of the longest length the second part's deviation is
multiplied by the number of doublings. docs/verdicts.md has how often the interval held the truth.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float, Int
from scipy import special

from headgauge.errors import LARGEST, InputError, check_whole
from headgauge.registry.measures import BY_LARGEST
from headgauge.runs.schema import HEAD
from headgauge.scanning.thresholds import (
    CHOICE,
    DEFAULT,
    VERDICTS,
    Threshold,
    beyond,
    threshold_table,
)
from headgauge.scanning.verdicts import numbers

LEVEL = 0.9
# The law of each measure and the range its numbers stay in; None is the target length.
LAWS: dict[str, tuple[str, float, float | None]] = {
    "effective_n": ("power", 1.0, None),
    "entropy_share": ("straight", 0.0, 1.0),
    "rest_entropy_share": ("straight", 0.0, 1.0),
    "sink_weight": ("straight", 0.0, 1.0),
    "idle_weight": ("straight", 0.0, 1.0),
    "sink_carry": ("straight", 0.0, math.inf),
    "jacobian_norm": ("power", 0.0, 0.5),
    "sharpness": ("power", 0.0, math.inf),
    "max_logit": ("straight", -math.inf, math.inf),
    "output_ratio": ("power", 0.0, math.inf),
    "separability": ("straight", 0.0, 1.0),
    "distance": ("power", 0.0, math.inf),
}
_SCHEMA = {
    "measure": pl.String,
    **CHOICE,
    "law": pl.String,
    **dict.fromkeys(("slope", "slope_error", "r2"), pl.Float64),
    **dict.fromkeys(("lengths", "windows", "longest"), pl.Int64),
    "value": pl.Float64,
    "target": pl.Int64,
    **dict.fromkeys(("reach", "prediction", "lower", "upper", "freedom"), pl.Float64),
    "clipped": pl.Boolean,
    "note": pl.String,
}


def capacity(
    heads: pl.DataFrame,
    curves: pl.DataFrame,
    target: int,
    thresholds: Sequence[Threshold] = DEFAULT,
) -> pl.DataFrame:
    """One row per head and measure: its law, the value at the longest length, the prediction.

    Separability and distance are taken at each choice of the thresholds. `slope` is b, `r2` that
    of the mean curve, `reach` how many times the longest length the target is, `freedom` the
    interval's degrees of freedom (null where nothing varies); `clipped` says that the prediction
    or an end of its interval left the measure's range and was put back to its edge. Where
    something is null, `note` says why.
    """
    there = heads["length"].unique().sort().to_list()
    if len(there) < 2:
        raise InputError(f"a trend needs at least two lengths in the tables, got {there}")
    check_whole("the target", target, 1, LARGEST)
    if target <= there[-1]:
        raise InputError(f"the target {target} must exceed the longest length {there[-1]}")
    measures = _measures(thresholds)
    wide = numbers(heads, curves, measures).pivot(
        "length", index=[*HEAD, "place", "window"], values="number", aggregate_function="first"
    )
    rows: list[dict[str, Any]] = []
    for (*head, place), group in wide.group_by(*HEAD, "place", maintain_order=True):
        measure, choice = measures[place]
        seen = group.select(map(str, there)).fill_null(math.nan).to_numpy()
        known = dict(zip(HEAD, head, strict=True)) | {"place": place, "measure": measure}
        rows.append(known | choice | _trend(np.array(there), seen, measure, target))
    schema = {**{name: heads.schema[name] for name in HEAD}, "place": pl.Int64, **_SCHEMA}
    return pl.DataFrame(rows, schema=schema).sort(*HEAD, "place").drop("place")


def outlook(trends: pl.DataFrame, thresholds: Sequence[Threshold] = DEFAULT) -> pl.DataFrame:
    """One row per verdict: the heads that have it now, and at the target.

    `now` counts the values at the longest length, `target` the predictions, `certainly` the
    intervals that lie wholly beyond the threshold, `possibly` those that reach beyond it.
    `unknown` heads have a number but no interval, and count in neither of the last two.
    """
    above = pl.col("direction") == "above"
    ends = pl.col("lower"), pl.col("upper")
    near, far = (pl.when(above).then(a).otherwise(b) for a, b in (ends, ends[::-1]))
    counted = {
        "heads": pl.col("value").is_not_null(),
        "now": beyond("value"),
        "target": beyond("prediction"),
        "certainly": beyond("near"),
        "possibly": beyond("far"),
        "unknown": pl.col("value").is_not_null() & pl.col("lower").is_null(),
    }
    totals = (
        trends.join(threshold_table(thresholds), on=["measure", *CHOICE], nulls_equal=True)
        .with_columns(near=near, far=far)
        .group_by("verdict", *HEAD)
        .agg(**{name: holds.any() for name, holds in counted.items()})
        .group_by("verdict")
        .agg(pl.col(*counted).sum().cast(pl.Int64))
    )
    names = [name for name in VERDICTS if name in {t.verdict for t in thresholds}]
    return (
        pl.DataFrame({"verdict": names}, schema={"verdict": pl.String})
        .join(totals, on="verdict", how="left", maintain_order="left")
        .with_columns(pl.col(*counted).fill_null(0))
    )


def _measures(thresholds: Sequence[Threshold]) -> list[tuple[str, dict[str, Any]]]:
    of_curves = ("separability", "distance")
    plain = [(name, {}) for name in LAWS if name not in of_curves]
    choices = [threshold.choice for threshold in thresholds if threshold.choice]
    different = [each for i, each in enumerate(choices) if each not in choices[:i]]
    return [*plain, *((name, choice) for choice in different for name in of_curves)]


def _trend(
    lengths: Int[np.ndarray, "lengths"],
    y: Float[np.ndarray, "windows lengths"],
    measure: str,
    target: int,
) -> dict[str, Any]:
    """The trend of one head and measure, over the windows that were seen at every length (NaN is
    unseen; a length that no window shows is left out)."""
    law, low, high = LAWS[measure]
    blank = {"law": law, "target": target, "longest": int(lengths[-1]), "clipped": False}
    shown = ~np.isnan(y).all(0)
    lengths, y = lengths[shown], y[:, shown]
    y = y[~np.isnan(y).any(1)]
    if not y.size:
        return blank | {"note": "not measured"}
    if measure in BY_LARGEST:  # judged on the largest of all windows, so followed there
        y = y.max(0, keepdims=True)
    facts = blank | {
        "lengths": len(lengths),
        "windows": len(y),
        "longest": int(lengths[-1]),
        "value": float(y[:, -1].mean()),
        "reach": target / int(lengths[-1]),
    }
    if len(lengths) < 2:
        return facts | {"note": "one length: no trend"}
    if law == "power" and (y <= 0).any():
        return facts | {"note": "not positive: no power law"}
    fitted = _fit(np.log(lengths), np.log(y) if law == "power" else y, math.log(target))
    high = float(target) if high is None else high
    clipped = False
    for name in fitted.keys() & {"prediction", "lower", "upper"}:
        number = float(np.exp(min(fitted[name], 700.0))) if law == "power" else fitted[name]
        fitted[name] = min(max(number, low), high)
        clipped |= fitted[name] != number
    note = "two lengths: no residual, no interval" if len(lengths) == 2 else None
    return facts | fitted | {"clipped": clipped, "note": note}


def _fit(
    x: Float[np.ndarray, "lengths"], y: Float[np.ndarray, "windows lengths"], x0: float
) -> dict[str, Any]:
    """Slope and prediction at x₀, in the law's own scale; of three lengths or more also the slope's
    error, R² and the prediction's interval."""
    windows, lengths = y.shape
    centred = x - x.mean()
    S = float(centred @ centred)
    slopes = y @ centred / S
    predictions = y.mean(1) + slopes * (x0 - x.mean())
    curve = y.mean(0)
    slope, prediction = float(slopes.mean()), float(predictions.mean())
    if lengths == 2:
        return {"slope": slope, "prediction": prediction}
    residual = float(((curve - curve.mean() - slope * centred) ** 2).sum())
    total = float(((curve - curve.mean()) ** 2).sum())
    s2 = residual / (lengths - 2)
    among = 0.0 if windows == 1 else 1 / windows
    slope_variance = s2 / S + among * float(slopes.var(ddof=min(1, windows - 1)))
    misfit = s2 * (1 + 1 / lengths + (x0 - float(x.mean())) ** 2 / S)
    misfit *= max(1.0, (x0 - float(x[-1])) / math.log(2)) ** 2
    spread = among * float(predictions.var(ddof=min(1, windows - 1)))
    half, freedom = _half_width(misfit, lengths - 2, spread, windows - 1)
    # A flat curve has no variance to explain.
    flat = total <= 1e-24 * float((curve**2).sum())
    return {
        "slope": slope,
        "slope_error": math.sqrt(slope_variance),
        "r2": None if flat else 1 - residual / total,
        "prediction": prediction,
        "lower": prediction - half,
        "upper": prediction + half,
        "freedom": freedom,
    }


def _half_width(
    misfit: float, misfit_freedom: int, spread: float, spread_freedom: int
) -> tuple[float, float | None]:
    """t times the root of the two variances, and Satterthwaite's degrees of freedom it has."""
    total = misfit + spread
    if total == 0:
        return 0.0, None
    # As shares of the total: the squares of tiny variances underflow.
    inverse = (misfit / total) ** 2 / misfit_freedom
    if spread > 0:
        inverse += (spread / total) ** 2 / spread_freedom
    freedom = 1 / inverse
    return float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * math.sqrt(total), freedom
