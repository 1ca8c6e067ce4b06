"""The figures of a simulation: which panels, which legends, which words."""

import math
from collections.abc import Callable, Iterator
from functools import partial

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from headgauge.report.dynamics.collapse import collapse_words, draw_collapse
from headgauge.report.dynamics.gamma import (
    EXPONENTIAL,
    POLYNOMIAL,
    draw_gamma,
    draw_gap,
    draw_gap_over_log,
    gamma_handles,
)
from headgauge.report.dynamics.looks import SCHEME_LOOKS, scheme_handles, schemes_in
from headgauge.report.dynamics.over_time import draw_over_time, ratios_if_wide
from headgauge.report.dynamics.overview import overview
from headgauge.report.dynamics.phase import BAR_ROOM, colour_bar, draw_phase, half_handle
from headgauge.report.dynamics.rates import QUANTITIES, SHARE, draw_rates, rate_handles
from headgauge.report.dynamics.rows import ROW
from headgauge.report.dynamics.selecting import (
    WEIGHTS,
    baseline_words,
    kinds_of,
    of_kind,
    one_setup,
    setup_words,
)
from headgauge.report.dynamics.swarms import MEASURES, band_words, draw_swarm, swarm_words
from headgauge.report.paper.looks import PAGE
from headgauge.report.paper.page import LEGEND_LINE, legend_below, open_page, small_print, title

Tables = dict[str, pl.DataFrame]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LEGEND_COLUMNS = 7
_MANY = 6  # columns: with more there is less room for their titles


def sheets(tables: Tables, caption: str) -> Iterator[tuple[str, Figure]]:
    """Each figure with its name, the overview first; of a table without rows there is none."""
    for name, make in sheet_makers(tables, caption):
        yield name, make()


def sheet_makers(tables: Tables, caption: str) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """Each figure's name and what draws it."""
    if any(tables[name].height for name in ("curves", "swarms", "phase")):
        yield "dynamics", partial(overview, tables, caption)
    for name, draw in _FIGURES.items():
        table = tables["curves" if name == "gamma" else name]
        if table.height:
            yield name, partial(draw, table, caption)


def gamma_figure(curves: pl.DataFrame, caption: str) -> Figure:
    """γ, its gap in two ways, and what moves it: velocity, ‖A‖ and r."""
    curves = one_setup(curves)
    small = small_print(
        caption,
        f"tokens at equal angles, Q = K = V = I, {setup_words(curves)}",
        baseline_words(curves),
        "(b) straight: an exponential collapse; (c) straight: a polynomial one, cut off below",
    )
    handles = gamma_handles(curves, EXPONENTIAL, POLYNOMIAL)
    under = LEGEND_LINE * math.ceil(len(handles) / 5)
    figure, panels = open_page((PAGE, 1.6), (2, 3), [0.0, under], small, left=0.5, gap=0.6)
    title(panels[0], "a", "common cosine")
    draw_gamma(panels[0], curves)
    title(panels[1], "b", "gap over t")
    draw_gap(panels[1], curves)
    title(panels[2], "c", "gap over log t")
    draw_gap_over_log(panels[2], curves)
    moved = {"velocity": "velocity γ′", "attention_norm": "‖A‖", "radius": "radius r"}
    for axes, letter, (measure, words) in zip(panels[3:], "def", moved.items(), strict=True):
        title(axes, letter, words)
        draw_over_time(axes, curves, measure)
        ratios_if_wide(axes, curves, measure)
        axes.set_ylabel(words.split()[-1], labelpad=3)
    legend_below(panels[3], handles, 5)
    return figure


def swarms_figure(swarms: pl.DataFrame, caption: str) -> Figure:
    """A row of panels for each measure, a column for each kind of weights."""
    kinds = kinds_of(swarms)
    cells = [(measure, kind) for measure in MEASURES for kind in kinds]
    columns = len(kinds) if len(kinds) > 1 else 3
    rows = math.ceil(len(cells) / columns)
    small = small_print(caption, swarm_words(swarms), band_words(swarms), baseline_words(swarms))
    handles = scheme_handles(swarms)
    below = [-0.1] * (rows - 1) + [LEGEND_LINE]
    figure, panels = open_page((PAGE, 1.25), (rows, columns), below, small, left=0.52)
    for axes, letter, (measure, kind) in zip(panels, _LETTERS, cells, strict=False):
        top = len(kinds) > 1 and measure == "mean_cosine"
        title(axes, letter, WEIGHTS[kind] if top else MEASURES[measure])
        draw_swarm(axes, of_kind(swarms, kind), measure)
    if len(kinds) > 1:
        _side_by_side(panels, columns)
    for axes in panels[len(cells) :]:
        axes.remove()
    legend_below(panels[columns * (rows - 1)], handles, _LEGEND_COLUMNS)
    return figure


