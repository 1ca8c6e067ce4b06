"""Figure 1: the vectors of a row, weighted, s of the selected ones, and the ball around it.

A heavy token lies near s, and hundreds of light ones crowd at 0, which is where the ball's edge
passes. In one frame with all of them none of the light ones could be told from another. So each row
is shown twice: the whole ball, and its edge, in a frame around the many.
"""

from dataclasses import replace

import numpy as np
import polars as pl

from headgauge.registry.entry import BLACK, GREEN, GREY, RED, Look
from headgauge.report.captions import span
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series, Switch
from headgauge.report.paper.tables import Tables, groups, sentence

TITLE = "Figure 1. The geometry of a row"
HEADS = 3  # of the model in a file
_ROW = ("text", "panel", "layer", "head", "row")
_NAMED = 4  # tokens with their text beside them, at most
_LONGEST_NAME = 12
_REACH = 5.0  # times the upper quartile of the distances from the middle: beyond is far
_CIRCLE = Look("#BBBBBB")
_EDGE = Look(GREY, "dashed")
_SUM = Look(BLACK, "none", "star")
_KINDS = {  # what matters most stands first, and so lies on top
    "inside": ("selected, inside the ball", Look(GREEN, "none", "circle")),
    "outside": ("selected, outside", Look(RED, "none", "cross")),
    "rest": ("not selected", Look(GREY, "none", "dot", opacity=0.6)),
}


def geometry_in_files(paper: Tables) -> Figure:
    """The picture of the paper in three steps, then heads of the model: the ball and its edge."""
    points = paper["fig1"]
    circle, heads = points.filter(pl.col("panel") == "circle"), shown_heads(points)
    n, inside = span(circle["top_n"]), circle.filter("selected", "inside").height
    panels = [
        vector_panel(circle, f"(a) vectors on a circle, N = {n}"),
        ball_panel(circle, "(b) times their weights"),
        edge_panel(circle, f"(c) edge of the ball: {inside} of {n} inside"),
    ]
    none = Panel("", Axis(""), Axis(""), empty="no other head in this run")
    wholes = [ball_panel(head, head_title(head)) for head in heads]
    edges = [edge_panel(head, "its edge") for head in heads]
    rest = [*wholes, *[none] * (HEADS - len(heads)), *edges] if heads else []
    lettered = zip("defghi", rest, strict=False)
    panels += [replace(panel, title=f"({letter}) {panel.title}") for letter, panel in lettered]
    caption = (sentence(geometry_words(points, heads)),)
    return Figure("fig1", TITLE, tuple(panels), 3, caption=caption, on_page=False)


def geometry_on_page(paper: Tables) -> Figure:
    """Any row of the table: its vectors, the weighted ones, the edge of the ball."""
    panels: list[Panel] = []
    options: dict[str, str] = {}
    caption = [
        Sentence(
            "Left: the vectors x_i. Middle: weighted, α_i x_i, with s and the ball B_r(s). Right: "
            "its edge, where the selected tokens lie."
        )
    ]
    for _, points in groups(paper["fig1"], _ROW):
        row = points.row(0, named=True)
        name = row_name(row)
        options[name] = name
        at = {"text": row["text"], "row": name}
        inside, n = points.filter("selected", "inside").height, row["top_n"]
        panels += [
            replace(panel, at=at)
            for panel in (
                vector_panel(points, "Vectors"),
                ball_panel(points, "Weighted vectors"),
                edge_panel(points, "Zoom on the selected"),
            )
        ]
        told = (
            f"{points.height} keys, {n} selected, {inside} of them in the ball of "
            f"r = {row['radius']:.4g}: N_s/N = {inside / n:.3g}."
        )
        if row["panel"] == "model":
            told += " Distances from s are true, angles are projected."
        caption.append(Sentence(told, at))
    switch = Switch("row", "Row", tuple(options.items()))
    return Figure(
        "fig1",
        TITLE,
        tuple(panels),
        3,
        switches=(switch,),
        caption=tuple(caption),
        in_files=False,
    )


def row_name(row: dict) -> str:
    if row["panel"] == "circle":
        return f"points on a circle, N = {row['top_n']}"
    return f"layer {row['layer']}, head {row['head']}, query {row['row']}, N = {row['top_n']}"


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


def head_title(head: pl.DataFrame) -> str:
    first, inside = head.row(0, named=True), head.filter("selected", "inside").height
    return f"layer {first['layer']}, head {first['head']}: {inside} of {first['top_n']} inside"


