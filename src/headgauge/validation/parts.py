"""A part of a validation: the heads of a scan, their effects, and every score that they have."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int

from headgauge.errors import InputError
from headgauge.registry.measures import BY_LARGEST, HEAD_MEASURES
from headgauge.runs.schema import HEAD
from headgauge.runs.validation_schema import FIRST
from headgauge.scanning import ScanResult
from headgauge.scanning.thresholds import INCOMPLETE
from headgauge.scanning.verdicts import numbers
from headgauge.theory.statistics import below_median

Score = tuple[str, str]  # its kind and its name


@dataclass(frozen=True, eq=False)
class Part:
    """The heads of a part that have an effect: `scores` has their numbers, NaN where there is none;
    a verdict or role is 1 where it holds. `lines` names the measure behind a verdict of one."""

    heads: pl.DataFrame  # what names each
    windows: int
    groups: Int[np.ndarray, "heads"]
    effect: Float[np.ndarray, "heads"]
    error: Float[np.ndarray, "heads"]
    scores: dict[Score, Float[np.ndarray, "heads"]]
    lines: dict[Score, Score]

    @cached_property
    def label(self) -> Bool[np.ndarray, "heads"]:
        """What a score is to tell: an effect below the layer's median."""
        return below_median(self.effect, self.groups)

    def there(self, where: str) -> Bool[np.ndarray, "heads"]:
        """Which heads lie in layer 0, or in the layers behind it."""
        first = (pl.col("layer") == 0) & (pl.col("occurrence") == 0)
        return self.heads.select(first == (where == FIRST)).to_series().to_numpy()


def read_part(scan: ScanResult) -> Part:
    """A scan that measured effects, as numbers by head over its windows."""
    heads = scan.frame().filter(pl.col("effect").is_finite()).sort(HEAD)
    if heads.is_empty():
        raise InputError("no head of this scan has an effect: scan with effects")
    heads = heads.select(*HEAD, "effect", "effect_error")
    scores = {("measure", name): each for name, each in _measures(scan, heads).items()}
    verdicts = scan.verdicts().filter(pl.col("verdict") != INCOMPLETE)
    named = {"verdict": verdicts, "role": scan.roles().drop_nulls("role")}
    for kind, frame in named.items():
        for name in frame[kind].unique().sort():
            held = frame.filter(pl.col(kind) == name).select(*HEAD, number=1.0)
            scores[kind, name] = np.nan_to_num(_numbers(heads, held))
    behind = {}
    for each in {threshold.verdict for threshold in scan.thresholds}:
        measures = {other.measure for other in scan.thresholds if other.verdict == each}
        if len(measures) == 1:
            behind["verdict", each] = ("measure", measures.pop())
    groups = heads.select(pl.struct("layer", "occurrence").rank("dense").cast(pl.Int64))
    return Part(
        heads.select(HEAD),
        scan.heads["window"].n_unique(),
        groups.to_series().to_numpy(),
        _numbers(heads, heads.select(*HEAD, number="effect")),
        _numbers(heads, heads.select(*HEAD, number="effect_error")),
        scores,
        behind,
    )


def _measures(scan: ScanResult, heads: pl.DataFrame) -> dict[str, Float[np.ndarray, "heads"]]:
    """Every measure of a head over the windows; of the curves those that a verdict is judged by."""
    asked = [(name, {}) for name in HEAD_MEASURES if name != "effect"]
    asked += [(each.measure, each.choice) for each in scan.thresholds if each.choice]
    found = numbers(scan.heads, scan.curves, asked).group_by(*HEAD, "place")
    means = found.agg(mean=pl.mean("number"), largest=pl.max("number"))
    measured = {}
    for place, (name, _) in enumerate(asked):
        over_windows = "largest" if name in BY_LARGEST else "mean"
        own = means.filter(place=place).select(*HEAD, number=over_windows)
        measured[name] = _numbers(heads, own)
    return measured


def _numbers(heads: pl.DataFrame, found: pl.DataFrame) -> Float[np.ndarray, "heads"]:
    """In the order of the heads; NaN where there is none."""
    ordered = heads.select(HEAD).join(found, HEAD, "left", maintain_order="left")
    return ordered["number"].cast(pl.Float64).fill_null(float("nan")).to_numpy()
