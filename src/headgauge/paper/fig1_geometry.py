"""Figure 1: selected tokens, the ball B_r(s), and which of them are in it.

The paper draws points on a circle. Beside that illustration stand real rows of real heads, seen in
a plane: one axis is the direction of s, the other the one along which the weighted vectors spread
most. There the weighted points keep their true distance from s, so that inside is inside; only the
angle is projected.
"""

import math
from typing import Any

import polars as pl
import torch
from torch import Tensor

from headgauge import models
from headgauge.measure.requests import Probe, Vectors
from headgauge.paper.choices import Choice
from headgauge.runs.paper_schema import PointRow
from headgauge.runs.schema import frame_schema
from headgauge.theory.normalization.selection import top_n
from headgauge.theory.normalization.separability import distinguishable, radius

TOP_N = 16
LAYERS = 6  # in which a head is drawn, the first of each
CIRCLE_POINTS, CIRCLE_N = 24, 6


def probe(choice: Choice, layers: int, n: int = TOP_N) -> Probe:
    """The last query row of the first head of layers spread over the model's."""
    last = max(1, layers - 1)
    drawn = {round(at * last / (LAYERS - 1)) for at in range(LAYERS)}

    def measure(head: Any, vectors: Vectors) -> list[dict[str, Any]]:
        call: models.ObservedCall = head.call
        first = head.head == 0 and call.occurrence == 0
        found = vectors(choice.vectors) if first and call.layer in drawn else None
        if found is None:
            return []
        row = call.queries - 1
        block = call.block(0, head.head, row, call.queries)
        keys = block.visible[0].nonzero()[:, 0]
        if len(keys) <= n:
            return []
        weights = block.weights[0, keys].cpu().double()
        texts = head.sampler.key_texts(keys.tolist())
        points = _points(weights, *plane(weights, choice.scaled(found[keys]), n))
        return [
            head.where | {"row": row, "top_n": n, "key": key, "key_text": text} | point
            for key, text, point in zip(keys.tolist(), texts, points, strict=True)
        ]

    return Probe("points", "points", (choice.vectors,), measure)


def plane(
    weights: Tensor, x: Tensor, n: int
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Where the vectors and the weighted ones go, s, r, and who is selected and inside."""
    selected = top_n(weights, n)
    y = weights[:, None] * x
    s = y[selected].sum(0)
    away = y - s
    first = torch.nn.functional.normalize(s, dim=0)
    rest = y - (y @ first)[:, None] * first
    second = torch.linalg.svd(rest, full_matrices=False).Vh[0]
    second = second * torch.sign(second[second.abs().argmax()])
    axes = torch.stack([first, second], dim=-1)
    flat = away @ axes
    seen = torch.linalg.vector_norm(flat, dim=-1, keepdim=True)
    outward = torch.where(seen > 0, flat / torch.where(seen > 0, seen, 1.0), 0.0)
    centre = s @ axes
    placed = centre + outward * torch.linalg.vector_norm(away, dim=-1, keepdim=True)
    inside = distinguishable(weights, x, selected)
    return x @ axes, placed, centre, radius(weights, x, selected), selected, inside


def _points(
    weights: Tensor, x: Tensor, y: Tensor, s: Tensor, r: Tensor, selected: Tensor, inside: Tensor
) -> list[dict[str, Any]]:
    """A row for each key of a panel."""
    return [
        {
            "weight": float(weights[at]),
            "x": float(x[at, 0]),
            "y": float(x[at, 1]),
            "scaled_x": float(y[at, 0]),
            "scaled_y": float(y[at, 1]),
            "selected": bool(selected[at]),
            "inside": bool(inside[at]),
            "s_x": float(s[0]),
            "s_y": float(s[1]),
            "radius": float(r),
        }
        for at in range(len(weights))
    ]


def run(points: pl.DataFrame) -> pl.DataFrame:
    """PointRows of the circle and of the drawn heads."""
    schema = frame_schema(PointRow)
    model = points.filter(pl.col("window") == pl.col("window").min()).with_columns(
        panel=pl.lit("model"), token=pl.col("key_text"), text=pl.lit(None, pl.String)
    )
    model = model.select(pl.col(name).cast(kind) for name, kind in schema.items())
    circle = [
        {"panel": "circle", "top_n": CIRCLE_N, "key": key} | point
        for key, point in enumerate(_circle())
    ]
    both = pl.concat([pl.DataFrame(circle, schema=schema), model])
    return both.sort("panel", "layer", "head", "key")


def _circle() -> list[dict[str, Any]]:
    """Points on a circle: a query at the top, and a wave that spreads out what is selected."""
    angles = torch.arange(CIRCLE_POINTS) * (2 * math.pi / CIRCLE_POINTS)
    x = torch.stack([torch.cos(angles), torch.sin(angles)], dim=-1).double()
    weights = torch.softmax(2 * x[:, 1] + 2 * torch.cos(3 * angles + 1).double(), dim=-1)
    selected = top_n(weights, CIRCLE_N)
    y = weights[:, None] * x
    inside = distinguishable(weights, x, selected)
    s, r = y[selected].sum(0), radius(weights, x, selected)
    return _points(weights, x, y, s, r, selected, inside)
