"""Some lines of a log together, number by number: what tables and parts are made from."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from headgauge.errors import InputError
from headgauge.runs.training_schema import ROW_MEASURES, SPECTRA
from headgauge.training.log.lines import Alarm, Line


@dataclass(frozen=True, eq=False)
class Batch:
    """Lists go by line. A column of `heads` has a number for each head of each line, in this order,
    null where there is none; one that no line has is not there."""

    step: list[int]
    loss: list[float | None]
    every: list[int]
    cost: list[float | None]
    heads: dict[str, pl.Series]
    alarms: list[tuple[int, Alarm]] = field(default_factory=list)  # with their steps
    notes: list[tuple[int, str]] = field(default_factory=list)


def batch_of(lines: Sequence[Line], counts: Sequence[int], where: str) -> Batch:
    """Lines as they were read; `counts` are the heads of each layer."""
    columns = {name: _column(lines, name, sum(counts), where) for name in (*ROW_MEASURES, *SPECTRA)}
    columns["clip_factor"] = _clip_factors(lines, counts)
    return Batch(
        [line["step"] for line in lines],
        [line["loss"] for line in lines],
        [line["every"] for line in lines],
        [line["cost"] for line in lines],
        {name: column for name, column in columns.items() if column is not None},
        [(line["step"], each) for line in lines for each in line["alarms"]],
        [(line["step"], each) for line in lines for each in line["notes"]],
    )


def _column(lines: Sequence[Line], name: str, heads: int, where: str) -> pl.Series | None:
    part = "spectra" if name in SPECTRA else "heads"
    nothing = [[None] * heads]
    given = [(line[part] or {}).get(name) for line in lines]
    if not any(given):
        return None
    numbers = itertools.chain.from_iterable(
        itertools.chain.from_iterable(rows or nothing for rows in given)
    )
    try:
        return pl.Series(name, list(numbers), pl.Float64)
    except (TypeError, OverflowError):
        steps = f"between steps {lines[0]['step']} and {lines[-1]['step']}"
        raise InputError(f"{where} is damaged: {name} has no number {steps}") from None


def _clip_factors(lines: Sequence[Line], counts: Sequence[int]) -> pl.Series | None:
    if not any(line["clipped"] for line in lines):
        return None
    first, heads = [0, *itertools.accumulate(counts)], sum(counts)
    factors: list[float | None] = [None] * (len(lines) * heads)
    for place, line in enumerate(lines):
        for each in line["clipped"]:
            if each["layer"] < len(counts) and each["head"] < counts[each["layer"]]:
                at = place * heads + first[each["layer"]] + each["head"]
                factors[at] = float(each["factor"])
    return pl.Series("clip_factor", factors, pl.Float64)
