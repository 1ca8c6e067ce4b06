"""The ball around s, seen where it matters: at its edge, where tokens are in or out by little.

A heavy token lies near s, and hundreds of light ones crowd at 0, which is where the edge passes. In
one frame with all of them none of the light ones could be told from another. So the frame is around
the many, and a small picture of the whole ball beside them says where the frame is.
"""

import textwrap

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import Bbox, BboxBase, TransformedBbox

from headgauge.report.paper.labels import label_points
from headgauge.report.paper.looks import BLACK, BLUE, GREEN, GREY, PALE, RED, Look
from headgauge.report.paper.selecting import printable

INSIDE = Look("selected, inside the ball", GREEN, "", "o")
OUTSIDE = Look("selected, outside", RED, "", "X")
LEFT_OUT = Look(r"not selected, $\alpha_i x_i$", GREY, "", ".")
SUM = Look(r"$s=\sum\alpha_i x_i$ of the selected", BLACK, "", "*")
BALL = Look(r"ball $B_r(s)$: $\|\alpha_i x_i-s\|\leq r$", GREY, "--")
FRAME = Look("place of the frame in the whole ball", BLUE, "", "s")

_NAMED = 4  # tokens with their text beside them, at most
_LONGEST_NAME = 12
_REACH = 5.0  # times the upper quartile of the distances from the middle: beyond is far
_WHOLE = (0.67, 0.52, 0.32, 0.46)  # of the panel: the small picture of the whole ball
_LEFT = 0.64  # of the panel's width, for the points where there is such a picture


def draw_edge(axes: Axes, points: pl.DataFrame, whole: bool) -> None:
    """The selected tokens near the ball's edge; `whole` adds the small picture and the words.

    Without it every point is in the frame, as on the circle, where they are few.
    """
    near, far = near_and_far(points)
    _set_frame(axes, points, near if whole else points, _LEFT if whole else 1.0)
    _ball(axes, points)
    faint = {"markersize": 2, "alpha": 0.35} if whole else {"markersize": 4}
    for look, chosen in kinds(points):
        how = {"zorder": 3} if look is not LEFT_OUT else {"zorder": 1} | faint
        axes.plot(chosen["scaled_x"], chosen["scaled_y"], **look.how(**how))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(4))
        # Never a power of ten in a corner, where the title is.
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}".replace("-", "−")))
    keep_off = _draw_whole(axes, points, near, far) if whole else []
    heaviest = near.drop_nulls("token").sort("weight", descending=True).head(_NAMED)
    names = [
        (x, y, token(text))
        for x, y, text in heaviest.select("scaled_x", "scaled_y", "token").iter_rows()
    ]
    chosen = points.filter("selected").select("scaled_x", "scaled_y").rows()
    label_points(axes, names, chosen, keep_off)


def kinds(points: pl.DataFrame) -> list[tuple[Look, pl.DataFrame]]:
    selected, inside = pl.col("selected"), pl.col("inside")
    return [
        (LEFT_OUT, points.filter(~selected)),
        (OUTSIDE, points.filter(selected & ~inside)),
        (INSIDE, points.filter(selected & inside)),
    ]


def near_and_far(points: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The selected tokens that share a frame, and those that would squeeze all the others."""
    chosen = points.filter("selected")
    at = chosen.select("scaled_x", "scaled_y").to_numpy()
    if not len(at):
        return chosen, chosen
    away = np.linalg.norm(at - np.median(at, axis=0), axis=1)
    near = pl.Series(away <= max(_REACH * float(np.quantile(away, 0.75)), 1e-12))
    return chosen.filter(near), chosen.filter(~near)


def token(text: str) -> str:
    """A token without quotation marks, which may be one itself; its blanks can be seen."""
    seen = text.replace("\r\n", "↵").replace("\n", "↵").replace("\r", "↵")
    shown = printable("".join("␣" if sign.isspace() else sign for sign in seen))
    return shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…"


def _ball(axes: Axes, points: pl.DataFrame) -> None:
    centre, radius = points.select("s_x", "s_y").row(0), points["radius"][0]
    filling = {"facecolor": PALE, "edgecolor": GREY, "linestyle": "--", "linewidth": 0.8}
    axes.add_patch(Circle(centre, radius, zorder=0, **filling))
    axes.plot(*centre, **SUM.how(markersize=6, zorder=4, markeredgewidth=0))


def _set_frame(axes: Axes, points: pl.DataFrame, near: pl.DataFrame, left: float) -> None:
    """Limits around the points and the edge next to them, `left` of the width, one scale."""
    at = near.select("scaled_x", "scaled_y").to_numpy()
    centre, radius = np.array(points.select("s_x", "s_y").row(0)), points["radius"][0]
    middle = at.mean(axis=0) if len(at) else centre
    outwards = middle - centre
    length = float(np.linalg.norm(outwards)) or 1.0
    at = np.vstack([at, centre + outwards * radius / length])
    low, high = at.min(axis=0), at.max(axis=0)
    extent = axes.get_window_extent()
    ratio = float(extent.width / extent.height)
    wide, high_up = (max(float(size), radius * 1e-4, 1e-12) * 1.3 for size in high - low)
    height = max(high_up, wide / (left * ratio))
    across, up = (low + high) / 2
    axes.set_xlim(across - height * ratio * left / 2, across + height * ratio * (1 - left / 2))
    axes.set_ylim(up - height / 2, up + height / 2)


def _draw_whole(
    axes: Axes, points: pl.DataFrame, near: pl.DataFrame, far: pl.DataFrame
) -> list[BboxBase]:
    """The whole ball, small, and which tokens are not in the frame; where nothing may be put."""
    small = axes.inset_axes(_WHOLE)
    _ball(small, points)
    for look, chosen in kinds(points)[1:]:
        small.plot(chosen["scaled_x"], chosen["scaled_y"], **look.how(markersize=2.2, zorder=3))
    middle = near.select(pl.mean("scaled_x", "scaled_y")).row(0)
    if None not in middle:
        hollow = {"markersize": 6, "markerfacecolor": "none", "markeredgewidth": 0.8}
        small.plot(*middle, **FRAME.how(zorder=5, **hollow))
    small.set_aspect("equal", adjustable="datalim")
    small.set(xticks=[], yticks=[], facecolor="white")
    small.margins(0.08)
    for side in small.spines.values():
        side.set(visible=True, linewidth=0.4, color=GREY)
    boxes: list[BboxBase] = [
        Bbox(TransformedBbox(Bbox.from_bounds(*_WHOLE), axes.transAxes).get_points())
    ]
    if far.height:
        how = {"transform": axes.transAxes, "ha": "right", "va": "top", "fontsize": 6}
        note = axes.text(0.985, 0.48, _beyond(far), parse_math=False, color=BLACK, **how)
        boxes.append(note.get_window_extent())
    return boxes


def _beyond(far: pl.DataFrame) -> str:
    named = far.sort("weight", descending=True).select("token", "weight").head(2).rows()
    words = [f"{token(text or '?')}, weight {weight:.2f}" for text, weight in named]
    more = [f"{far.height - 2} more"] if far.height > 2 else []
    return "\n".join(["not in the frame:", *(textwrap.shorten(w, 30) for w in words), *more])
