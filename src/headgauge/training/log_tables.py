"""The lines of a log as tables, some lines at a time: a log may be longer than the memory."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from headgauge.errors import InputError
from headgauge.runs import frame_schema
from headgauge.runs.training_schema import (
    ROW_MEASURES,
    SPECTRA,
    AlarmRow,
    LoggedStepRow,
    TrainedHeadRow,
)
from headgauge.training.log_lines import Layer, Line, Lines

_ROWS, _LINES = 1 << 16, 512  # of heads, of the log, that are handled at once


def batches(lines: Lines) -> Iterator[list[Line]]:
    """The fresh lines, a few at a time, so that none of them is handled alone."""
    heads = sum(layer["heads"] for layer in lines.header["layers"])
    size = min(max(_ROWS // max(heads, 1), 1), _LINES)
    fresh = lines.fresh()
    while batch := list(itertools.islice(fresh, size)):
        yield batch


def values(batch: Sequence[Line], name: str, heads: int, where: str) -> pl.Series | None:
    """A measure of every head in some lines, one line after the other; None if none has it."""
    part = "spectra" if name in SPECTRA else "heads"
    nothing = [[None] * heads]
    given = [(line[part] or {}).get(name) for line in batch]
    if not any(given):
        return None
    numbers = itertools.chain.from_iterable(
        itertools.chain.from_iterable(rows or nothing for rows in given)
    )
    try:
        return pl.Series(name, list(numbers), pl.Float64)
    except (TypeError, OverflowError):
        steps = f"{batch[0]['step']} to {batch[-1]['step']}"
        raise InputError(f"{where} is damaged: {name} has no number, steps {steps}") from None


def head_frame(batch: Sequence[Line], layers: Sequence[Layer], where: str) -> pl.DataFrame:
    """`TrainedHeadRow` of some lines."""
    counts = [layer["heads"] for layer in layers]
    heads = sum(counts)
    steps = np.repeat([line["step"] for line in batch], heads)
    columns: dict[str, pl.Series | np.ndarray | None] = {
        "step": steps,
        "layer": np.tile(np.repeat(np.arange(len(counts)), counts), len(batch)),
        "head": np.tile(np.concatenate([np.arange(count) for count in counts]), len(batch)),
    }
    for name in (*ROW_MEASURES, *SPECTRA):
        columns[name] = values(batch, name, heads, where)
    columns["clip_factor"] = clip_factors(batch, counts)
    empty = {name for name, column in columns.items() if column is None}
    frame = pl.DataFrame({name: columns[name] for name in columns if name not in empty})
    frame = frame.with_columns(pl.lit(None, pl.Float64).alias(name) for name in empty)
    kinds = frame_schema(TrainedHeadRow)
    return frame.select(pl.col(name).cast(kind) for name, kind in kinds.items())


def clip_factors(batch: Sequence[Line], counts: Sequence[int]) -> pl.Series | None:
    """By how much each head was clipped in some lines; None if none was."""
    if not any(line["clipped"] for line in batch):
        return None
    first, heads = [0, *itertools.accumulate(counts)], sum(counts)
    factors: list[float | None] = [None] * (len(batch) * heads)
    for place, line in enumerate(batch):
        for each in line["clipped"]:
            if each["layer"] < len(counts) and each["head"] < counts[each["layer"]]:
                factors[place * heads + first[each["layer"]] + each["head"]] = float(each["factor"])
    return pl.Series(factors, dtype=pl.Float64)


def step_frame(batch: Sequence[Line]) -> pl.DataFrame:
    """`LoggedStepRow` of some lines."""
    rows = [
        (line["step"], line["loss"], line["every"], line["cost"], "\n".join(line["notes"]) or None)
        for line in batch
    ]
    return pl.DataFrame(rows, frame_schema(LoggedStepRow), orient="row")


def alarm_frame(batch: Sequence[Line]) -> pl.DataFrame:
    """`AlarmRow` of some lines."""
    columns = ("alarm", "layer", "head", "value", "state")
    rows = [
        (line["step"], *(alarm[name] for name in columns))
        for line in batch
        for alarm in line["alarms"]
    ]
    return pl.DataFrame(rows, frame_schema(AlarmRow), orient="row")
