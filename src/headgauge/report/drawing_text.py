"""Words in a drawing: in lines that fit, typeset where they are ours, beside points where free."""

import itertools
import re
import textwrap
from collections.abc import Iterable, Sequence
from functools import cache

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text
from matplotlib.transforms import Bbox, BboxBase

from headgauge.registry.entry import GREY

INK, FAINT = "#222222", "#555555"
_SUBSCRIPT = re.compile(r"(?<![\w$])(\w)_(\w)(?!\w)")
_RAISED = re.compile(r"\^(?:\{([^{}]*)\}|(\w))")
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_AWAY = (3.5, 8.0, 13.0)  # points; beyond the first a thin line leads back
_MARKER = 2.0  # points from the middle of a marker to its edge
_ACROSS = {1: "left", 0: "center", -1: "right"}
_UP = {1: "bottom", 0: "center", -1: "top"}


def wrapped(text: str, inches: float, size: float) -> list[str]:
    """Lines that fit a width: an average letter is a little over half its size wide."""
    return textwrap.wrap(text, max(int(inches / (0.55 * size / 72)), 12))


def typeset(text: str) -> str:
    """For matplotlib: N_s and e^{2t} as mathematics, nothing else, whatever signs it has."""
    flat = "\n".join(map(printable, text.split("\n")))
    if "$" in flat:
        return flat.replace("$", r"\$")
    return _SUBSCRIPT.sub(r"$\1_\2$", _RAISED.sub(r"$^\\mathdefault{\1\2}$", flat))


def printable(text: str) -> str:
    """Text from outside on one line, a box for every sign that the font does not have."""
    flat = "".join("⏎" if sign in "\r\n" else " " if sign.isspace() else sign for sign in text)
    return "".join(sign if ord(sign) in _signs() else "□" for sign in flat)


@cache
def _signs() -> frozenset[int]:
    # The family by name: figures are set in it whatever the user's own settings are.
    return frozenset(FT2Font(findfont(FontProperties(family="DejaVu Sans"))).get_charmap())


def label_points(
    axes: Axes, labels: Iterable[tuple[float, float, str]], points: Sequence[tuple[float, float]]
) -> None:
    """Each word beside its point, off the other words and the points.

    A word that has no free side is left out. The limits of the axes must be set before.
    """
    taken: list[BboxBase] = [around(axes, point, _MARKER) for point in points]
    frame = axes.get_window_extent()
    figure = axes.get_figure(root=True)
    assert figure is not None
    renderer = FigureCanvasAgg(figure).get_renderer()
    leader = {"arrowstyle": "-", "linewidth": 0.4, "color": GREY, "shrinkA": 0, "shrinkB": 1}
    for x, y, word in labels:
        for away, (across, up) in itertools.product(_AWAY, _SIDES):
            text = axes.annotate(
                printable(word),
                (x, y),
                xytext=(away * across, away * up),
                textcoords="offset points",
                ha=_ACROSS[across],
                va=_UP[up],
                fontsize=6,
                parse_math=False,
                zorder=6,
                arrowprops=leader if away > _AWAY[0] else None,
            )
            text.get_window_extent(renderer)  # puts the word in its place
            box = Text.get_window_extent(text, renderer)  # its own, without the line back
            inside = frame.x0 < box.x0 < box.x1 < frame.x1 and frame.y0 < box.y0 < box.y1 < frame.y1
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            text.remove()


def around(axes: Axes, point: tuple[float, float], points: float) -> Bbox:
    """A square in pixels, so many points to every side of a point."""
    edge = points * axes.figure.dpi / 72
    x, y = axes.transData.transform(point)
    return Bbox([(x - edge, y - edge), (x + edge, y + edge)])
