"""The heads' means: what is put in their place when they are taken out of the model.

Over all positions of windows that are not judged: those that follow in the text, as many as are
judged. A text without as many gives the judged ones themselves, and the run's notes say so.
"""

from dataclasses import replace

import polars as pl
import torch

from headgauge import models
from headgauge.errors import InputError
from headgauge.measure.plan import Plan
from headgauge.models.ablation import check_ablatable, head_means
from headgauge.models.head_names import Heads
from headgauge.runs.schema import MeanRow, frame_schema


def ablating(plan: Plan, how: str, asked: Heads = ()) -> Plan:
    """A plan that takes out all heads, or those asked for: refused where that cannot be, and with
    notes on what it leaves out."""
    loaded, notes = plan.loaded, []
    if loaded.facts.kind == "encoder":
        raise InputError(
            f"{loaded.name} is an encoder and predicts no next token: without a loss its heads "
            "have no effect that could be measured"
        )
    projections = models.output_projections(loaded)
    check_ablatable(loaded, projections, asked)
    layers = plan.settings.layers
    missing = {
        name: projections.missing[name]
        for layer, name in enumerate(models.attention_modules(loaded.model))
        if name in projections.missing and layer in (layers or (layer,))
    }
    if missing and not asked:
        name, why = next(iter(missing.items()))
        if len(missing) == len(layers or models.attention_modules(loaded.model)):
            raise InputError(f"no head of {loaded.name} can be ablated, such as {name}: {why}")
        notes.append(f"effects: {len(missing)} modules have none, such as {name}: {why}")
    if how == "mean" and not plan.reading.following(plan.settings):
        notes.append(
            f"effects: the heads' means are those of the judged windows, {plan.text.name} has no "
            f"{plan.settings.windows} others behind them"
        )
    return replace(plan, notes=(*plan.notes, *notes))


def means_table(plan: Plan) -> pl.DataFrame:
    """The table `means` of a run."""
    loaded, length = plan.loaded, plan.settings.length
    judged = [torch.tensor(unit.ids) for unit in plan.units if unit.key.length == length]
    windows = plan.reading.following(plan.settings) or judged
    inputs = (models.model_inputs(loaded, ids[None]) for ids in windows)
    projections = models.output_projections(loaded)
    names = {each.layer: name for name, each in projections.items()}
    found = head_means(loaded, projections, inputs)
    rows = [
        {"layer": layer, "module": names[layer], "head": head, "dim": dim, "value": value}
        for (layer, head), mean in found.items()
        for dim, value in enumerate(mean.tolist())
    ]
    return pl.DataFrame(rows, schema=frame_schema(MeanRow))
