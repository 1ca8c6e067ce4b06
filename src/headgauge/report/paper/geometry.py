"""Figure 1: the vectors of a row, weighted, s of the selected ones, and the ball around it.

A heavy token lies near s, and hundreds of light ones crowd at 0, which is where the ball's edge
passes. In one frame with all of them none of the light ones could be told from another. So each row
is shown twice: the whole ball, and its edge, in a frame around the many.
"""

import re
from dataclasses import replace

import numpy as np
import polars as pl

from headgauge.registry.entry import BLACK, GREEN, GREY, RED, Look
from headgauge.report.captions import span
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series, Switch
from headgauge.report.paper.tables import Tables, groups
from headgauge.report.paper.words import sentence

HEADS = 3  # of the model in a file
_TITLE = "Figure 1: selected tokens, their weighted sum s and the ball around it"
_ROW = ("text", "panel", "layer", "head", "row")
_NAMED = 4  # tokens with their text beside them, at most
_LONGEST_NAME = 12
_REACH = 5.0  # times the upper quartile of the distances from the middle: beyond is far
_UNIT_CIRCLE = Mark("circle", (0.0, 0.0, 1.0), "", Look("#BBBBBB"))
_BALL = "ball B_r(s): ‖α_i x_i − s‖ ≤ r"
_SELECTED, _INSIDE = pl.col("selected"), pl.col("inside")
_KINDS = {  # what matters most stands first, and so lies on top
    "inside": ("selected, inside the ball", Look(GREEN, "none", "circle"), _SELECTED & _INSIDE),
    "outside": ("selected, outside", Look(RED, "none", "cross"), _SELECTED & ~_INSIDE),
    "rest": ("not selected", Look(GREY, "none", "dot", opacity=0.6), ~_SELECTED),
}


def geometry_in_files(paper: Tables) -> Figure:
    """The picture of the paper in three steps, then heads of the model: the ball and its edge."""
    points = paper["fig1"]
    circle, heads = points.filter(panel="circle"), shown_heads(points)
    n = span(circle["top_n"])
    panels = [
        vector_panel(circle, f"(a) vectors on a circle, N = {n}"),
        ball_panel(circle, "(b) times their weights"),
        edge_panel(circle, f"(c) edge of the ball: {_count(circle, 'inside')} of {n} inside"),
    ]
    balls = [ball_panel(head, _head_title(head)) for head in heads]
    none = [Panel("", Axis(""), Axis(""), empty="no other head in this run")]
    balls += none * (HEADS - len(heads))
    edges = [edge_panel(head, "its edge") for head in heads]
    lettered = zip("defghi", [*balls, *edges] if heads else (), strict=False)
    panels += [replace(panel, title=f"({letter}) {panel.title}") for letter, panel in lettered]
    caption = (sentence(geometry_words(points, heads)),)
    return Figure("fig1", _TITLE, tuple(panels), 3, caption=caption)


def geometry_on_page(paper: Tables) -> Figure:
    """Any row of the table: its vectors, the weighted ones, the edge of the ball."""
    panels: list[Panel] = []
    said = "Left: the vectors x_i. Middle: weighted, α_i x_i, with s and the ball B_r(s). Right: "
    caption = [Sentence(f"{said}its edge, where the selected tokens lie.")]
    for _, points in groups(paper["fig1"], _ROW):
        row, inside = points.row(0, named=True), _count(points, "inside")
        n, name, true = row["top_n"], "points on a circle", ""
        if row["panel"] == "model":
            name = f"layer {row['layer']}, head {row['head']}, query {row['row']}"
            true = " Distances from s are true, angles are projected."
        at = {"text": row["text"], "row": f"{name}, N = {n}"}
        three = (
            vector_panel(points, "Vectors"),
            ball_panel(points, "Weighted vectors"),
            edge_panel(points, "Zoom on the selected"),
        )
        panels += [replace(panel, at=at) for panel in three]
        said = (
            f"{points.height} keys, {n} selected, {inside} of them in the ball of "
            f"r = {row['radius']:.4g}: N_s/N = {inside / n:.3g}.{true}"
        )
        caption.append(Sentence(said, at))
    rows = dict.fromkeys(panel.at["row"] for panel in panels)
    switch = Switch("row", "Row", tuple((row, row) for row in rows))
    return Figure("fig1", _TITLE, tuple(panels), 3, (switch,), tuple(caption))


def shown_heads(points: pl.DataFrame) -> list[pl.DataFrame]:
    """Three heads from the first to the last layer, of those with a selected token left outside.

    A head with all of them inside is shown only where there are not enough others.
    """
    heads = points.filter(panel="model").partition_by("layer", "head", "row", maintain_order=True)
    heads.sort(key=lambda head: not _count(head, "outside"))
    last = sum(_count(head, "outside") > 0 for head in heads) - 1
    if last >= HEADS:
        heads = [heads[round(step * last / (HEADS - 1))] for step in range(HEADS)]
    return sorted(heads[:HEADS], key=lambda head: head["layer"][0])


def _count(points: pl.DataFrame, kind: str) -> int:
    return points.filter(_KINDS[kind][2]).height


def _head_title(head: pl.DataFrame) -> str:
    layer, number, n = head.select("layer", "head", "top_n").row(0)
    return f"layer {layer}, head {number}: {_count(head, 'inside')} of {n} inside"


