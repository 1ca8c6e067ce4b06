"""A described figure drawn with matplotlib, for files and notebooks. It knows no figure by name.

Panels stand in a grid, under each row of them the legends of what is new there, the small print at
the foot. matplotlib's constrained layout finds the room for numbers and names beside the axes.
"""

import io
import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import blended_transform_factory

from headgauge.registry.entry import GREY, PALE
from headgauge.report import drawing_cells, drawing_panel
from headgauge.report import figure as described
from headgauge.report.drawing_text import FAINT, INK, printable, typeset, wrapped
from headgauge.report.figure import HeatMap
from headgauge.report.figure_files import DPI, TYPE, house_style, save_figure

_LEGEND_LINE = 0.13  # inches, as all below
_TITLE_LINE = 0.125
_AROUND = 0.46  # a panel's numbers and names above and below, without its title
_BAR = 0.42  # a colour bar with its numbers
_SMALL, _HEADING = 6.0, 9.0  # points
_SMALL_LINE = 0.105
_HANDLE = 0.52  # of a legend, with the gap to the next column
_LETTER = 0.0535  # the width of one

Panel = described.Panel | HeatMap
Place = tuple[int, int]  # row, column


class Drawing(Figure):
    """A figure that shows itself in a notebook: without pyplot no backend is there to do it."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.set_dpi(DPI)
        with house_style():
            FigureCanvasAgg(self).print_png(picture)
        return picture.getvalue()


class _Legend(NamedTuple):
    """`span` is the columns of panels it stands under, `columns` those of its entries."""

    span: int
    columns: int
    labels: list[list[str]]  # in lines
    handles: list[Any]
    height: float


def draw(figure: described.Figure, plain: bool = False) -> Drawing:
    """The figure at the first setting of its switches; `plain`: without the small print."""
    now = described.setting(figure)
    panels = [_at(panel, now) for panel in figure.panels if described.shown(panel.at, now)]
    columns = max(1, min(figure.columns, len(panels)))
    told = "" if plain else printable(" ".join(described.words(figure)))
    lines = wrapped(told, figure.width - 0.12, _SMALL * 1.03)
    placed = {divmod(number, columns): panel for number, panel in enumerate(panels)}
    with house_style(), rc_context(TYPE):
        return _draw(figure, placed, columns, lines)


def save(
    figure: described.Figure, folder: Path, name: str, formats: Sequence[str], plain: bool
) -> list[Path]:
    """Its files; of a plain one what the small print would say stands beside it as text."""
    beside = "\n".join([figure.title, "", *described.words(figure)]) if plain else ""
    return save_figure(draw(figure, plain), folder, name, formats, beside=beside)


def _at(panel: Panel, now: described.At) -> Panel:
    """The panel with what a file shows of it."""
    if isinstance(panel, HeatMap):
        return panel
    kept = tuple(
        series
        for series in panel.series
        if series.shown and series.in_file and described.shown(series.at, now)
    )
    marks = tuple(mark for mark in panel.marks if described.shown(mark.at, now))
    return replace(panel, series=kept, marks=marks)


def _draw(
    figure: described.Figure, panels: dict[Place, Panel], columns: int, small: list[str]
) -> Drawing:
    rows, across = math.ceil(len(panels) / columns), figure.width / columns
    maps = {at: panel for at, panel in panels.items() if isinstance(panel, HeatMap)}
    headings = wrapped(figure.title, figure.width - 0.12, _HEADING * 1.1)
    heading = 0.1 + 0.16 * len(headings)
    bars = [at for at, panel in maps.items() if panel.verdicts is None]
    if figure.one_scale:  # one bar for all, under the last row
        bars = [at for at in bars if at[0] == rows - 1][:1]
    legends = _legends(panels, columns, across)
    titles, under = [0] * rows, [0.0] * rows  # lines above panels, and inches below
    for at, panel in panels.items():
        titles[at[0]] = max(titles[at[0]], len(_title(panel, across)))
        needed = _BAR * (at in bars) + (legends[at].height if at in legends else 0.0)
        under[at[0]] = max(under[at[0]], needed)
    heights = [part for room in under for part in (figure.panel_height, room + 0.02)]
    foot = _SMALL_LINE * len(small) + 0.02
    decorated = rows * _AROUND + _TITLE_LINE * sum(titles) + 0.06
    whole = heading + sum(heights) + foot + decorated
    sheet = Drawing(figsize=(figure.width, whole), layout="constrained", dpi=DPI)
    engine = sheet.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    inside = (0, 0, 1, 1 - heading / whole)
    engine.set(w_pad=0.05, h_pad=0.03, wspace=0.015, hspace=0.0, rect=inside)
    grid = sheet.add_gridspec(2 * rows + 1, columns, height_ratios=[*heights, foot])
    place = {"x": 0.06 / figure.width, "y": 1 - 0.08 / whole, "va": "top", "color": INK}
    sheet.text(**place, s=typeset("\n".join(headings)), fontsize=_HEADING, weight="bold")

    def room(row: int, first: int = 0, span: int = columns) -> Axes:
        """A place without axes for what explains the panels."""
        axes = sheet.add_subplot(grid[row, first : first + span])
        axes.set_axis_off()
        return axes

    drawn: dict[Place, Axes] = {}
    for at, panel in panels.items():
        down, place = at
        axes = drawn[at] = sheet.add_subplot(grid[2 * down, place])
        axes.set_title(typeset("\n".join(_title(panel, across))), pad=4)
        if isinstance(panel, HeatMap):
            scale = drawing_cells.scale_of([*maps.values()] if figure.one_scale else [panel])
            drawing_cells.draw_cells(axes, panel, scale, numbered=place == 0)
            if at in bars:
                size = across, under[down] + 0.02
                drawing_cells.add_bar(room(2 * down + 1, place, 1), axes, panel, scale, size)
        else:
            drawing_panel.draw_panel(axes, panel)
        if (down, place + 1) not in panels:  # the row is whole
            for start in sorted(start for row, start in legends if row == down):
                legend = legends[down, start]
                _add_legend(room(2 * down + 1, start, legend.span), legend)
    axes = room(2 * rows)
    where = blended_transform_factory(sheet.transFigure, axes.transAxes)
    how = {"fontsize": _SMALL, "color": FAINT, "va": "top", "linespacing": 1.12}
    how |= {"parse_math": False, "in_layout": False}
    axes.text(0.06 / figure.width, 1.0, "\n".join(small), transform=where, **how)
    engine.execute(sheet)
    sheet.set_layout_engine("none")
    for axes in sheet.axes:
        # The last digits of the layout differ from one drawing to the next: a file must not.
        left, bottom, width, height = np.round(axes.get_position(original=True).bounds, 5)
        axes.set_position((left, bottom, width, height))
        axes.apply_aspect()
    for at, panel in panels.items():
        if isinstance(panel, HeatMap):
            drawing_cells.finish_cells(drawn[at], panel)
        else:
            drawing_panel.write_names(drawn[at], panel)
    return sheet


def _title(panel: Panel, across: float) -> list[str]:
    unit = panel.unit if isinstance(panel, HeatMap) else ""
    return [*wrapped(panel.title, across - 0.3, 7.5), *wrapped(unit, across - 0.35, 7.0)]


def _legends(panels: dict[Place, Panel], columns: int, across: float) -> dict[Place, _Legend]:
    """By the row and column it begins in, each legend.

    An entry stands under the last row that has it, from the first panel there that does, and has
    the room up to the next legend.
    """
    where: dict[str, Place] = {}
    known: dict[str, tuple[str, Any]] = {}
    for (down, place), panel in panels.items():
        start = 0 if isinstance(panel, HeatMap) else place  # below all bars, the whole width
        for name, label, handle in _panel_entries(panel):
            if name not in where or where[name][0] < down:
                where[name] = down, start
            known.setdefault(name, (label, handle))
    begins = sorted(set(where.values()))
    found = {}
    for at, following in itertools.pairwise([*begins, (-1, 0)]):
        span = (following[1] if following[0] == at[0] else columns) - at[1]
        found[at] = _legend([known[name] for name in where if where[name] == at], span, across)
    return found


def _legend(entries: list[tuple[str, Any]], span: int, across: float) -> _Legend:
    """As many columns as fit, and the labels in lines that fit a column."""
    labels, handles = zip(*entries, strict=True)
    wide = span * across
    widest = max(map(len, labels)) * _LETTER + _HANDLE
    columns = max(1, min(len(labels), int((wide - 0.4) / widest)))
    lines = [wrapped(label, wide - _HANDLE - 0.42, 7.0) for label in labels]
    down = math.ceil(len(lines) / columns)
    parts = [lines[first : first + down] for first in range(0, len(lines), down)]
    tallest = max(sum(map(len, part)) for part in parts)
    return _Legend(span, columns, lines, [*handles], tallest * _LEGEND_LINE + 0.06)


def _add_legend(room: Axes, described: _Legend) -> None:
    legend = room.legend(
        described.handles,
        [typeset("\n".join(lines)) for lines in described.labels],
        loc="upper left",
        ncols=described.columns,
        borderaxespad=0.0,
        handler_map={tuple: HandlerTuple(ndivide=1)},
    )
    legend.set_in_layout(False)


def _panel_entries(panel: Panel) -> list[tuple[str, str, Any]]:
    """Name, label and handle of all that is in a panel and wants a place in a legend."""
    if isinstance(panel, HeatMap):
        return drawing_cells.cell_entries(panel)
    if not drawing_panel.has_data(panel):
        return []
    found = [
        (series.name, series.label, _handle(series))
        for series in panel.series
        if series.label and any(each is not None for each in series.y)
    ]
    for mark in panel.marks:
        if mark.in_legend:
            sign: Any = Patch(facecolor=PALE, edgecolor=GREY, linewidth=0.5)
            if "band" not in mark.kind:
                sign = Line2D([], [], **drawing_panel.line_of(mark.look))
            found.append((mark.label, mark.label, sign))
    return found


def _handle(series: described.Series) -> Any:
    look = replace(series.look, size=min(series.look.size, 1.6))
    line = Line2D([], [], **drawing_panel.line_of(look))
    if series.hollow and all(series.hollow):
        line.set_markerfacecolor("white")
    if series.filled_to is None:
        return line
    return Patch(facecolor=series.look.colour, alpha=0.35), line
