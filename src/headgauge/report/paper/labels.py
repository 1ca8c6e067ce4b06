"""Words beside points, none on another: a word goes to the first free side of its point."""

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from matplotlib.transforms import Bbox, BboxBase

from headgauge.report.paper.looks import GREY

_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
_AWAY = (3.5, 8.0, 13.0)  # points; beyond the first a thin line leads back
_MARKER = 2.0  # points from the middle of a marker to its edge
_ACROSS = {1: "left", 0: "center", -1: "right"}
_UP = {1: "bottom", 0: "center", -1: "top"}


def label_points(
    axes: Axes,
    labels: Iterable[tuple[float, float, str]],
    points: Sequence[tuple[float, float]],
    keep_off: Sequence[BboxBase] = (),
) -> None:
    """Each word beside its point, off the other words, the points and `keep_off` (in pixels).

    A word that has no free side is left out. The limits of the axes must be set before.
    """
    taken = [*keep_off, *(around(axes, point, _MARKER) for point in points)]
    frame = axes.get_window_extent()
    figure = axes.get_figure(root=True)
    assert figure is not None
    renderer = FigureCanvasAgg(figure).get_renderer()
    for x, y, word in labels:
        for away, side in ((away, side) for away in _AWAY for side in _SIDES):
            text = _beside(axes, (x, y), word, side, away)
            text.get_window_extent(renderer)  # puts the word in its place
            box = Text.get_window_extent(text, renderer)  # its own, without the line back
            free = not any(box.overlaps(other) for other in taken)
            if free and _within(box, frame):
                taken.append(box)
                break
            text.remove()


def around(axes: Axes, point: tuple[float, float], points: float) -> Bbox:
    """A square in pixels, so many points to every side of a point."""
    edge = points * axes.figure.dpi / 72
    x, y = axes.transData.transform(point)
    return Bbox([(x - edge, y - edge), (x + edge, y + edge)])


def _within(box: BboxBase, frame: BboxBase) -> bool:
    across = frame.x0 < box.x0 and box.x1 < frame.x1
    return bool(across and frame.y0 < box.y0 and box.y1 < frame.y1)


def _beside(
    axes: Axes, at: tuple[float, float], word: str, side: tuple[int, int], away: float
) -> Text:
    across, up = side
    leader = {"arrowstyle": "-", "linewidth": 0.4, "color": GREY, "shrinkA": 0, "shrinkB": 1}
    return axes.annotate(
        word,
        at,
        xytext=(away * across, away * up),
        textcoords="offset points",
        ha=_ACROSS[across],
        va=_UP[up],
        fontsize=6,
        parse_math=False,
        zorder=6,
        arrowprops=leader if away > _AWAY[0] else None,
    )
