"""What a head is worth: the rise of a window's loss without it.

A head's output is replaced by its mean or by zeros (`models.ablation`) and the loss is computed
again (`changed_losses`).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
import torch
from jaxtyping import Int
from torch import Tensor

from headgauge import models
from headgauge.measure.changed_losses import ChangedLosses
from headgauge.measure.requests import Ablate, Task
from headgauge.measure.settings import UnitSettings
from headgauge.models.ablation import Means, silenced
from headgauge.models.head_names import Heads
from headgauge.runs import Manifest, UnitKey
from headgauge.runs.schema import EffectRow, frame_schema

_ABLATED = ("layer", "module", "head", "group", "how")


@dataclass(frozen=True, eq=False)
class WindowEffects:
    """Rows of `window_effects`, and whether all layers ran again for each."""

    rows: list[dict[str, Any]]
    whole_passes: bool


def window_effects(
    loaded: models.LoadedModel,
    key: UnitKey,
    inputs: Mapping[str, Tensor],
    ids: Int[Tensor, "1 length"],
    settings: UnitSettings,
    task: Task,
    progress: Callable[[float], object] | None,
) -> WindowEffects:
    """The loss of one window without each head, or group, that the task names."""
    assert task.ablate is not None
    projections = models.output_projections(loaded)
    means = means_by_head(task.once["means"]) if task.ablate.how == "mean" else None
    named = _targets(task.ablate, projections, settings)
    layers = [tuple(layer for layer, _ in heads) for _, heads in named]
    losses = ChangedLosses(loaded, inputs, ids, layers)
    found: dict[int, float] = {}
    for i in sorted(range(len(named)), key=lambda i: losses.place(layers[i])):
        found[i] = losses.under(layers[i], silenced(projections, named[i][1], means))
        if progress is not None:
            progress(len(found) / len(named))
    how = {"how": task.ablate.how}
    rows = [
        vars(key) | where | how | _change(found[i], losses.clean)
        for i, (where, _) in enumerate(named)
    ]
    return WindowEffects(rows, losses.whole)


def _targets(
    ablate: Ablate, projections: models.Projections, settings: UnitSettings
) -> list[tuple[dict[str, Any], Heads]]:
    """What is taken out at once: the columns that name it, and its heads."""
    nothing: dict[str, Any] = dict.fromkeys(("layer", "module", "head", "group"))
    if ablate.groups:
        return [(nothing | {"group": name}, heads) for name, heads in ablate.groups]
    return [
        (nothing | {"layer": each.layer, "module": name, "head": head}, ((each.layer, head),))
        for name, each in projections.items()
        for head in range(each.heads)
        if each.layer in (settings.layers or (each.layer,)) and head in (settings.heads or (head,))
    ]


def _change(loss: float, clean: float) -> dict[str, float | None]:
    return {"loss": _finite(loss), "effect": _finite(loss - clean)}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def means_by_head(means: pl.DataFrame) -> Means:
    """The vectors of a table of means, by (layer, head)."""
    found = means.sort("layer", "head", "dim").group_by("layer", "head", maintain_order=True)
    vectors = found.agg("value").iter_rows()
    return {(layer, head): torch.tensor(value) for layer, head, value in vectors}


def with_effects(heads: pl.DataFrame, effects: pl.DataFrame) -> pl.DataFrame:
    """A unit's table of heads with the effect of each."""
    found = effects.select("module", "head", "effect")
    joined = heads.drop("effect").join(found, on=("module", "head"), how="left")
    return joined.select(heads.columns)


def over_windows(effects: pl.DataFrame) -> pl.DataFrame:
    """One row for each head or group: mean and standard error over the windows, the largest
    effect first."""
    found = effects.group_by(_ABLATED, maintain_order=True).agg(
        pl.mean("effect"),
        standard_error("effect").alias("error"),
        pl.len().cast(pl.Int64).alias("windows"),
        pl.mean("loss"),
    )
    ordered = found.sort("effect", *_ABLATED, descending=[True] + [False] * 5, nulls_last=True)
    return ordered.select(*frame_schema(EffectRow))


def standard_error(column: str) -> pl.Expr:
    """Of the mean, from the spread over the rows; null with one."""
    return pl.std(column) / pl.count(column).sqrt()


def effect_notes(manifest: Manifest) -> list[str]:
    """That layers could not be left out, where they could not."""
    if not any(unit.get("whole_passes") for unit in manifest["units"].values()):
        return []
    return ["effects: whole passes, because some layers need more of others than their stream"]
