"""The figures of a scan, one by one; `heat_maps` says which there are."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import polars as pl
from jaxtyping import Float
from matplotlib.figure import Figure

from headgauge.report.compose import Panel, compose
from headgauge.report.head_grid import HeadGrid, cells, head_grid
from headgauge.report.verdict_map import told
from headgauge.report.words import CURVE_MEASURES, HEAD_MEASURES, Measure

OVERVIEW = ("entropy_share", "sink_weight", "separability", "jacobian_norm", "output_ratio")
OVERVIEW_N = 16
MOST_PANELS = 8
CHOICE = ("vectors", "scale", "keys")
USUAL = ("value", "unit", "visible")

Values = Float[np.ndarray, "rows heads"]


def figures(
    heads: pl.DataFrame, curves: pl.DataFrame, verdicts: pl.DataFrame, caption: str
) -> Iterator[tuple[str, Figure]]:
    """Each figure with its name, one at a time."""
    for name, make in figure_makers(heads, curves, verdicts, caption):
        yield name, make()


def figure_makers(
    heads: pl.DataFrame, curves: pl.DataFrame, verdicts: pl.DataFrame, caption: str
) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """Each figure's name and what draws it."""
    length = heads["length"].max()
    if heads["length"].n_unique() > 1:
        caption = f"{caption}; shown at L = {length}"
    heads, curves, verdicts = (
        frame.filter(pl.col("length") == length) for frame in (heads, curves, verdicts)
    )
    caption = f"{caption}; {_rows_words(heads)}"
    grid = head_grid(heads)
    maps = {
        name: cells(grid, heads, name, measure)
        for name, measure in HEAD_MEASURES.items()
        if name in heads.columns and heads[name].is_not_null().any()
    }
    yield "heads", partial(overview, grid, maps, curves, verdicts, caption)
    yield "verdicts", partial(verdict_figure, grid, verdicts, caption)
    for name, values in maps.items():
        yield name, partial(measure_figure, grid, values, HEAD_MEASURES[name], caption)
    for choice in curves.select(CHOICE).unique(maintain_order=True).rows():
        chosen = curves.filter(**dict(zip(CHOICE, choice, strict=True)))
        for name in CURVE_MEASURES:
            if chosen[name].is_not_null().any():
                suffix = "" if choice == USUAL else "-" + "-".join(choice)
                yield name + suffix, partial(curve_figure, grid, chosen, name, choice, caption)


def _rows_words(heads: pl.DataFrame) -> str:
    ends = dict.fromkeys(f"{end}" for end in (heads["rows"].min(), heads["rows"].max()))
    return f"{' to '.join(ends)} query rows a head and window"


def overview(
    grid: HeadGrid,
    maps: dict[str, Values],
    curves: pl.DataFrame,
    verdicts: pl.DataFrame,
    caption: str,
) -> Figure:
    """The most telling measures and the verdicts, side by side."""
    at_n = _overview_curves(curves)
    panels = []
    for name in OVERVIEW:
        if name in maps:
            measure = HEAD_MEASURES[name]
            panels.append(Panel(measure.title, measure.unit, measure, maps[name]))
        elif name in CURVE_MEASURES and at_n[name].is_not_null().any():
            measure = CURVE_MEASURES[name]
            unit = f"N = {at_n['top_n'][0]}; {measure.unit}"
            panels.append(Panel(measure.title, unit, measure, cells(grid, at_n, name, measure)))
    panels.append(Panel("Verdicts", "a stripe and a letter for each", None, None))
    title = f"{int(grid.exists.sum())} attention heads in {grid.shape[0]} layers"
    return compose(grid, panels, title, "", caption, told(grid, verdicts), box=(10.0, 6.2))


def verdict_figure(grid: HeadGrid, verdicts: pl.DataFrame, caption: str) -> Figure:
    """The verdicts alone, every cell large enough for its letters."""
    unit = "a stripe and a letter for each that a head has"
    found = told(grid, verdicts)
    panel = Panel("", "", None, None)
    return compose(grid, [panel], "Verdicts", unit, caption, found, cell_least=0.1)


def measure_figure(grid: HeadGrid, values: Values, measure: Measure, caption: str) -> Figure:
    """One measure, one panel."""
    return compose(grid, [Panel("", "", measure, values)], measure.title, measure.unit, caption)


def curve_figure(
    grid: HeadGrid, curves: pl.DataFrame, name: str, choice: tuple[str, ...], caption: str
) -> Figure:
    """One measure of the curves, a panel for each N, all with the same colours."""
    measure = CURVE_MEASURES[name]
    panels = []
    seen = curves.filter(pl.col(name).is_not_null())
    if name == "separability" and seen["top_n"].n_unique() > 1:
        seen = seen.filter(pl.col("top_n") > 1)  # at N = 1 it is 1 by definition
    for n in _chosen_ns(seen):
        values = cells(grid, curves.filter(pl.col("top_n") == n), name, measure)
        panels.append(Panel(f"N = {n}", "", measure, values))
    vectors, scale, keys = choice
    unit = f"{measure.unit}; {vectors} vectors of {scale} length, {keys} keys"
    return compose(grid, panels, measure.title, unit, caption, box=(9.0, 6.0), one_scale=True)


def _chosen_ns(curves: pl.DataFrame) -> list[int]:
    """Every N, or as many as a sheet holds, in even ratios from the least to the largest."""
    there = np.array(sorted(curves["top_n"].unique()))
    if len(there) <= MOST_PANELS:
        return there.tolist()
    wanted = np.geomspace(there[0], there[-1], MOST_PANELS)
    return sorted({int(there[np.abs(np.log(there / each)).argmin()]) for each in wanted})


def _overview_curves(curves: pl.DataFrame) -> pl.DataFrame:
    """The usual choice at the N nearest to `OVERVIEW_N`."""
    _, chosen = usual_choice(curves)
    if chosen.is_empty():
        return chosen
    nearest = min(chosen["top_n"].unique().sort(), key=lambda n: abs(n - OVERVIEW_N))
    return chosen.filter(pl.col("top_n") == nearest)


def usual_choice(curves: pl.DataFrame) -> tuple[tuple[str, ...], pl.DataFrame]:
    """Unit values and visible keys, or the first choice there is, and its curves."""
    choices = curves.select(CHOICE).unique(maintain_order=True).rows()
    choice = USUAL if USUAL in choices or not choices else choices[0]
    return choice, curves.filter(**dict(zip(CHOICE, choice, strict=True)))
