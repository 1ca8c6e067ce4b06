"""A sheet of equal panels: how large the cells are and where everything goes, in inches.

Placed by arithmetic, because matplotlib's layout engines would draw every figure twice.
"""

import math
import textwrap
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headgauge.report.drawing import Drawing
from headgauge.report.figure_files import DPI
from headgauge.report.head_grid import HeadGrid

INK = "#222222"
FAINT = "#555555"
LEGEND_LINE = 0.2
_GAP = 0.22  # between panels
_FOOT = 0.36  # a panel's head numbers and "head"
_BAR = 0.44  # a colour bar with its numbers and its note
_PANEL_LEAST = 1.4  # a narrower one has no room for its title and its colour bar
_WIDTH_LEAST = 4.4
_PIXEL = 1 / DPI
_CELL_MOST = 0.32
_EDGE = 0.12


@dataclass(frozen=True)
class Sheet:
    """Columns × rows of panels."""

    columns: int
    rows: int
    cell: tuple[float, float]  # width and height
    map: tuple[float, float]  # all cells of a panel
    panel: tuple[float, float]  # a panel with its title, its numbers and its colour bar
    left: float  # room for layer numbers
    right: float  # room for names of blocks
    head: float  # height of a panel's title

    @property
    def width(self) -> float:
        across = self.columns * (self.panel[0] + _GAP) - _GAP
        return max(self.left + across + self.right, _WIDTH_LEAST)


def lay_out(
    grid: HeadGrid,
    panels: int,
    *,
    head: float = 0.0,
    bars: bool = True,
    box: tuple[float, float] = (7.0, 6.0),
    cell_least: float = 0.03,
) -> Sheet:
    """The sheet with the largest cells that fits the box; it grows if cells would be too small."""
    rows, columns = grid.shape
    left = 0.42 + 0.06 * max(len(label) for label in grid.labels)
    right = _EDGE + (0.2 if len(grid.blocks) > 1 else 0.0)
    extra = head + _FOOT + (_BAR if bars else 0.0)
    least = 3.0 if panels == 1 else _PANEL_LEAST if bars else 0.6
    best = (0.0, 0, 0.0, 0.0)
    for across in range(1, panels + 1):
        down = math.ceil(panels / across)
        wide = ((box[0] - left - right + _GAP) / across - _GAP) / columns
        high = (box[1] / down - extra) / rows
        # No ragged last row where a whole one does as well, and as few rows as can be.
        side = min(wide, high, _CELL_MOST) * (1.0 if panels % across == 0 else 0.85)
        best = max(best, (side, across, wide, high))
    side, across, wide, high = best
    side = max(side, cell_least)
    # Cells need not be square: let the short way of a lopsided grid take some of the room.
    cell = (
        max(min(wide, 2 * side, _CELL_MOST), side),
        max(min(high, 2 * side, _CELL_MOST), side),
    )
    cells = (columns * cell[0], rows * cell[1])
    panel = (max(cells[0], least), cells[1] + extra)
    return Sheet(across, math.ceil(panels / across), cell, cells, panel, left, right, head)


@dataclass(frozen=True)
class Page:
    """A figure with its title and caption written, and the heights at which the rest begins."""

    figure: Figure
    sheet: Sheet
    width: float
    height: float
    legend: float
    bar: float  # the one that all panels share
    panels: float

    def axes(self, left: float, bottom: float, width: float, height: float) -> Axes:
        """Axes at a place in inches, on whole pixels: a heat map then ends where its frame does."""
        left, bottom, width, height = (
            round(inches / _PIXEL) * _PIXEL for inches in (left, bottom, width, height)
        )
        return self.figure.add_axes(
            (left / self.width, bottom / self.height, width / self.width, height / self.height)
        )

    def write(self, left: float, bottom: float, text: str, size: int | float, **how: Any) -> None:
        """Text at a place in inches; never read as mathematics, whatever signs a name has."""
        self.figure.text(
            left / self.width, bottom / self.height, text, fontsize=size, parse_math=False, **how
        )


def open_page(
    sheet: Sheet, title: str, unit: str, caption: str, *, legend_lines: int, one_bar: bool
) -> Page:
    """An empty figure of the right size. Under the panels: one bar, the legend, the caption."""
    width = math.ceil(sheet.width / _PIXEL) * _PIXEL
    explained = wrapped(unit, width - 2 * _EDGE, 8)
    small = wrapped(caption, width - 2 * _EDGE, 7)
    legend = 0.1 + 0.13 * len(small)
    bar = legend + LEGEND_LINE * legend_lines + 0.04
    panels = bar + (_BAR + 0.04) * one_bar
    height = panels + sheet.rows * sheet.panel[1] + 0.36 + 0.14 * len(explained)
    height = math.ceil(height / _PIXEL) * _PIXEL
    figure = Drawing(figsize=(width, height))
    page = Page(figure, sheet, width, height, legend, bar, panels)
    page.write(_EDGE, height - 0.1, title, 10, weight="bold", va="top", color=INK)
    for place, line in enumerate(explained):
        page.write(_EDGE, height - 0.29 - 0.14 * place, line, 8, va="top", color=FAINT)
    for place, line in enumerate(reversed(small)):
        page.write(_EDGE, 0.08 + 0.13 * place, line, 7, va="bottom", color=FAINT)
    return page


def panel_axes(page: Page, place: int) -> Axes:
    """The axes of the place-th heat map, row by row from the top left."""
    left, top = map_corner(page, place)
    return page.axes(left, top - page.sheet.map[1], *page.sheet.map)


def map_corner(page: Page, place: int) -> tuple[float, float]:
    """The upper left corner of a panel's heat map, in inches."""
    left, bottom = panel_corner(page, place)
    return left, bottom + page.sheet.panel[1] - page.sheet.head


def panel_corner(page: Page, place: int) -> tuple[float, float]:
    """The lower left corner of a panel, in inches."""
    sheet = page.sheet
    row, column = divmod(place, sheet.columns)
    left = sheet.left + column * (sheet.panel[0] + _GAP)
    return left, page.panels + (sheet.rows - 1 - row) * sheet.panel[1]


def wrapped(text: str, inches: float, size: int | float) -> list[str]:
    """Lines that fit a width: an average letter is a little over half its size wide."""
    return textwrap.wrap(text, max(int(inches / (0.55 * size / 72)), 12))
