"""Layer × head heat maps of a scan.

    heads           the overview: the most telling measures and the verdicts side by side
    verdicts        which head has which verdict
    roles           which head has which role
    entropy, …      one figure for each measure of `heads`; those of `ON_REQUEST` are many, and
                    drawn only where they are asked for
    separability, … one figure for each measure of `curves`, a panel for each N
    spans           the weight on parts of the text, a panel for each

A choice of vectors and keys other than unit values and visible keys is part of a figure's name, and
a measure that is null for every head has no figure.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from headgauge.registry.measures import (
    CURVE_MEASURES,
    HEAD_MEASURES,
    MEASURES,
    ROLE_MEASURES,
    number,
)
from headgauge.registry.names import USUAL, choice_words
from headgauge.registry.published import CHOICE
from headgauge.report.captions import longest, span
from headgauge.report.figure import Axis, Figure, HeatMap, Sentence
from headgauge.report.head_grid import HeadGrid, cells, head_grid
from headgauge.runs.schema import HEAD
from headgauge.scanning.summary import curves_over_windows, heads_over_windows, spans_over_windows
from headgauge.scanning.verdicts import is_sampled

OVERVIEW = ("entropy_share", "sink_weight", "separability", "jacobian_norm", "output_ratio")
ON_REQUEST = ROLE_MEASURES.keys() - {"effect"}
USUAL_N = 16
MOST_PANELS = 8
_CELL_MOST = 0.32  # inches, as all below
_BESIDE, _AROUND = 0.3, 1.0  # a panel's numbers, and what stands above and below it
_EDGE, _LETTER = 0.6, 0.055  # beside all panels, and for each letter of a row's name
_NARROWEST = 4.4


def head_maps(
    heads: pl.DataFrame,
    curves: pl.DataFrame,
    verdicts: pl.DataFrame,
    roles: pl.DataFrame,
    run: str,
) -> dict[str, Callable[[], Figure]]:
    """By name what describes each figure, at the longest length, the overview first."""
    several = heads["length"].n_unique() > 1
    length, (heads, curves, verdicts, roles) = at_longest(heads, curves, verdicts, roles)
    run += f"; shown at L = {length}" * several
    if not is_sampled(heads):  # whose run says it already
        run += f"; {span(heads['rows'], ' to ')} query rows a head and window"
    grid, means, over_n = head_grid(heads), heads_over_windows(heads), curves_over_windows(curves)

    def of_measure(name: str) -> Figure:
        panel = _map(grid, means, name, "", MEASURES[name].unit)
        return map_figure(name, MEASURES[name].title, grid, [panel], run)

    def of_verdicts() -> Figure:
        """Every cell large enough for its letters."""
        panel = mark_map(grid, verdicts, "", "a stripe and a letter for each verdict of a head")
        return map_figure("verdicts", "Verdicts of every head", grid, [panel], run, least=0.1)

    def of_roles() -> Figure:
        panel = mark_map(grid, roles, "", "what a head does, a letter each", "role")
        return map_figure("roles", "Role of every head", grid, [panel], run, least=0.1)

    made: dict[str, Callable[[], Figure]] = {
        "heads": partial(_overview, grid, means, over_n, verdicts, run),
        "verdicts": of_verdicts,
    }
    if _seen(roles, "role"):
        made["roles"] = of_roles
    made |= {name: partial(of_measure, name) for name in HEAD_MEASURES if _seen(means, name)}
    for choice, own in by_choice(over_n):
        suffix = "" if choice == USUAL else "-" + "-".join(choice)
        for name in CURVE_MEASURES:
            if _seen(own, name):
                made[name + suffix] = partial(_curve_figure, grid, own, name, run)
    return made


def at_longest(heads: pl.DataFrame, *others: pl.DataFrame) -> tuple[Any, list[pl.DataFrame]]:
    """The largest L that heads were measured at, and the rows of every table there."""
    length = heads["length"].max()
    return length, [each.filter(pl.col("length") == length) for each in (heads, *others)]


def by_choice(curves: pl.DataFrame) -> list[tuple[tuple[str, ...], pl.DataFrame]]:
    """The curves of each choice of vectors and keys, unit values and visible keys first."""
    parts = curves.partition_by(CHOICE, as_dict=True, maintain_order=True)
    return sorted(parts.items(), key=lambda part: part[0] != USUAL)


def usual_choice(curves: pl.DataFrame) -> pl.DataFrame:
    """The curves of unit values and visible keys, or of the first choice there is."""
    return next((own for _, own in by_choice(curves)), curves)


def some_ns(there: Sequence[int], most: int) -> list[int]:
    """At most so many N in even ratios, the least, the largest and 16 among them."""
    if len(there) <= most:
        return list(there)
    known = np.array(there)
    wanted = np.geomspace(known[0], known[-1], most)
    chosen = [int(known[np.abs(np.log(known / each)).argmin()]) for each in wanted]
    if USUAL_N in there and USUAL_N not in chosen:
        inner = range(1, len(chosen) - 1)
        nearest = min(inner, key=lambda place: abs(np.log(chosen[place] / USUAL_N)))
        chosen[nearest] = USUAL_N
    return sorted(set(chosen))


def _overview(
    grid: HeadGrid, heads: pl.DataFrame, curves: pl.DataFrame, verdicts: pl.DataFrame, run: str
) -> Figure:
    """The most telling measures and the verdicts, side by side."""
    curves = usual_choice(curves)
    nearest = min(curves["top_n"].unique().sort(), key=lambda n: abs(n - USUAL_N), default=USUAL_N)
    at_n = curves.filter(top_n=nearest)
    panels = []
    for name in OVERVIEW:
        title, unit = MEASURES[name].title, MEASURES[name].unit
        if _seen(heads, name):
            panels.append(_map(grid, heads, name, title, unit))
        elif _seen(curves, name):
            panels.append(_map(grid, at_n, name, title, f"N = {nearest}; {unit}"))
    panels.append(mark_map(grid, verdicts, "Verdicts", "a stripe and a letter for each"))
    title = f"{len(grid.places)} attention heads in {len(grid.rows)} layers"
    return map_figure("heads", title, grid, panels, run, box=(10.0, 5.0))


def _curve_figure(grid: HeadGrid, curves: pl.DataFrame, name: str, run: str) -> Figure:
    """One measure of the curves of a choice, a panel for each N, all with the same colours."""
    seen = curves.filter(pl.col(name).is_not_null())
    if name == "separability" and seen["top_n"].n_unique() > 1:
        seen = seen.filter(pl.col("top_n") > 1)  # at N = 1 it is 1 by definition
    ns = some_ns(seen["top_n"].unique().sort().to_list(), MOST_PANELS)
    panels = [_map(grid, seen.filter(top_n=n), name, f"N = {n}", "") for n in ns]
    told = f"{MEASURES[name].unit}; {choice_words(curves.select(CHOICE).row(0))}."
    return map_figure(name, MEASURES[name].title, grid, panels, run, told=told, box=(9.0, 5.0))


def spans_figure(heads: pl.DataFrame, spans: pl.DataFrame, run: str) -> Figure | None:
    """The weight on each part of the text at the longest length; None where there is none."""
    _, (heads, spans) = at_longest(heads, spans)
    grid, panels = head_grid(heads), []
    for name, own in by_span(spans):
        uniform = number(own.select(pl.mean("uniform")).item(), "uniform")
        there = f"tokens: {span(own['tokens'], ' to ')}; if uniform: {uniform}"
        panels.append(_map(grid, own, "mass", name, there))
    if not panels:
        return None
    told = "Of a row's weights the sum over the keys of each; rows that see none are left out."
    return map_figure("spans", "Weight on spans", grid, panels, run, told=told, box=(9.0, 5.0))


def by_span(spans: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Each span over windows, at the longest length: in the order of the text as far as rows tell,
    which see what stands before them, then the classes."""
    by, means = ("kind", "span"), spans_over_windows(longest(spans))
    seen = pl.max("rows").over(by)
    ordered = means.sort(pl.col("kind") == "class", -seen, "span", maintain_order=True)
    return [(own["span"][0], own) for own in ordered.partition_by(by, maintain_order=True)]


