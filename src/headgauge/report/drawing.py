"""A described figure drawn with matplotlib, for files and notebooks. It knows no figure by name.

Panels stand in a grid, under each row of them the legends of what is new there, the small print at
the foot. matplotlib's constrained layout finds the room for numbers and names beside the axes.
"""

import io
import math
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import blended_transform_factory

from headgauge.registry.entry import GREY, PALE
from headgauge.report import figure as described
from headgauge.report.drawing_cells import add_bar, cell_entries, draw_cells, finish_cells
from headgauge.report.drawing_panel import draw_panel, has_data, line_of, make_equal, write_names
from headgauge.report.drawing_text import FAINT, INK, printable, typeset, wrapped
from headgauge.report.figure import HeatMap
from headgauge.report.figure_files import DPI, TYPE, house_style

_LEGEND_LINE = 0.13  # inches, as all below
_TITLE_LINE = 0.125
_AROUND = 0.46  # a panel's numbers and names above and below, without its title
_BAR = 0.42  # a colour bar with its numbers
_SMALL = 6.0  # points
_SMALL_LINE = 0.105
_HANDLE = 0.52  # of a legend, with the gap to the next column
_LETTER = 0.0535  # the width of one

Panel = described.Panel | HeatMap
Entry = tuple[str, Any]  # label and handle of a legend


