"""A part of a validation: the heads of a scan, their effects, and every score that they have."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from jaxtyping import Bool, Float, Int

from headgauge.errors import InputError
from headgauge.registry.measures import HEAD_MEASURES
from headgauge.runs.schema import HEAD
from headgauge.runs.validation_schema import FIRST
from headgauge.scanning import ScanResult
from headgauge.scanning.summary import heads_over_windows
from headgauge.scanning.thresholds import INCOMPLETE
from headgauge.theory.statistics import below_median

Score = tuple[str, str]  # its kind and its name
MEASURES = [name for name in (*HEAD_MEASURES, "separability") if name != "effect"]


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
    measured = heads_over_windows(scan.heads).drop("effect")
    shown = scan.frame().select(
        *HEAD, "effect", "effect_error", *set(MEASURES) - set(measured.columns)
    )
    heads = measured.join(shown, HEAD).filter(pl.col("effect").is_finite()).sort(HEAD)
    if heads.is_empty():
        raise InputError("no head of this scan has an effect: scan with effects")
    scores = {("measure", name): _numbers(heads[name]) for name in MEASURES}
    verdicts = scan.verdicts().filter(pl.col("verdict") != INCOMPLETE)
    named = {"verdict": verdicts} | ({"role": scan.roles()} if hasattr(scan, "roles") else {})
    for kind, frame in named.items():
        for name in frame[kind].unique(maintain_order=True).sort():
            held = heads.join(
                frame.filter(pl.col(kind) == name).with_columns(held=1.0), HEAD, "left"
            )
            scores[kind, name] = held.sort(HEAD)["held"].fill_null(0.0).to_numpy()
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
        _numbers(heads["effect"]),
        _numbers(heads["effect_error"]),
        scores,
        behind,
    )


def _numbers(column: pl.Series) -> Float[np.ndarray, "heads"]:
    return column.cast(pl.Float64).fill_null(float("nan")).to_numpy()