def _seen(frame: pl.DataFrame, name: str) -> bool:
    return name in frame.columns and frame[name].is_not_null().any()


def _map(grid: HeadGrid, frame: pl.DataFrame, name: str, title: str, unit: str) -> HeatMap:
    return heat_map(grid, title, values=cells(grid, frame, name), measure=name, unit=unit)


def mark_map(
    grid: HeadGrid, marks: pl.DataFrame, title: str, unit: str = "", name: str = "verdict"
) -> HeatMap:
    """Which head has which verdicts, or which role."""
    found: list[list[list[str]]] = [[[] for _ in grid.columns] for _ in grid.rows]
    for *head, mark in marks.drop_nulls(name).select(*HEAD, name).rows():
        row, column = grid.places[tuple(head)]
        found[row][column].append(mark)
    return heat_map(grid, title, values=(), measure="", verdicts=found, unit=unit)


def heat_map(grid: HeadGrid, title: str, **more: Any) -> HeatMap:
    """Cells where the grid has heads; `more` is what `HeatMap` takes."""
    axes, columns = (Axis("head", "head"), Axis("layer", "layer")), tuple(map(str, grid.columns))
    more |= {"absent": grid.absent(), "blocks": grid.blocks}
    return HeatMap(title, *axes, columns, grid.rows, **more)


def map_figure(
    name: str,
    title: str,
    grid: HeadGrid,
    panels: Sequence[HeatMap],
    run: str,
    *,
    told: str = "",
    box: tuple[float, float] = (6.0, 5.0),
    least: float = 0.03,
) -> Figure:
    """The figure with the largest cells that fits the box; it grows if they would be too small."""
    rows, columns = len(grid.rows), len(grid.columns)
    edge = _EDGE + _LETTER * max(map(len, grid.rows))

    def cell(across: int) -> tuple[float, float]:
        down = math.ceil(len(panels) / across)
        wide = ((box[0] - edge) / across - _BESIDE) / columns
        return min(wide, _CELL_MOST), min((box[1] - _AROUND * (down - 1)) / down / rows, _CELL_MOST)

    # No ragged last row where a whole one does as well.
    across = max(
        range(1, len(panels) + 1),
        key=lambda n: min(cell(n)) * (1.0 if len(panels) % n == 0 else 0.85),
    )
    side = max(min(cell(across)), least)
    # Cells need not be square: the short way of a lopsided grid takes some of the room.
    wide, high = (max(min(length, 2 * side), side) for length in cell(across))
    return Figure(
        name,
        title,
        tuple(panels),
        across,
        caption=(Sentence(told),) if told else (),
        run=run,
        width=max(edge + across * (wide * columns + _BESIDE), _NARROWEST),
        panel_height=high * rows,
        one_scale=bool(told),
    )
