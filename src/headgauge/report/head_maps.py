"""Layer × head heat maps of a scan.

    heads           the overview: the most telling measures and the verdicts side by side
    verdicts        which head has which verdict
    entropy, …      one figure for each measure of `heads`
    separability, … one figure for each measure of `curves`, a panel for each N

A choice of vectors and keys other than unit values and visible keys is part of a figure's name, and
a measure that is null for every head has no figure.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from headgauge.registry.measures import CURVE_MEASURES, HEAD_MEASURES, MEASURES
from headgauge.registry.names import USUAL, choice_words
from headgauge.registry.published import CHOICE
from headgauge.report.figure import Axis, Figure, HeatMap, Sentence
from headgauge.report.head_grid import HeadGrid, cells, head_grid
from headgauge.runs.schema import HEAD
from headgauge.scanning.summary import curves_over_windows, heads_over_windows

OVERVIEW = ("entropy_share", "sink_weight", "separability", "jacobian_norm", "output_ratio")
OVERVIEW_N = 16
MOST_PANELS = 8
_CELL_MOST = 0.32  # inches, as all below
_BESIDE, _AROUND = 0.3, 1.0  # a panel's numbers, and what stands above and below it
_EDGE = 0.7
_NARROWEST = 4.4


def head_maps(
    heads: pl.DataFrame, curves: pl.DataFrame, verdicts: pl.DataFrame, run: str
) -> dict[str, Callable[[], Figure]]:
    """By name what describes each figure, at the longest length, the overview first."""
    length = heads["length"].max()
    if heads["length"].n_unique() > 1:
        run = f"{run}; shown at L = {length}"
    heads, curves, verdicts = (
        frame.filter(pl.col("length") == length) for frame in (heads, curves, verdicts)
    )
    ends = dict.fromkeys(f"{end}" for end in (heads["rows"].min(), heads["rows"].max()))
    run = f"{run}; {' to '.join(ends)} query rows a head and window"
    grid, means, over_n = head_grid(heads), heads_over_windows(heads), curves_over_windows(curves)
    made: dict[str, Callable[[], Figure]] = {
        "heads": partial(overview, grid, means, over_n, verdicts, run),
        "verdicts": partial(verdict_figure, grid, verdicts, run),
    }
    for name in HEAD_MEASURES:
        if _seen(means, name):
            made[name] = partial(measure_figure, grid, means, name, run)
    for choice in over_n.select(CHOICE).unique(maintain_order=True).rows():
        own = over_n.filter(**dict(zip(CHOICE, choice, strict=True)))
        suffix = "" if choice == USUAL else "-" + "-".join(choice)
        for name in CURVE_MEASURES:
            if _seen(own, name):
                made[name + suffix] = partial(curve_figure, grid, own, name, run)
    return made


def overview(
    grid: HeadGrid, heads: pl.DataFrame, curves: pl.DataFrame, verdicts: pl.DataFrame, run: str
) -> Figure:
    """The most telling measures and the verdicts, side by side."""
    curves = usual_choice(curves)
    ns = curves["top_n"].unique().sort()
    nearest = min(ns, key=lambda n: abs(n - OVERVIEW_N), default=OVERVIEW_N)
    panels = []
    for name in OVERVIEW:
        if _seen(heads, name):
            panels.append(_map(grid, heads, name, MEASURES[name].title, MEASURES[name].unit))
        elif _seen(curves, name):
            unit = f"N = {nearest}; {MEASURES[name].unit}"
            at_n = curves.filter(top_n=nearest)
            panels.append(_map(grid, at_n, name, MEASURES[name].title, unit))
    panels.append(_verdict_map(grid, verdicts, "Verdicts", "a stripe and a letter for each"))
    title = f"{int(grid.exists.sum())} attention heads in {grid.shape[0]} layers"
    return _figure("heads", title, grid, panels, run, box=(10.0, 5.0))


def verdict_figure(grid: HeadGrid, verdicts: pl.DataFrame, run: str) -> Figure:
    """The verdicts alone, every cell large enough for its letters."""
    unit = "a stripe and a letter for each that a head has"
    panel = _verdict_map(grid, verdicts, "", unit)
    return _figure("verdicts", "Verdicts", grid, [panel], run, least=0.1)


def measure_figure(grid: HeadGrid, heads: pl.DataFrame, name: str, run: str) -> Figure:
    """One measure, one panel."""
    panel = _map(grid, heads, name, "", MEASURES[name].unit)
    return _figure(name, MEASURES[name].title, grid, [panel], run)


def curve_figure(grid: HeadGrid, curves: pl.DataFrame, name: str, run: str) -> Figure:
    """One measure of the curves of a choice, a panel for each N, all with the same colours."""
    seen = curves.filter(pl.col(name).is_not_null())
    if name == "separability" and seen["top_n"].n_unique() > 1:
        seen = seen.filter(pl.col("top_n") > 1)  # at N = 1 it is 1 by definition
    panels = [_map(grid, seen.filter(top_n=n), name, f"N = {n}", "") for n in _chosen_ns(seen)]
    told = f"{MEASURES[name].unit}; {choice_words(curves.select(CHOICE).row(0))}."
    return _figure(name, MEASURES[name].title, grid, panels, run, told=told, box=(9.0, 5.0))


def usual_choice(curves: pl.DataFrame) -> pl.DataFrame:
    """The curves of unit values and visible keys, or of the first choice there is."""
    choices = curves.select(CHOICE).unique(maintain_order=True).rows()
    choice = USUAL if USUAL in choices or not choices else choices[0]
    return curves.filter(**dict(zip(CHOICE, choice, strict=True)))


def _seen(frame: pl.DataFrame, name: str) -> bool:
    return name in frame.columns and frame[name].is_not_null().any()


def _chosen_ns(curves: pl.DataFrame) -> list[int]:
    """Every N, or as many as a sheet holds, in even ratios from the least to the largest."""
    there = np.array(sorted(curves["top_n"].unique()))
    if len(there) <= MOST_PANELS:
        return there.tolist()
    wanted = np.geomspace(there[0], there[-1], MOST_PANELS)
    return sorted({int(there[np.abs(np.log(there / each)).argmin()]) for each in wanted})


def _map(grid: HeadGrid, frame: pl.DataFrame, name: str, title: str, unit: str) -> HeatMap:
    return _heat_map(grid, title, values=cells(grid, frame, name), measure=name, unit=unit)


def _verdict_map(grid: HeadGrid, verdicts: pl.DataFrame, title: str, unit: str) -> HeatMap:
    found: list[list[list[str]]] = [[[] for _ in grid.column_of] for _ in grid.labels]
    for *module, head, verdict in verdicts.select(*HEAD, "verdict").rows():
        found[grid.row_of[tuple(module)]][grid.column_of[head]].append(verdict)
    return _heat_map(grid, title, values=(), measure="", verdicts=found, unit=unit)


def _heat_map(grid: HeadGrid, title: str, **more: Any) -> HeatMap:
    absent = tuple((row, column) for row, column in np.argwhere(~grid.exists).tolist())
    columns = tuple(map(str, grid.column_of))
    axes = Axis("head", "head"), Axis("layer", "layer")
    return HeatMap(title, *axes, columns, grid.labels, absent=absent, blocks=grid.blocks, **more)


def _figure(
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
    rows, columns = grid.shape

    def cell(across: int) -> tuple[float, float]:
        down = math.ceil(len(panels) / across)
        wide = ((box[0] - _EDGE) / across - _BESIDE) / columns
        return min(wide, _CELL_MOST), min((box[1] - _AROUND * (down - 1)) / down / rows, _CELL_MOST)

    # No ragged last row where a whole one does as well.
    across = max(
        range(1, len(panels) + 1),
        key=lambda n: min(cell(n)) * (1.0 if len(panels) % n == 0 else 0.85),
    )
    side = max(min(cell(across)), least)
    # Cells need not be square: the short way of a lopsided grid takes some of the room.
    wide, high = (max(min(length, 2 * side), side) for length in cell(across))
    width = max(_EDGE + across * (wide * columns + _BESIDE), _NARROWEST)
    return Figure(
        name,
        title,
        tuple(panels),
        across,
        caption=(Sentence(told),) if told else (),
        run=run,
        width=width,
        panel_height=high * rows,
        one_scale=bool(told),
        on_page=False,
    )
