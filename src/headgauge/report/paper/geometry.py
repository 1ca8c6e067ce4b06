"""Figure 1: the vectors of a row, weighted, s of the selected ones, and the ball around it.

The upper row is the paper's picture, vectors on a circle; the lower one has heads of the model.
"""

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from headgauge.report.paper.ball import (
    BALL,
    FRAME,
    INSIDE,
    LEFT_OUT,
    OUTSIDE,
    SUM,
    draw_edge,
    kinds,
)
from headgauge.report.paper.looks import BLUE, GREY, PALE, Look
from headgauge.report.paper.page import nothing

HEADS = 3  # in the lower row
_VECTOR = Look(r"vector $x_i$, not selected", GREY, "", "o")
_SELECTED = Look("selected", BLUE, "", "o")


def shown_heads(points: pl.DataFrame) -> list[pl.DataFrame]:
    """Three heads from the first to the last layer, of those with a selected token left outside.

    A head with all of them inside is shown only where there are not enough others.
    """
    model = points.filter(pl.col("panel") == "model")
    heads = model.partition_by("layer", "head", "row", maintain_order=True)
    outside = [head.filter(pl.col("selected") & ~pl.col("inside")).height > 0 for head in heads]
    telling = [place for place, there in enumerate(outside) if there]
    others = [place for place, there in enumerate(outside) if not there]
    if len(telling) > HEADS:
        last = len(telling) - 1
        chosen = [telling[round(step * last / (HEADS - 1))] for step in range(HEADS)]
    else:
        chosen = [*telling, *others[: HEADS - len(telling)]]
    return sorted((heads[place] for place in chosen), key=lambda head: head["layer"][0])


def draw_vectors(axes: Axes, circle: pl.DataFrame) -> None:
    """The vectors themselves, of length one."""
    if _empty(axes, circle):
        return
    axes.add_patch(Circle((0, 0), 1, fill=False, edgecolor=PALE, linewidth=0.8, zorder=0))
    left, chosen = (circle.filter(pl.col("selected") == there) for there in (False, True))
    axes.plot(left["x"], left["y"], **_VECTOR.how(markerfacecolor="white", markersize=4))
    axes.plot(chosen["x"], chosen["y"], **_SELECTED.how(markersize=4))
    _plane(axes)


def draw_weighted(axes: Axes, circle: pl.DataFrame) -> None:
    """The same, each times its weight: the sum of the selected, and the ball around it."""
    if _empty(axes, circle):
        return
    centre, radius = circle.select("s_x", "s_y").row(0), circle["radius"][0]
    ball = {"fill": False, "edgecolor": GREY, "linestyle": "--", "linewidth": 0.8, "zorder": 0}
    axes.add_patch(Circle(centre, radius, **ball))
    left, chosen = (circle.filter(pl.col("selected") == there) for there in (False, True))
    axes.plot(left["scaled_x"], left["scaled_y"], **LEFT_OUT.how(markersize=3))
    for x, y in chosen.select("scaled_x", "scaled_y").iter_rows():
        axes.plot([0, x], [0, y], color=BLUE, linewidth=0.4, zorder=1)
    axes.plot(chosen["scaled_x"], chosen["scaled_y"], **_SELECTED.how())
    axes.plot(*centre, **SUM.how(markersize=8, zorder=4, markeredgewidth=0))
    _plane(axes)


def draw_circle_edge(axes: Axes, circle: pl.DataFrame) -> None:
    if not _empty(axes, circle):
        draw_edge(axes, circle, whole=False)


def draw_head(axes: Axes, head: pl.DataFrame) -> None:
    """A row of a head: "along s" is true, and so is every distance from s; the angle is not."""
    if not _empty(axes, head):
        draw_edge(axes, head, whole=True)
        axes.set_xlabel("along s", labelpad=2)


def head_title(head: pl.DataFrame) -> str:
    first, inside = head.row(0, named=True), head.filter("selected", "inside").height
    return f"layer {first['layer']}, head {first['head']}: {inside} of {first['top_n']} inside"


def geometry_handles(points: pl.DataFrame) -> list[Artist]:
    """Only what is in the panels."""
    handles: list[Artist] = []
    if "circle" in points["panel"]:
        handles += [_VECTOR.handle(markerfacecolor="white", markersize=4), _SELECTED.handle()]
    there = {look.label for look, chosen in kinds(points) if chosen.height}
    handles += [look.handle() for look in (LEFT_OUT, INSIDE, OUTSIDE) if look.label in there]
    handles += [SUM.handle(markersize=7, markeredgewidth=0), BALL.handle(linewidth=0.8)]
    if "model" in points["panel"]:
        handles.append(FRAME.handle(markersize=6, markerfacecolor="none", markeredgewidth=0.8))
    return handles


def geometry_words(points: pl.DataFrame) -> str:
    """Which row the heads' panels show and what is true in them, for the small print."""
    heads = shown_heads(points)
    if not heads:
        return "no row of a model in this run"
    rows = sorted({head["row"][0] for head in heads})
    there = points.filter(pl.col("panel") == "model").n_unique(["layer", "head", "row"])
    return (
        f"heads: query {', '.join(map(str, rows))} of the window, {len(heads)} of {there} heads "
        "in the table, those with tokens outside first; only the angle around s is projected, "
        "every distance from s is true"
    )


def _empty(axes: Axes, points: pl.DataFrame) -> bool:
    if points.is_empty():
        nothing(axes, "no row of this kind in this run")
    return points.is_empty()


def _plane(axes: Axes) -> None:
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.08)
    axes.axhline(0, color=PALE, linewidth=0.6, zorder=-1)
    axes.axvline(0, color=PALE, linewidth=0.6, zorder=-1)
