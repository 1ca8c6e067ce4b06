"""One unit of a scan: one window of one model, read once, every head measured.

A unit depends on nothing but its arguments: it can run in any process, in any order, and twice.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from headgauge import models
from headgauge.measure.bos_check import both_losses
from headgauge.measure.depth import depth_table
from headgauge.measure.effects import window_effects, with_effects
from headgauge.measure.head_facts import HeadFacts, head_facts
from headgauge.measure.measuring import Progress
from headgauge.measure.pass_times import pass_times
from headgauge.measure.passes import measured_pass
from headgauge.measure.placed import placed_rules
from headgauge.measure.requests import Task, of_original
from headgauge.measure.rule_passes import SwappedPasses, under_rules
from headgauge.measure.settings import UnitSettings
from headgauge.runs import UnitFacts, UnitKey, UnitTables, write_unit
from headgauge.threads import begin, in_turn

Source = models.ModelSource | models.LoadedModel


@dataclass(frozen=True)
class Unit:
    """A window: which one, how long, where in the text it starts, and its tokens.

    `other` has the beginning of the text in it read the other way, without BOS or with it, where
    the two are compared (`bos_check`).
    """

    key: UnitKey
    start: int
    ids: tuple[int, ...]
    other: tuple[int, ...] | None = None


def measure_unit(
    source: Source,
    unit: Unit,
    settings: UnitSettings,
    task: Task,
    progress: Progress | None = None,
    folder: Path | None = None,
) -> UnitTables:
    """All tables of a unit. `progress` gets the share of the unit that is done; those that are
    written into the `folder` of a run are not handed back, they are large.

    Units of several threads run one after the other, and calls of the model from other threads are
    not seen; but those get it in eval mode, and random numbers that are put back, meanwhile.
    """
    begin()
    with in_turn():
        loaded = source.open()
        with settled(loaded.model, settings):
            found = _measured(loaded, unit, settings, task, progress)
    if folder is None:
        return found
    write_unit(folder, found)
    return replace(found, tables={})


def known_heads(loaded: models.LoadedModel, bos: int | None, settings: UnitSettings) -> HeadFacts:
    """What units need to know of the heads before their rows are read, once for all of them."""
    begin()
    with in_turn(), settled(loaded.model, settings):
        return head_facts(loaded, bos, settings.seed)


def _measured(
    loaded: models.LoadedModel,
    unit: Unit,
    settings: UnitSettings,
    task: Task,
    progress: Progress | None,
) -> UnitTables:
    ids = torch.tensor([unit.ids], dtype=torch.long)
    inputs = models.model_inputs(loaded, ids)
    placed = placed_rules(task.rules, task.once.get("fits"))
    # The heads' turn, and that of the rules, takes much longer.
    shown = progress if task.ablate is None and not placed else None
    first = of_original(task, placed) if placed else task
    made = measured_pass(loaded, unit.key, inputs, settings, first, shown)
    gathered, output = made.measurer.gathered, made.output
    with gathered.timed("loss"):
        losses = models.token_losses(loaded, output, ids)
    bos_losses: dict[str, Any] = {}
    if losses is not None and unit.other is not None:
        with gathered.timed("bos_check"):
            bos_losses = both_losses(loaded, ids, losses, unit.other)
    swapped, passes = SwappedPasses(), {}
    if placed:
        with gathered.timed("rules"):
            swapped = under_rules(loaded, unit.key, ids, settings, task, placed, made, progress)
        if unit.key.window == 0:
            with gathered.timed("timing"):
                passes = pass_times(loaded, inputs, settings, placed)
    del output
    whole_passes: dict[str, Any] = {}
    if task.ablate is not None:
        with gathered.timed("effects"):
            effects = window_effects(loaded, unit.key, inputs, ids, settings, task, progress)
            gathered.parts["window_effects"] = effects.rows
            whole_passes = {"whole_passes": effects.whole_passes}
    names = ("heads", "curves", "samples", *(("rows",) * settings.keep_rows), *task.tables)
    errors = settings.rows is not None
    tables = {name: gathered.table(name, errors) for name in names}
    if task.ablate is not None and task.judged:
        tables["heads"] = with_effects(tables["heads"], gathered.table("window_effects"))
    if task.depth:
        with gathered.timed("depth"):
            tables["depth"] = depth_table(loaded.model, unit.key, inputs, tables["heads"])
    seconds = {"forward": made.seconds} | gathered.seconds
    facts = UnitFacts(
        loss=None if losses is None else float(models.mean_loss(losses)[0]),
        tokens=len(unit.ids),
        start=unit.start,
        unseen=[*made.unseen, *swapped.unseen],
        distrusted={**made.distrusted, **swapped.distrusted},
        tapped=made.measurer.tapped,
        bos_losses=bos_losses,
        seconds={name: round(value, 3) for name, value in seconds.items()} | passes,
        **whole_passes,
    )
    return UnitTables(unit.key, tables, facts)


@contextmanager
def settled(model: nn.Module, settings: UnitSettings) -> Iterator[None]:
    """Eval mode, the run's number of threads and its seed; everything is put back."""
    threads = torch.get_num_threads()
    gpus = {weight.device.index for weight in model.parameters() if weight.is_cuda}
    try:
        torch.set_num_threads(settings.threads)
        rng = torch.random.fork_rng(gpus, device_type="cuda")
        with rng, models.in_eval(model), models.uncompiled(), torch.no_grad():
            torch.manual_seed(settings.seed)
            yield
    finally:
        torch.set_num_threads(threads)