def geometry_words(points: pl.DataFrame, heads: list[pl.DataFrame]) -> str:
    """Which row the heads' panels show and what is true in them."""
    if not heads:
        return "no row of a model in this run"
    rows = sorted({head["row"][0] for head in heads})
    there = points.filter(panel="model").n_unique(["layer", "head", "row"])
    far = ", ".join(filter(None, map(_beyond, heads)))
    return (
        f"heads: query {', '.join(map(str, rows))} of the window, {len(heads)} of {there} heads "
        "in the table, those with tokens outside first; only the angle around s is projected, "
        "every distance from s is true" + f"; not in the frames of the edges: {far}" * bool(far)
    )


def _beyond(head: pl.DataFrame) -> str:
    """The tokens that are not in the frame of the edge."""
    _, far = near_and_far(head)
    if far.is_empty():
        return ""
    heaviest = far.sort("weight", descending=True).select("token", "weight").head(2).rows()
    named = [f"{token(text or '?')} with weight {weight:.2f}" for text, weight in heaviest]
    more = [f"{far.height - 2} more"] if far.height > 2 else []
    return f"layer {head['layer'][0]} {' and '.join([*named, *more])}"


def vector_panel(points: pl.DataFrame, title: str) -> Panel:
    """The vectors themselves; on the circle of length one."""
    panel = _panel(points, title, "x_i", ("x", "y"))
    return replace(panel, marks=(_UNIT_CIRCLE,)) if _on_circle(points) else panel


def ball_panel(points: pl.DataFrame, title: str) -> Panel:
    """Each times its weight: the sum of the selected, and the ball around it."""
    panel = _panel(points, title, "α_i x_i", ("scaled_x", "scaled_y"))
    if points.is_empty():
        return panel
    x, y, radius = points.select("s_x", "s_y", "radius").row(0)
    star, facts = Look(BLACK, "none", "star"), {"radius r": [radius]}
    total = Series("s", "s, the sum of the selected", star, [x], [y], facts=facts)
    ball = Mark("circle", (x, y, radius), _BALL, Look(GREY, "dashed"), in_legend=True)
    return replace(panel, series=(total, *panel.series), marks=(ball,))


def edge_panel(points: pl.DataFrame, title: str) -> Panel:
    """The selected tokens near the ball's edge, the heaviest of them by name."""
    near, _ = near_and_far(points)
    panel = ball_panel(points, title)
    if near.is_empty():
        return panel
    heaviest = near.drop_nulls("token").sort("weight", descending=True).head(_NAMED)
    named = {
        (x, y): token(text)
        for x, y, text in heaviest.select("scaled_x", "scaled_y", "token").rows()
    }
    series = tuple(
        replace(each, names=[named.get(at) for at in zip(each.x, each.y, strict=True)])
        if each.name in ("inside", "outside")
        else each
        for each in panel.series
    )
    low, high = _frame(points, near)
    x, y = (
        replace(axis, low=float(start), high=float(end))
        for axis, start, end in zip((panel.x, panel.y), low, high, strict=True)
    )
    return replace(panel, x=x, y=y, series=series)


def _panel(points: pl.DataFrame, title: str, what: str, columns: tuple[str, str]) -> Panel:
    series = []
    for name, (label, look, kind) in _KINDS.items():
        part = points.filter(kind)
        if part.height:
            x, y = (part[column].to_list() for column in columns)
            facts = {fact: part[fact].to_list() for fact in ("token", "key", "weight")}
            series.append(Series(name, label, look, x, y, facts=facts))
    x, y = (what, "") if _on_circle(points) else (f"{what}, along s", "direction of largest spread")
    empty = "no row of this kind in this run"
    return Panel(title, Axis(x), Axis(y), tuple(series), equal=True, empty=empty)


def _on_circle(points: pl.DataFrame) -> bool:
    return points.is_empty() or points["panel"][0] == "circle"


def near_and_far(points: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The selected tokens that share a frame, and those that would squeeze all the others."""
    selected = points.filter(_SELECTED)
    at = selected.select("scaled_x", "scaled_y").to_numpy()
    if not len(at):
        return selected, selected
    away = np.linalg.norm(at - np.median(at, axis=0), axis=1)
    near = pl.Series(away <= max(_REACH * float(np.quantile(away, 0.75)), 1e-12))
    return selected.filter(near), selected.filter(~near)


def _frame(points: pl.DataFrame, near: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Limits around the points and the edge next to them; on the circle, where they are few, around
    all of them."""
    kept = points if _on_circle(points) else near
    at = kept.select("scaled_x", "scaled_y").to_numpy()
    centre, radius = np.array(points.select("s_x", "s_y").row(0)), points["radius"][0]
    outwards = at.mean(axis=0) - centre
    length = float(np.linalg.norm(outwards)) or 1.0
    at = np.vstack([at, centre + outwards * radius / length])
    low, high = at.min(axis=0), at.max(axis=0)
    beside = np.maximum(high - low, max(radius * 1e-4, 1e-12)) * 0.15
    return low - beside, high + beside


def token(text: str) -> str:
    """A token without quotation marks, which may be one itself; its blanks can be seen."""
    shown = re.sub(r"\s", "␣", re.sub(r"\r\n|\r|\n", "↵", text))
    return shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…"
