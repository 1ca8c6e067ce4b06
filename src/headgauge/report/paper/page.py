"""A figure of a paper: panels of one size, legends below them, small print at the foot, in inches.

Placed by arithmetic, as in `report.sheet`, so that the width of a figure is that of the column.
"""

import textwrap
from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headgauge.report.drawing import Drawing
from headgauge.report.paper.looks import GREY
from headgauge.report.paper.selecting import printable
from headgauge.report.sheet import FAINT, wrapped

LEGEND_LINE = 0.142
_EDGE = 0.06
_TITLE = 0.24
_AXIS = 0.40  # numbers and a name below a panel
_SMALL = 6.0  # points
_SMALL_LINE = 0.105


def open_page(
    size: tuple[float, float],
    grid: tuple[int, int],
    below: Sequence[float],
    small: str,
    *,
    left: float = 0.46,
    gap: float = 0.52,
) -> tuple[Figure, list[Axes]]:
    """A figure `size[0]` wide with rows × columns of panels `size[1]` high.

    `below` is the room for legends under each row of panels; `gap` the room for a panel's numbers.
    """
    rows, columns = grid
    width, panel_height = size
    lines = wrapped(printable(small), width - 2 * _EDGE, _SMALL * 1.03)
    foot = _EDGE + _SMALL_LINE * len(lines) + 0.03
    row_heights = [_TITLE + panel_height + _AXIS + under for under in below]
    height = foot + sum(row_heights)
    figure = Drawing(figsize=(width, height))
    panel_width = (width - left - _EDGE - gap * (columns - 1)) / columns
    panels = []
    for row in range(rows):
        bottom = height - sum(row_heights[:row]) - _TITLE - panel_height
        for column in range(columns):
            start = left + column * (panel_width + gap)
            box = start / width, bottom / height, panel_width / width, panel_height / height
            panels.append(figure.add_axes(box))
    for place, text in enumerate(reversed(lines)):
        at = _EDGE / width, (_EDGE + _SMALL_LINE * place) / height
        figure.text(*at, text, fontsize=_SMALL, color=FAINT, va="bottom", parse_math=False)
    return figure, panels


def small_print(*parts: str) -> str:
    """One sentence of the parts that say something."""
    return "; ".join(part for part in parts if part) + "."


def title(axes: Axes, letter: str, text: str, size: float = 7.5) -> None:
    """Minimal: a letter to refer to and what stays the same in the panel."""
    axes.set_title(f"({letter}) {text}" if letter else text, pad=4, fontsize=size)


def legend_below(
    axes: Axes,
    handles: Sequence[Artist],
    columns: int = 1,
    *,
    heading: str | None = None,
    shift: float = 0.0,
) -> None:
    """Under the panel's axis, from its left edge or `shift` inches beside it.

    A panel in which nothing is drawn gets none.
    """
    if not axes.has_data():
        return
    figure = axes.get_figure(root=True)
    assert figure is not None
    width, height = figure.get_size_inches()
    box = axes.get_position()
    place = (float(box.x0) + shift / width, float(box.y0) - _AXIS / height)
    legend = axes.legend(
        handles=list(handles),
        loc="upper left",
        bbox_to_anchor=place,
        bbox_transform=figure.transFigure,
        ncols=columns,
        borderaxespad=0.0,
        title=heading,
        alignment="left",
    )
    for text in legend.get_texts():
        # The names of rules come from outside; ours are the ones with mathematics in them.
        text.set_parse_math("$" in text.get_text())


def under_panel(axes: Axes, high: float) -> tuple[float, Axes]:
    """Room for a key where a legend would be: its width, and axes in inches across, unseen."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    width, height = figure.get_size_inches()
    box = axes.get_position()
    room = figure.add_axes((box.x0, box.y0 - (_AXIS + high) / height, box.width, high / height))
    room.set_axis_off()
    wide = float(box.width * width)
    room.set_xlim(0, wide)
    return wide, room


def over_n(axes: Axes) -> None:
    """N doubles from tick to tick."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda n, _: f"{n:g}")
    axes.set_xlabel("N", labelpad=1)


def nothing(axes: Axes, why: str) -> None:
    """A panel that has no data says so."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.text(
        0.5,
        0.5,
        textwrap.fill(why, 28),
        transform=axes.transAxes,
        ha="center",
        va="center",
        color=GREY,
        parse_math=False,
    )
    for side in axes.spines.values():
        side.set_linestyle(":")
