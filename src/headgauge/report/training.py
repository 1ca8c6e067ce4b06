"""Figures of a training's log.

    training  the loss over steps, and when alarms were raised and cleared
    measures  every measure over steps: the smallest, the median and the largest of all heads
    heads     every head when it was last seen

A long log is drawn in parts (`training.log.thinning`), of which a line shows the last, and a band
or the outer lines the extremes.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from headgauge.registry.entry import Entry, Look
from headgauge.registry.measures import MEASURES
from headgauge.registry.training import TRAINED_LINES, TRAINED_ORDER, alarm
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series
from headgauge.report.head_grid import HeadGrid, cells, head_grid
from headgauge.report.head_maps import heat_map, map_figure
from headgauge.runs.schema import HEAD
from headgauge.training.log.thinning import Thinned

_MAPS = ("entropy_share", "max_logit", "separability", "jacobian_norm", "sink_weight")


def training_figures(log: Thinned, run: str) -> dict[str, Callable[[], Figure]]:
    """By name what describes each figure, the overview first; none of what was not logged."""
    if not log.lines:
        return {}
    made = {"training": partial(loss_figure, log, run)}
    if measures(log):
        made |= {"measures": partial(measures_figure, log, run)}
        made |= {"heads": partial(heads_figure, log, run)}
    return made


def measures(log: Thinned) -> list[str]:
    """Those of its measures that some head has, in the order of a list."""
    there = log.measures()
    return [name for name in TRAINED_ORDER if name in there]


def loss_figure(log: Thinned, run: str) -> Figure:
    """The loss, and when alarms were raised (filled) and cleared (hollow)."""
    low, high, last = (numbers(each[:, 0]) for each in log.of_step("loss"))
    entry, band = TRAINED_LINES["loss"], log.width > 1
    line = Series("loss", "loss", entry.look, steps(log), last)
    lines = [replace(line, low=low, high=high) if band else line]
    if band:  # of which one step alone would be hard to see
        most = TRAINED_LINES["maximum"].look
        lines.append(Series("largest", "largest of its part", most, steps(log), high))
    y = Axis(f"loss, {entry.unit}", "loss", can_log=True)
    raised, broken = log.marks(), _broken(log)
    marks = (*broken, *first_alarms(log))
    nothing = "no finite loss was told"
    panels = [Panel("Loss", step_axis(log), y, tuple(lines), marks, empty=nothing)]
    if raised:
        panels.append(_alarms(log, raised))
    told = {
        f"Band: smallest and largest of {log.width} lines.": band,
        "Shaded: the loss is not finite.": broken,
        "Upright lines: the first alarm of each kind, in its colour.": raised,
    }
    caption = tuple(Sentence(words) for words, holds in told.items() if holds)
    return Figure("training", "Loss and alarms", tuple(panels), 1, (), caption, run)


def _broken(log: Thinned) -> tuple[Mark, ...]:
    """From the first step on at which the loss is not finite to the last."""
    there = log.broken()
    if not there:
        return ()
    ends = log.steps[there[0], 0], log.steps[there[-1], 1]
    return (Mark("x band", (float(ends[0]), float(ends[1]))),)


def first_alarms(log: Thinned) -> tuple[Mark, ...]:
    """Where each kind of alarm was raised for the first time."""
    first: dict[str, int] = {}
    for each in log.alarms:
        if each.state == "raised":
            first.setdefault(each.alarm, each.step)
    return tuple(
        Mark("x", (step,), look=Look(alarm(name).look.colour, "dashed"))
        for name, step in first.items()
    )


def _alarms(log: Thinned, raised: Sequence[tuple[str, str, int, int]]) -> Panel:
    """A row for each kind of alarm."""
    kinds = list(dict.fromkeys(name for name, *_ in raised))
    series = []
    for row, kind in enumerate(kinds):
        own = [(state, step, heads) for name, state, step, heads in raised if name == kind]
        states, at, heads = zip(*own, strict=True)
        series.append(
            Series(
                kind,
                kind,
                alarm(kind).look,
                list(at),
                [row] * len(own),
                hollow=[state == "cleared" for state in states],
                facts={"heads": list(heads)},
            )
        )
    y = Axis("", low=len(kinds) - 0.5, high=-0.5, ticks=tuple(enumerate(kinds)))
    title = "Alarms: filled raised, hollow cleared"
    return Panel(title, step_axis(log), y, tuple(series))


def measures_figure(log: Thinned, run: str) -> Figure:
    """A panel for each measure: the smallest, the median and the largest of all heads."""
    panels = []
    for name in measures(log):
        entry = MEASURES[name]
        y = Axis(entry.unit, entry.symbol or entry.title.lower(), low=_low(entry))
        lines = zip(("minimum", "median", "maximum"), log.over_heads(name), strict=True)
        told = {which: numbers(values) for which, values in lines}
        series = [
            Series(which, words.title, words.look, steps(log), told[which])
            for which, words in TRAINED_LINES.items()
            if which in told
        ]
        panels.append(Panel(entry.title, step_axis(log), y, tuple(series)))
    parts = f"Smallest and largest: of each {log.width} lines; median: of the last of them."
    said = {
        parts: log.width > 1,
        "Heads that have no finite number are left out.": any(map(log.lost, measures(log))),
    }
    caption = tuple(Sentence(words) for words, holds in said.items() if holds)
    return Figure("measures", "Measures over steps", tuple(panels), 3, (), caption, run)


def _low(entry: Entry) -> float | None:
    return entry.low if entry.low == 0 else None


def heads_figure(log: Thinned, run: str) -> Figure:
    """The most telling measures of every head when it was last seen."""
    grid, frame = grid_of(log), present(log)
    there = measures(log)
    shown = [name for name in _MAPS if name in there] or there[:1]
    panels = [
        heat_map(
            grid,
            MEASURES[name].title,
            values=cells(grid, frame, name),
            measure=name,
            unit=MEASURES[name].unit,
        )
        for name in shown
    ]
    title = f"{log.heads} attention heads at step {log.steps[-1, 1]}"
    return map_figure("heads", title, grid, panels, run, box=(10.0, 5.0))


def present(log: Thinned) -> pl.DataFrame:
    """A row for each head, with its measures when they were last seen."""
    columns = {name: log.now(name) for name in measures(log)}
    return _named(log).with_columns(pl.Series(name, each) for name, each in columns.items())


def grid_of(log: Thinned) -> HeadGrid:
    return head_grid(_named(log))


def _named(log: Thinned) -> pl.DataFrame:
    modules = [layer["module"] for layer in log.header["layers"]]
    rows = [(layer, 0, modules[layer], head) for layer, head in log.places()]
    return pl.DataFrame(rows, list(HEAD), orient="row")


def step_axis(log: Thinned) -> Axis:
    """The same in every panel, so that they can be read one above the other."""
    first, last = float(log.steps[0, 0]), float(log.steps[-1, 1])
    room = 0.01 * (last - first) or 0.5
    return Axis("optimiser step", "step", low=first - room, high=last + room)


def steps(log: Thinned) -> list[int]:
    return log.steps[:, 1].tolist()


def numbers(values: np.ndarray) -> list[float | None]:
    """None for what is not there or not finite."""
    return [each if np.isfinite(each) else None for each in values.tolist()]
