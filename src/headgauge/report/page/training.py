"""The page of a training's log: a slider over its steps, a map, a head and lines that follow."""

from typing import Any

import numpy as np

from headgauge.registry import names
from headgauge.registry.training import TRAINED_LINES, alarm
from headgauge.report.figure import Axis, Figure, Panel, Series
from headgauge.report.page import parts
from headgauge.report.page.heads import head_words
from headgauge.report.page.parts import Column, Page, Part, notes, section, table, text
from headgauge.report.page.values import plain, short
from headgauge.report.training import (
    grid_of,
    loss_figure,
    measures,
    measures_figure,
    step_axis,
    steps,
)
from headgauge.runs.training_schema import SPECTRA
from headgauge.training.log.reading import TrainingLog
from headgauge.training.log.thinning import Raised, Thinned
from headgauge.training.log.words import head, spoken_of

_LISTED = 300  # alarms in the list; the tables have them all
_ALARMS = (
    Column("Step", "step", "link", sorts=True),
    Column("Alarm", "alarm"),
    Column("Head", "head"),
    Column("Value", "value", "number", 4, "Of the measure that the alarm looks at"),
    Column("State", "state"),
)


def training_page(run: TrainingLog) -> Page:
    log = run.thinned()
    return Page(
        title="headgauge: a training's attention heads",
        caption=run.caption(),
        warnings=[],
        stands=run.stands(),
        overview=[*parts.opening("training", run.finding()), notes(run.notes())],
        sections=[_training(log), _header(run)],
    )


def _training(log: Thinned) -> Part:
    there = measures(log)
    said = text(
        "The slider goes over the logged steps: the map shows every head at its step, a letter "
        "where an alarm is raised. Press a head for its own line."
    )
    drawn = trained_part(log, there) if there else None
    nothing = None if there else text("No measure of a head was logged.")
    return section("training", "Training", "Heads over the steps", said, drawn, nothing)


def _header(run: TrainingLog) -> Part:
    shown = {"kind": "manifest", "manifest": dict(run.header), "file": "log.jsonl, its first line"}
    return section("manifest", "Header", "What was watched, and how", shown)


def trained_part(log: Thinned, there: list[str]) -> Part:
    """Heads are numbered as on the map, by row; every list of them goes by that number."""
    grid = grid_of(log)
    column = {place: number for number, place in enumerate(log.places())}
    order = [column[layer, number] for layer, _, _, number in grid.places]
    number_of = {place: number for number, place in enumerate(order)}
    held: dict[str, Any] = {}
    for name in there:
        low, high, last = (_told(each[:, order]) for each in log.of_heads(name))
        # A part of one line has no extremes of its own.
        held[name] = {"last": last} | ({"low": low, "high": high} if log.width > 1 else {})
        held[name] |= {"rare": True} if name in SPECTRA else {}
    return {
        "kind": "trained",
        "steps": steps(log),
        "rows": list(grid.rows),
        "columns": list(grid.columns),
        "blocks": [list(block) for block in grid.blocks],
        "place": [list(place) for place in grid.places.values()],
        "names": [head_words(*each) for each in grid.places],
        "links": [names.head_name(each[0], each[1], each[3]) for each in grid.places],
        "module": [each[2] for each in grid.places],
        "measures": held,
        "first": spoken_of(log) or there[0],
        "marks": [_mark(each, column, number_of) for each in log.alarms],
        "letters": {name: alarm(name).letter for name in log.counts},
        "alarms": _alarms(log),
        "above": [plain(loss_figure(log, ""))],
        "figures": [plain(measures_figure(log, ""))],
        "figure": plain(_template(log)),
    }


def _told(part: np.ndarray) -> list[list[Any]]:
    return [[short(each) for each in row] for row in part.tolist()]


def _mark(each: Raised, column: dict[tuple[int, int], int], number_of: dict[int, int]) -> list[Any]:
    """Step, alarm, state and the head's number; null where it is no head's."""
    at = (each.layer, each.head)
    known = column.get((at[0], at[1])) if at[0] is not None and at[1] is not None else None
    return [each.step, each.alarm, each.state, None if known is None else number_of[known]]


def _alarms(log: Thinned) -> Part | None:
    rows = [
        {
            "step": [number, f"{each.step}"],
            "alarm": each.alarm,
            "head": head(each.layer, each.head),
            "value": each.value,
            "state": each.state,
        }
        for number, each in enumerate(log.alarms[:_LISTED])
    ]
    more = len(log.alarms) - len(rows)
    told = f"The first {len(rows)}; {more} more are in alarms.parquet." if more > 0 else None
    label = "Alarms, raised and cleared"
    look = "dense one-line"
    return table(_ALARMS, rows, label, title=label, id="alarms", look=look, tall=True, text=told)


def _template(log: Thinned) -> Figure:
    """A head's own line, with names where its numbers come; of parts also their extremes."""
    lines = {"last": ("this head", "median")}
    if log.width > 1:
        lines |= {"high": ("largest of its part", "maximum")}
        lines |= {"low": ("smallest of its part", "minimum")}
    series = [
        Series(name, label, TRAINED_LINES[look].look, "steps", name)
        for name, (label, look) in lines.items()
    ]
    panel = Panel("", step_axis(log), Axis("", "value"), tuple(series), empty="no finite number")
    return Figure("own", "One head over steps", (panel,), 1)
