"""Which head has which verdict: a cell for each head, a stripe of it for each of its verdicts.

Every stripe has the verdict's colour and, where it is large enough to be read, its letter.
"""

from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D, IdentityTransform

from headgauge.report.head_grid import HeadGrid
from headgauge.report.panels import ABSENT, UNSEEN, hatch
from headgauge.report.sheet import INK, LEGEND_LINE, Page
from headgauge.report.words import MARKS, mark
from headgauge.runs.schema import HEAD

# Divisible by every number of verdicts a head can have.
STRIPES = 60
_LETTER_LEAST = 2.8  # points
NOT_SEEN = "not seen"
NO_HEAD = "no such head"
_HATCHED = {NOT_SEEN: UNSEEN, NO_HEAD: ABSENT}

Told = dict[tuple[int, int], list[str]]


def told(grid: HeadGrid, verdicts: pl.DataFrame) -> Told:
    """(row, column) of each judged head → its verdicts, in the frame's order."""
    found: Told = {}
    for *module, head, verdict in verdicts.select(*HEAD, "verdict").rows():
        place = grid.row_of[tuple(module)], grid.column_of[head]
        found.setdefault(place, []).append(verdict)
    return found


def stripes(grid: HeadGrid, found: Told) -> Float[np.ndarray, "rows columns 4"]:
    """The picture: `STRIPES` columns a head, transparent where no verdict is."""
    rows, columns = grid.shape
    picture = np.zeros((rows, columns, STRIPES, 4))
    for (row, column), names in found.items():
        edges = np.linspace(0, STRIPES, len(names) + 1).round().astype(int)
        for name, first, after in zip(names, edges[:-1], edges[1:], strict=True):
            picture[row, column, first:after] = to_rgba(mark(name).colour)
    return picture.reshape(rows, columns * STRIPES, 4)


def draw_verdicts(axes: Axes, grid: HeadGrid, found: Told, cell: tuple[float, float]) -> bool:
    """The map; whether its letters are large enough to be there."""
    rows, columns = grid.shape
    axes.imshow(
        stripes(grid, found),
        extent=(-0.5, columns - 0.5, rows - 0.5, -0.5),
        aspect="auto",
        interpolation="none",
    )
    unseen = grid.exists.copy()
    for place in found:
        unseen[place] = False
    hatch(axes, unseen, UNSEEN)
    hatch(axes, ~grid.exists, ABSENT)
    if min(cell) > 0.06:  # on smaller cells the lines would drown the colours
        _rule(axes, rows, columns, 1.2 if min(cell) > 0.1 else 0.4)
    return _letters(axes, found, cell)


def _rule(axes: Axes, rows: int, columns: int, width: float) -> None:
    """White lines between the heads, so that a stripe is not taken for a head."""
    across = [[(-0.5, edge - 0.5), (columns - 0.5, edge - 0.5)] for edge in range(1, rows)]
    down = [[(edge - 0.5, -0.5), (edge - 0.5, rows - 0.5)] for edge in range(1, columns)]
    lines = LineCollection(across + down, colors="white", linewidths=width)
    axes.add_collection(lines, autolim=False)


def _letters(axes: Axes, found: Told, cell: tuple[float, float]) -> bool:
    """All letters of one kind and size are one collection: thousands of texts would be slow."""
    if min(cell) * 72 * 0.7 < _LETTER_LEAST:
        return False
    places: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for (row, column), names in found.items():
        share = 1 / len(names)
        size = round(min(cell[1] * 72 * 0.7, cell[0] * share * 72 * 0.95, 9.0), 2)
        for turn, name in enumerate(names):
            if mark(name).letter:
                middle = column - 0.5 + (turn + 0.5) * share
                places.setdefault((name, size), []).append((middle, row))
    for (name, size), offsets in places.items():
        outline = TextPath((0, 0), mark(name).letter, size=size)
        middle = outline.get_extents()
        centred = Affine2D().translate(-(middle.x0 + middle.x1) / 2, -(middle.y0 + middle.y1) / 2)
        letters = PathCollection(
            [outline.transformed(centred)],
            sizes=[1],  # the outline is in points already
            offsets=offsets,
            offset_transform=axes.transData,
            facecolors=mark(name).ink,
            edgecolors="none",
        )
        letters.set_transform(IdentityTransform())
        axes.add_collection(letters, autolim=False)
    return True


def legend_entries(found: Told, hatched: list[str]) -> list[tuple[str, str]]:
    """(verdict, words with its count) for each that occurs; last, what hatching means."""
    counted = [name for names in found.values() for name in names]
    order = [*MARKS, *dict.fromkeys(name for name in counted if name not in MARKS)]
    entries = [(name, f"{name} {counted.count(name)}") for name in order if name in counted]
    return entries + [(name, name) for name in hatched]


def legend_lines(
    entries: list[tuple[str, str]], width: float
) -> list[list[tuple[str, str, float]]]:
    """The entries in lines that fit a width, each with its own place from the left, in inches."""
    lines: list[list[tuple[str, str, float]]] = []
    left = width
    for name, text in entries:
        needed = 0.4 + 0.062 * len(text)
        if left + needed > width or not lines:
            lines.append([])
            left = 0.0
        lines[-1].append((name, text, left))
        left += needed
    return lines


def draw_legend(
    page: Page, lines: list[list[tuple[str, str, float]]], left: float, bottom: float
) -> None:
    """A box for each verdict as it looks in the map, with its letter, and the word beside it."""
    for row, line in enumerate(reversed(lines)):
        for name, text, along in line:
            _box(page, name, left + along, bottom + row * LEGEND_LINE + 0.03)
            page.write(
                left + along + 0.2,
                bottom + row * LEGEND_LINE + 0.1,
                text,
                7.5,
                va="center",
                color=INK,
            )


def _box(page: Page, name: str, left: float, bottom: float) -> None:
    side = 0.14
    where = (left / page.width, bottom / page.height)
    plain = {"facecolor": mark(name).colour, "edgecolor": "#999999"}
    look: dict[str, Any] = {"linewidth": 0.4} | _HATCHED.get(name, plain)
    page.figure.add_artist(Rectangle(where, side / page.width, side / page.height, **look))
    if name not in _HATCHED:
        ink = mark(name).ink
        page.write(
            left + side / 2,
            bottom + side / 2 - 0.005,
            mark(name).letter,
            7,
            ha="center",
            va="center_baseline",
            color=ink,
        )