def _side_by_side(panels: list[Axes], columns: int) -> None:
    """Cosines are compared across kinds; a name that stands to the left is not repeated."""
    lows, highs = zip(*(axes.get_ylim() for axes in panels[:columns]), strict=True)
    for axes in panels[:columns]:
        axes.set_ylim(min(lows), max(highs))
    for place, axes in enumerate(panels):
        if place % columns:
            axes.set_ylabel("")


def phase_figure(phase: pl.DataFrame, caption: str) -> Figure:
    """Rows of panels are dimensions, columns are schemes."""
    phase = phase.filter(tokens=phase["tokens"][0])
    dims, schemes = phase["dim"].unique().sort().to_list(), schemes_in(phase)
    small = small_print(caption, f"uniform starts, {setup_words(phase.drop('dim', 'beta'))}")
    rows, columns = len(dims), max(len(schemes), 3)
    below = [-0.44] * (rows - 1) + [BAR_ROOM]
    how = {"left": 0.62, "gap": 0.12}
    figure, panels = open_page((PAGE, 1.15), (rows, columns), below, small, **how)
    mesh = None
    for place, axes in enumerate(panels):
        row, column = divmod(place, columns)
        if column >= len(schemes):
            axes.remove()
            continue
        own = phase.filter(dim=dims[row], scheme=schemes[column])
        mesh = draw_phase(axes, own) or mesh
        if row == 0:
            label = SCHEME_LOOKS[schemes[column]].label
            title(axes, "", label, 6.0 if columns > _MANY else 7.5)
        if row < rows - 1:
            axes.set_xlabel("")
            axes.tick_params(labelbottom=False)
        axes.set_ylabel(f"d = {dims[row]}\nβ" if column == 0 else "", labelpad=2)
        axes.tick_params(labelleft=column == 0)
    last = panels[columns * (rows - 1)]
    if mesh is not None:
        colour_bar(last, mesh)
    legend_below(last, [half_handle()], shift=2.8)
    return figure


def rates_figure(rates: pl.DataFrame, caption: str) -> Figure:
    """Two panels above one another, the numbers beside them."""
    small = small_print(caption, "final rate: the slope of log(1 − γ) against what is named")
    high = ROW * max(len(schemes_in(rates)), 3)
    below = [0.1, LEGEND_LINE]
    figure, panels = open_page((PAGE, high), (2, 1), below, small, left=1.0)
    for axes, letter, quantity in zip(panels, "ab", QUANTITIES, strict=True):
        box = axes.get_position()
        axes.set_position((box.x0, box.y0, box.width * SHARE, box.height))
        title(axes, letter, quantity)
        draw_rates(axes, rates, quantity)
    legend_below(panels[1], rate_handles(), 3, shift=-0.8)
    return figure


def collapse_figure(collapse: pl.DataFrame, caption: str) -> Figure:
    """A panel for each kind of weights."""
    kinds = kinds_of(collapse)
    high = ROW * max(len(schemes_in(collapse)), 3)
    small = small_print(caption, collapse_words(collapse))
    grid = 1, len(kinds)
    figure, panels = open_page((PAGE, high), grid, [0.0], small, left=1.15, gap=0.2)
    schemes = schemes_in(collapse)
    for place, (axes, kind) in enumerate(zip(panels, kinds, strict=True)):
        title(axes, _LETTERS[place], WEIGHTS[kind])
        draw_collapse(axes, collapse.filter(weights=kind), schemes)
        axes.tick_params(labelleft=place == 0)
    _same_times(panels, collapse)
    return figure


def _same_times(panels: list[Axes], collapse: pl.DataFrame) -> None:
    """One axis for all panels, from the start on."""
    times = [time for name in ("time", "low", "high") for time in collapse[name].drop_nulls()]
    known = [time for time in times if math.isfinite(time)]
    for axes in panels:
        if known:
            axes.set_xlim(0, 1.2 * max(known))
            axes.xaxis.set_major_locator(MaxNLocator(6, prune="upper"))
        else:
            axes.set_xticks([])


_FIGURES = {
    "gamma": gamma_figure,
    "swarms": swarms_figure,
    "phase": phase_figure,
    "rates": rates_figure,
    "collapse": collapse_figure,
}
