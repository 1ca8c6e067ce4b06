"""What a head is worth: the rise of a window's loss without it.

A head's output is replaced by its mean or by zeros (`models.ablation`) and the loss is computed
again. The layers before the head would make what they make without the ablation, so they hand that
on (`models.kept_layers`). In every window it is looked whether the untouched model's loss comes out
the same to the last bit on this way; where it does not, whole passes serve.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import polars as pl
import torch
from jaxtyping import Int
from torch import Tensor

from headgauge import models
from headgauge.measure.requests import Ablate, Task
from headgauge.measure.settings import UnitSettings
from headgauge.models.ablation import Means, silenced
from headgauge.models.head_names import Heads
from headgauge.models.kept_layers import KeptLayers
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
    cache = models.without_cache(loaded.model)

    def loss() -> float:
        found = models.next_token_loss(loaded, loaded.model(**inputs, **cache), ids)
        assert found is not None
        return float(found[0])

    kept = KeptLayers(loaded.model)
    with kept.keeping():
        clean = loss()
    named = _targets(task.ablate, projections, settings)
    places = {each.layer: kept.place(name) for name, each in projections.items()}
    targets = sorted(
        (min(places[layer] for layer, _ in heads), i) for i, (_, heads) in enumerate(named)
    )
    starts = sorted({place for place, _ in targets if place})
    # The middle has most before and after it, the last most that could be missing.
    kept.whole |= not all(
        _same(kept, place, loss, clean) for place in {*starts[len(starts) // 2 :][:1], *starts[-1:]}
    )
    losses: dict[int, float] = {}
    for place, several in groupby(targets, lambda target: target[0]):
        with kept.handed_on(place):
            for _, i in several:
                with silenced(projections, named[i][1], means):
                    losses[i] = loss()
                if progress is not None:
                    progress(len(losses) / len(named))
    how = {"how": task.ablate.how}
    rows = [
        vars(key) | where | how | {"loss": _finite(losses[i]), "effect": _finite(losses[i] - clean)}
        for i, (where, _) in enumerate(named)
    ]
    return WindowEffects(rows, kept.whole)


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


def _same(kept: KeptLayers, place: int, loss: Callable[[], float], clean: float) -> bool:
    """Whether the untouched model's loss comes out the same if the first layers do not run."""
    # Layers that look for what others left behind (keys that are shared) fail in ways of their own.
    with suppress(Exception), kept.handed_on(place):
        return loss() == clean
    return False


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
