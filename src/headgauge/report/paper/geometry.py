"""Figure 1: the weighted vectors of a row, s of the selected ones, and the ball around it."""

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from headgauge.report.paper.looks import BLACK, GREEN, GREY, PALE, RED, Look
from headgauge.report.paper.page import nothing
from headgauge.report.paper.selecting import printable

_NAMED = 5  # tokens with their text beside them
_LONGEST_NAME = 14
_INSIDE = Look("selected, inside the ball", GREEN, "", "o")
_OUTSIDE = Look("selected, outside", RED, "", "X")
_LEFT_OUT = Look(r"not selected, $\alpha_i x_i$", GREY, "", ".")
_VECTOR = Look(r"vector $x_i$", GREY, "", "o")
_SUM = Look(r"$s=\sum\alpha_i x_i$ of the selected", BLACK, "", "*")
_BALL = Look(r"ball: $\|\alpha_i x_i-s\|\leq r$", GREY, "--")


def draw_geometry(axes: Axes, points: pl.DataFrame) -> None:
    """One panel: the circle with its vectors, or a row of the model without them.

    In a model the vectors are some hundred times as long as the weighted ones, which would all lie
    on one point if both were shown.
    """
    if points.is_empty():
        nothing(axes, "no row of this kind in this run")
        return
    with_vectors = points["panel"][0] == "circle"
    centre = points["s_x"][0], points["s_y"][0]
    ball = {"facecolor": PALE, "edgecolor": GREY, "linestyle": "--", "linewidth": 0.8, "zorder": 0}
    axes.add_patch(Circle(centre, points["radius"][0], **ball))
    if with_vectors:
        hollow = {"markerfacecolor": "white", "markersize": 4, "zorder": 1}
        axes.plot(points["x"], points["y"], **_VECTOR.how(**hollow))
        _rays(axes, points)
    for look, chosen in _kinds(points):
        axes.plot(chosen["scaled_x"], chosen["scaled_y"], **look.how(zorder=3))
    axes.plot(*centre, **_SUM.how(markersize=8, zorder=4))
    if not with_vectors:
        _name(axes, points)
        axes.set_xlabel("along s", labelpad=2)
        axes.set_ylabel("direction of largest spread", labelpad=2)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.1)
    axes.axhline(0, color=PALE, linewidth=0.6, zorder=-1)
    axes.axvline(0, color=PALE, linewidth=0.6, zorder=-1)


def geometry_handles(points: pl.DataFrame) -> list[Artist]:
    looks = [*(look for look, chosen in _kinds(points) if chosen.height)]
    if "circle" in points["panel"]:
        looks.append(_VECTOR)
    handles: list[Artist] = [_SUM.handle(markersize=7)]
    for look in looks:
        inside = {"markerfacecolor": "white"} if look is _VECTOR else {}
        handles.append(look.handle(**inside))
    return [*handles, _BALL.handle(linewidth=0.8)]


def geometry_words(points: pl.DataFrame) -> str:
    """Which head and row the model's panel shows, for the small print."""
    model = points.filter(pl.col("panel") == "model")
    if model.is_empty():
        return "no row of a model in this run"
    first = model.row(0, named=True)
    separable = model.filter("selected", "inside").height
    return (
        f"model: layer {first['layer']}, head {first['head']}, row {first['row']}, "
        f"{separable} of {first['top_n']} selected tokens inside; only the angle around s is "
        "projected, every distance from s is true"
    )


def _kinds(points: pl.DataFrame) -> list[tuple[Look, pl.DataFrame]]:
    selected, inside = pl.col("selected"), pl.col("inside")
    return [
        (_LEFT_OUT, points.filter(~selected)),
        (_OUTSIDE, points.filter(selected & ~inside)),
        (_INSIDE, points.filter(selected & inside)),
    ]


def _rays(axes: Axes, points: pl.DataFrame) -> None:
    """From each vector to the weighted one."""
    for point in points.iter_rows(named=True):
        across, up = (point["x"], point["scaled_x"]), (point["y"], point["scaled_y"])
        axes.plot(across, up, color=PALE, linewidth=0.6, zorder=0.5)


def _name(axes: Axes, points: pl.DataFrame) -> None:
    """The heaviest selected tokens, on the side of their point that is away from s."""
    named = points.filter("selected").drop_nulls("text")
    taken: list[tuple[float, float]] = []
    height = max(2 * points["radius"][0], 1e-12)
    for point in named.sort("weight", descending=True).head(_NAMED).iter_rows(named=True):
        across, up = point["scaled_x"], point["scaled_y"]
        if any(abs(across - x) < 0.35 * height and abs(up - y) < 0.07 * height for x, y in taken):
            continue  # it would lie on another's
        taken.append((across, up))
        right = across >= point["s_x"]
        axes.annotate(
            _short(point["text"]),
            (across, up),
            xytext=(4 if right else -4, 3),
            textcoords="offset points",
            ha="left" if right else "right",
            fontsize=6,
            parse_math=False,
        )


def _short(text: str) -> str:
    shown = printable(text.strip() or text)
    return f"“{shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + '…'}”"