def geometry_words(points: pl.DataFrame, heads: list[pl.DataFrame]) -> str:
    """Which row the heads' panels show and what is true in them, for the small print."""
    if not heads:
        return "no row of a model in this run"
    rows = sorted({head["row"][0] for head in heads})
    there = points.filter(pl.col("panel") == "model").n_unique(["layer", "head", "row"])
    far = [_beyond(head) for head in heads]
    told = "; not in the frames of the edges: " + ", ".join(filter(None, far)) if any(far) else ""
    return (
        f"heads: query {', '.join(map(str, rows))} of the window, {len(heads)} of {there} heads "
        "in the table, those with tokens outside first; only the angle around s is projected, "
        f"every distance from s is true{told}"
    )


def vector_panel(points: pl.DataFrame, title: str) -> Panel:
    """The vectors themselves; on the circle of length one."""
    marks = (Mark("circle", (0.0, 0.0, 1.0), "", _CIRCLE),) if _on_circle(points) else ()
    return _panel(points, title, "x_i", ("x", "y"), marks)


def ball_panel(points: pl.DataFrame, title: str) -> Panel:
    """Each times its weight: the sum of the selected, and the ball around it."""
    panel = _panel(points, title, "α_i x_i", ("scaled_x", "scaled_y"))
    if points.is_empty():
        return panel
    x, y, radius = points.select("s_x", "s_y", "radius").row(0)
    facts = {"radius r": [radius]}
    total = Series("s", "s, the sum of the selected", _SUM, [x], [y], facts=facts)
    ball = Mark("circle", (x, y, radius), "ball B_r(s): ‖α_i x_i − s‖ ≤ r", _EDGE, in_legend=True)
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
        for x, y, text in heaviest.select("scaled_x", "scaled_y", "token").iter_rows()
    }
    series = tuple(
        replace(each, names=[named.get(place) for place in zip(each.x, each.y, strict=True)])
        if each.name in ("inside", "outside")
        else each
        for each in panel.series
    )
    low, high = _frame(points, near)
    x, y = (
        replace(axis, low=float(low[place]), high=float(high[place]))
        for place, axis in enumerate((panel.x, panel.y))
    )
    return replace(panel, x=x, y=y, series=series)


def _panel(
    points: pl.DataFrame,
    title: str,
    what: str,
    columns: tuple[str, str],
    marks: tuple[Mark, ...] = (),
) -> Panel:
    chosen, inside = pl.col("selected"), pl.col("inside")
    found = []
    for name, test in (
        ("inside", chosen & inside),
        ("outside", chosen & ~inside),
        ("rest", ~chosen),
    ):
        part = points.filter(test)
        if part.height:
            across, up = (part[column].to_list() for column in columns)
            facts = {fact: part[fact].to_list() for fact in ("token", "key", "weight")}
            found.append(Series(name, *_KINDS[name], across, up, facts=facts))
    x, y = (what, "") if _on_circle(points) else (f"{what}, along s", "direction of largest spread")
    empty = "no row of this kind in this run"
    return Panel(title, Axis(x), Axis(y), tuple(found), marks, equal=True, empty=empty)


def _on_circle(points: pl.DataFrame) -> bool:
    return points.is_empty() or points["panel"][0] == "circle"


def near_and_far(points: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The selected tokens that share a frame, and those that would squeeze all the others."""
    chosen = points.filter("selected")
    at = chosen.select("scaled_x", "scaled_y").to_numpy()
    if not len(at):
        return chosen, chosen
    away = np.linalg.norm(at - np.median(at, axis=0), axis=1)
    near = pl.Series(away <= max(_REACH * float(np.quantile(away, 0.75)), 1e-12))
    return chosen.filter(near), chosen.filter(~near)


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
    seen = text.replace("\r\n", "↵").replace("\n", "↵").replace("\r", "↵")
    shown = "".join("␣" if sign.isspace() else sign for sign in seen)
    return shown if len(shown) <= _LONGEST_NAME else shown[: _LONGEST_NAME - 1] + "…"


def _beyond(head: pl.DataFrame) -> str:
    _, far = near_and_far(head)
    named = far.sort("weight", descending=True).select("token", "weight").head(2).rows()
    words = [f"{token(text or '?')} with weight {weight:.2f}" for text, weight in named]
    more = [f"{far.height - 2} more"] if far.height > 2 else []
    where = f"layer {head['layer'][0]} "
    return where + " and ".join([*words, *more]) if words else ""