class Drawing(Figure):
    """A figure that shows itself in a notebook: without pyplot no backend is there to do it."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.set_dpi(DPI)
        with house_style():
            FigureCanvasAgg(self).print_png(picture)
        return picture.getvalue()


def draw(figure: described.Figure, at: described.At | None = None) -> Drawing:
    """The figure at a setting of its switches: the first one of each, or what `at` has."""
    now = described.setting(figure, at or {})
    panels = [_at(panel, now) for panel in figure.panels if described.shown(panel.at, now)]
    columns = max(1, min(figure.columns, len(panels)))
    rows = [panels[first : first + columns] for first in range(0, len(panels), columns)]
    small = [each.text for each in figure.caption if described.shown(each.at, now)]
    told = printable(" ".join([*small, figure.run]))
    lines = wrapped(told, figure.width - 0.12, _SMALL * 1.03)
    with house_style(), rc_context(TYPE):
        return _draw(figure, rows, columns, lines)


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
    figure: described.Figure, rows: list[list[Panel]], columns: int, small: list[str]
) -> Drawing:
    across = figure.width / columns
    maps = [panel for row in rows for panel in row if isinstance(panel, HeatMap)]
    heading = 0.26 if maps else 0.0
    barred = [panel for panel in maps if panel.verdicts is None]
    if figure.one_scale:  # one bar for all, under the last row
        barred = [panel for panel in rows[-1] if _has_bar(panel)][:1]
    titles = [max(len(_title(panel, across)) for panel in row) for row in rows]
    legends = _legends(rows, columns)
    under = [
        max(
            _BAR if any(panel is each for panel in row for each in barred) else 0.0,
            *(
                _height(entries, span * across) + _BAR * _has_bar(row[start])
                for start, span, entries in legend
            ),
            0.0,
        )
        for row, legend in zip(rows, legends, strict=True)
    ]
    heights = [part for room in under for part in (figure.panel_height, room + 0.02)]
    foot = _SMALL_LINE * len(small) + 0.02
    decorated = len(rows) * _AROUND + _TITLE_LINE * sum(titles) + 0.06
    whole = heading + sum(heights) + foot + decorated
    sheet = Drawing(figsize=(figure.width, whole), layout="constrained", dpi=DPI)
    engine = sheet.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(
        w_pad=0.05, h_pad=0.03, wspace=0.015, hspace=0.0, rect=(0, 0, 1, 1 - heading / whole)
    )
    grid = sheet.add_gridspec(2 * len(rows) + 1, columns, height_ratios=[*heights, foot])
    if heading:
        place = {"x": 0.06 / figure.width, "y": 1 - 0.08 / whole, "va": "top", "color": INK}
        sheet.text(**place, **typeset(figure.title), fontsize=10, weight="bold")
    drawn: list[tuple[Panel, Axes]] = []
    for down, row in enumerate(rows):
        for place, panel in enumerate(row):
            axes = sheet.add_subplot(grid[2 * down, place])
            title = typeset("\n".join(_title(panel, across)))
            axes.set_title(title["s"], parse_math=title["parse_math"], pad=4)
            if isinstance(panel, HeatMap):
                together = maps if figure.one_scale else [panel]
                draw_cells(axes, panel, together, numbered=place == 0)
                if any(panel is each for each in barred):
                    room = _room(sheet, grid, down, place, 1)
                    add_bar(room, axes, panel, together, (across, under[down] + 0.02))
            else:
                draw_panel(axes, panel)
            drawn.append((panel, axes))
        for start, span, entries in legends[down]:
            _add_legend(_room(sheet, grid, down, start, span), entries, span * across)
    _add_small_print(sheet, grid, small)
    equal = [axes for panel, axes in drawn if _is_equal(panel)]
    engine.execute(sheet)
    if equal:  # other limits, other numbers beside the axes
        for axes in equal:
            make_equal(axes)
        engine.execute(sheet)
    sheet.set_layout_engine("none")
    for axes in sheet.axes:
        # The last digits of the layout differ from one drawing to the next: a file must not.
        left, bottom, width, height = np.round(axes.get_position(original=True).bounds, 5)
        axes.set_position((left, bottom, width, height))
    for axes in equal:
        make_equal(axes)
    for panel, axes in drawn:
        if isinstance(panel, HeatMap):
            finish_cells(axes, panel)
        else:
            write_names(axes, panel)
    return sheet


def _is_equal(panel: Panel) -> bool:
    return isinstance(panel, described.Panel) and panel.equal and has_data(panel)


def _has_bar(panel: Panel) -> bool:
    return isinstance(panel, HeatMap) and panel.verdicts is None


def _room(sheet: Drawing, grid: GridSpec, down: int, start: int, span: int) -> Axes:
    """The place under panels for what explains them."""
    room = sheet.add_subplot(grid[2 * down + 1, start : start + span])
    room.set_axis_off()
    return room


def _title(panel: Panel, across: float) -> list[str]:
    unit = panel.unit if isinstance(panel, HeatMap) else ""
    return [*wrapped(panel.title, across - 0.3, 7.5), *wrapped(unit, across - 0.35, 7.0)]


def _legends(rows: list[list[Panel]], columns: int) -> list[list[tuple[int, int, list[Entry]]]]:
    """By row: the column a legend begins in, how many it spans, and its entries.

    An entry stands under the last row that has it, from the first panel there that does, and has
    the room up to the next legend.
    """
    last: dict[str, tuple[int, int]] = {}
    entries: dict[str, Entry] = {}
    for down, row in enumerate(rows):
        for place, panel in enumerate(row):
            start = 0 if isinstance(panel, HeatMap) else place  # below all bars, the whole width
            for name, label, handle in _panel_entries(panel):
                if name not in last or last[name][0] < down:
                    last[name] = down, start
                entries.setdefault(name, (label, handle))
    found = []
    for down in range(len(rows)):
        starts = sorted({place for row, place in last.values() if row == down})
        ends = [*starts[1:], columns][: len(starts)]
        found.append(
            [
                (
                    start,
                    end - start,
                    [entries[name] for name in last if last[name] == (down, start)],
                )
                for start, end in zip(starts, ends, strict=True)
            ]
        )
    return found


def _panel_entries(panel: Panel) -> list[tuple[str, str, Any]]:
    """Name, label and handle of all that is in a panel and wants a place in a legend."""
    if isinstance(panel, HeatMap):
        return cell_entries(panel)
    if not has_data(panel):
        return []
    found = [
        (series.name, series.label, _handle(series))
        for series in panel.series
        if series.label and any(each is not None for each in series.y)
    ]
    for mark in panel.marks:
        if mark.in_legend and "band" in mark.kind:
            band = Patch(facecolor=PALE, edgecolor=GREY, linewidth=0.5)
            found.append((mark.label, mark.label, band))
        elif mark.in_legend:
            found.append((mark.label, mark.label, Line2D([], [], **line_of(mark.look))))
    return found


def _handle(series: described.Series) -> Any:
    hollow = series.hollow is not None and all(series.hollow)
    white: dict[str, Any] = {"markerfacecolor": "white"} if hollow else {}
    look = replace(series.look, size=min(series.look.size, 1.6))
    line = Line2D([], [], **line_of(look) | white)
    if series.filled_to is None:
        return line
    return Patch(facecolor=series.look.colour, alpha=0.35), line


def _height(entries: list[Entry], wide: float) -> float:
    columns, labels = _columns(entries, wide)
    lines = [len(label) for label in labels]
    down = math.ceil(len(lines) / columns)
    tallest = max(sum(lines[first : first + down]) for first in range(0, len(lines), down))
    return tallest * _LEGEND_LINE + 0.06


def _columns(entries: list[Entry], wide: float) -> tuple[int, list[list[str]]]:
    """How many columns fit, and the labels in lines that fit a column."""
    widest = max(len(label) for label, _ in entries) * _LETTER + _HANDLE
    columns = max(1, min(len(entries), int((wide - 0.4) / widest)))
    return columns, [wrapped(label, wide - _HANDLE - 0.42, 7.0) for label, _ in entries]


def _add_legend(room: Axes, entries: list[Entry], wide: float) -> None:
    columns, labels = _columns(entries, wide)
    texts = [typeset("\n".join(lines)) for lines in labels]
    legend = room.legend(
        [handle for _, handle in entries],
        [text["s"] for text in texts],
        loc="upper left",
        ncols=columns,
        borderaxespad=0.0,
        handler_map={tuple: HandlerTuple(ndivide=1)},
    )
    legend.set_in_layout(False)
    for written, text in zip(legend.get_texts(), texts, strict=True):
        written.set_parse_math(text["parse_math"])


def _add_small_print(sheet: Drawing, grid: GridSpec, lines: list[str]) -> None:
    room = sheet.add_subplot(grid[-1, :])
    room.set_axis_off()
    how = {"fontsize": _SMALL, "color": FAINT, "va": "top", "linespacing": 1.12}
    at = blended_transform_factory(sheet.transFigure, room.transAxes)
    text = room.text(0.06 / sheet.get_size_inches()[0], 1.0, "\n".join(lines), transform=at, **how)
    text.set_parse_math(False)
    text.set_in_layout(False)
