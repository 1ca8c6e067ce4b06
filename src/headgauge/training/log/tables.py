"""The lines of a log as tables, some lines at a time: a log may be longer than the memory."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

from headgauge.runs import frame_schema
from headgauge.runs.training_schema import HEAD_NUMBERS, AlarmRow, LoggedStepRow, TrainedHeadRow
from headgauge.training.log.batches import Batch


def head_frame(batch: Batch, counts: Sequence[int]) -> pl.DataFrame:
    """`TrainedHeadRow` of some lines; `counts` are the heads of each layer."""
    heads, lines = sum(counts), len(batch.step)
    places: dict[str, Any] = {
        "step": np.repeat(batch.step, heads),
        "layer": np.tile(np.repeat(np.arange(len(counts)), counts), lines),
        "head": np.tile(np.concatenate([np.arange(count) for count in counts]), lines),
    }
    nothing = pl.Series([None], dtype=pl.Float64).new_from_index(0, lines * heads)
    numbers = {name: batch.heads.get(name, nothing) for name in HEAD_NUMBERS}
    return pl.DataFrame(places | numbers, frame_schema(TrainedHeadRow))


def step_frame(batch: Batch, _counts: Sequence[int]) -> pl.DataFrame:
    """`LoggedStepRow` of some lines."""
    notes: dict[int, str] = {}
    for step, note in batch.notes:
        notes[step] = f"{notes[step]}\n{note}" if step in notes else note
    told = [notes.get(step) for step in batch.step]
    columns = batch.step, batch.loss, batch.every, batch.cost, told
    return pl.DataFrame(list(columns), frame_schema(LoggedStepRow), orient="col")


def alarm_frame(batch: Batch, _counts: Sequence[int]) -> pl.DataFrame:
    """`AlarmRow` of some lines."""
    columns = ("alarm", "layer", "head", "value", "state")
    rows = [(step, *(alarm[name] for name in columns)) for step, alarm in batch.alarms]
    return pl.DataFrame(rows, frame_schema(AlarmRow), orient="row")


FRAMES: dict[str, Callable[[Batch, Sequence[int]], pl.DataFrame]] = {
    "heads": head_frame,
    "steps": step_frame,
    "alarms": alarm_frame,
}
