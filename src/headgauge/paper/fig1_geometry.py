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
from headgauge.runs.paper_schema import paper_frame
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
        texts = head.sampler.texts(head.sampler.key_ids[keys])
        points = panel(weights, choice.scaled(found[keys]), n)
        return [
            head.where | {"row": row, "top_n": n, "key": key, "key_text": text} | point
            for key, text, point in zip(keys.tolist(), texts, points, strict=True)
        ]

    return Probe("points", "points", (choice.vectors,), measure)


def panel(weights: Tensor, x: Tensor, n: int, flat: bool = False) -> list[dict[str, Any]]:
    """A row for each key of one query row; `flat` vectors lie in a plane as they are."""
    selected = top_n(weights, n)
    y = weights[:, None] * x
    s = y[selected].sum(0)
    r, inside = radius(weights, x, selected), distinguishable(weights, x, selected)
    if not flat:
        x, y, s = _in_a_plane(x, y, s)
    columns = {
        "weight": weights,
        "x": x[:, 0],
        "y": x[:, 1],
        "scaled_x": y[:, 0],
        "scaled_y": y[:, 1],
        "selected": selected,
        "inside": inside,
    }
    ball = {"s_x": float(s[0]), "s_y": float(s[1]), "radius": float(r)}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) | ball for row in rows]


def _in_a_plane(x: Tensor, y: Tensor, s: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Where the vectors, the weighted ones and s go."""
    away = y - s
    first = torch.nn.functional.normalize(s, dim=0)
    rest = y - (y @ first)[:, None] * first
    second = torch.linalg.svd(rest, full_matrices=False).Vh[0]
    second = second * torch.sign(second[second.abs().argmax()])
    axes = torch.stack([first, second], dim=-1)
    flat = away @ axes
    seen = torch.linalg.vector_norm(flat, dim=-1, keepdim=True)
    outward = torch.where(seen > 0, flat / torch.where(seen > 0, seen, 1.0), 0.0)
    placed = s @ axes + outward * torch.linalg.vector_norm(away, dim=-1, keepdim=True)
    return x @ axes, placed, s @ axes


def run(points: pl.DataFrame) -> pl.DataFrame:
    """PointRows of the circle and of the drawn heads."""
    model = points.filter(pl.col("window") == pl.col("window").min())
    model = model.with_columns(panel=pl.lit("model"), token="key_text")
    circle = [
        {"panel": "circle", "top_n": CIRCLE_N, "key": key} | point
        for key, point in enumerate(_circle())
    ]
    return paper_frame("fig1", circle + model.to_dicts()).sort("panel", "layer", "head", "key")


def _circle() -> list[dict[str, Any]]:
    """Points on a circle: a query at the top, and a wave that spreads out what is selected."""
    angles = torch.arange(CIRCLE_POINTS) * (2 * math.pi / CIRCLE_POINTS)
    x = torch.stack([torch.cos(angles), torch.sin(angles)], dim=-1).double()
    weights = torch.softmax(2 * x[:, 1] + 2 * torch.cos(3 * angles + 1).double(), dim=-1)
    return panel(weights, x, CIRCLE_N, flat=True)
