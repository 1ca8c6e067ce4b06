"""Figure 1: selected tokens, the ball B_r(s), and which of them are in it.

The paper draws points on a circle. Beside that illustration stand real rows of real heads, seen in
a plane: one axis is the direction of s, the other the one along which the weighted vectors spread
most. There the weighted points keep their true distance from s, so that inside is inside; only the
angle is projected.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import polars as pl
import torch
from torch import Tensor

from headgauge import models
from headgauge.measure.requests import Probe, Vectors
from headgauge.paper.choices import Choice
from headgauge.paper.measured import Measured
from headgauge.runs.paper_schema import PointRow
from headgauge.runs.schema import frame_schema
from headgauge.theory.normalization.selection import top_n
from headgauge.theory.normalization.separability import distinguishable, radius


@dataclass(frozen=True)
class Config:
    """N, the points of the circle, and in how many layers a head is drawn (the first of each)."""

    top_n: int = 16
    circle_points: int = 24
    circle_n: int = 6
    layers: int = 6
    choice: Choice = field(default_factory=Choice)


def probe(config: Config, layers: int) -> Probe:
    """The last query row of the first head of layers spread over the model."""
    last = max(1, layers - 1)
    drawn = {round(at * last / max(1, config.layers - 1)) for at in range(config.layers)}

    def measure(head: Any, vectors: Vectors) -> list[dict[str, Any]]:
        first = head.head == 0 and head.call.occurrence == 0
        found = vectors(config.choice.vectors) if first and head.call.layer in drawn else None
        return [] if found is None else _rows(head, found, config)

    return Probe("points", "points", (config.choice.vectors,), measure)


def _rows(head: Any, vectors: Tensor, config: Config) -> list[dict[str, Any]]:
    call: models.ObservedCall = head.call
    block = call.block(0, head.head, call.queries - 1, call.queries)
    keys = block.visible[0].nonzero()[:, 0]
    if len(keys) <= config.top_n:
        return []
    x = vectors[keys].cpu().double()
    if config.choice.scale == "unit":
        x = torch.nn.functional.normalize(x, dim=-1)
    weights = block.weights[0, keys].cpu().double()
    drawn = plane(weights, x, config.top_n)
    texts = head.sampler.key_texts(keys.tolist())
    where = head.where | {"row": call.queries - 1, "top_n": config.top_n}
    return [
        where
        | {"key": key, "key_text": text, "weight": float(weight)}
        | {name: values[at].item() for name, values in drawn.items() if values.ndim}
        | {name: value.item() for name, value in drawn.items() if not value.ndim}
        for at, (key, text, weight) in enumerate(
            zip(keys.tolist(), texts, weights.tolist(), strict=True)
        )
    ]


def plane(weights: Tensor, x: Tensor, n: int) -> dict[str, Tensor]:
    """Where each key goes, s, r, and who is selected and inside."""
    selected = top_n(weights, n)
    y = weights[:, None] * x
    s = y[selected].sum(0)
    away = y - s
    distances = torch.linalg.vector_norm(away, dim=-1)
    r = radius(weights, x, selected)
    first = torch.nn.functional.normalize(s, dim=0)
    rest = y - (y @ first)[:, None] * first
    second = torch.linalg.svd(rest, full_matrices=False).Vh[0]
    second = second * torch.sign(second[second.abs().argmax()])
    axes = torch.stack([first, second], dim=-1)
    flat = away @ axes
    seen = torch.linalg.vector_norm(flat, dim=-1, keepdim=True)
    outward = torch.where(seen > 0, flat / torch.where(seen > 0, seen, 1.0), 0.0)
    centre = s @ axes
    placed = centre + outward * distances[:, None]
    points = x @ axes
    return {
        "x": points[:, 0],
        "y": points[:, 1],
        "scaled_x": placed[:, 0],
        "scaled_y": placed[:, 1],
        "selected": selected,
        "inside": distinguishable(weights, x, selected),
        "s_x": centre[0],
        "s_y": centre[1],
        "radius": r,
    }


def run(measured: Measured, config: Config) -> pl.DataFrame:
    """PointRows of the circle and of the drawn heads."""
    schema = frame_schema(PointRow)
    model = measured.points.filter(pl.col("window") == pl.col("window").min()).with_columns(
        panel=pl.lit("model"), token=pl.col("key_text"), text=pl.lit(None, pl.String)
    )
    model = model.select(pl.col(name).cast(kind) for name, kind in schema.items())
    circle = pl.DataFrame(_circle(config), schema=schema)
    return pl.concat([circle, model]).sort("panel", "layer", "head", "key")


def _circle(config: Config) -> list[dict[str, Any]]:
    """Points on a circle: a query at the top, and a wave that spreads out what is selected."""
    angles = torch.arange(config.circle_points) * (2 * math.pi / config.circle_points)
    x = torch.stack([torch.cos(angles), torch.sin(angles)], dim=-1).double()
    weights = torch.softmax(2 * x[:, 1] + 2 * torch.cos(3 * angles + 1).double(), dim=-1)
    selected = top_n(weights, config.circle_n)
    y = weights[:, None] * x
    s = y[selected].sum(0)
    r = float(radius(weights, x, selected))
    inside = distinguishable(weights, x, selected)
    return [
        {
            "panel": "circle",
            "top_n": config.circle_n,
            "key": at,
            "weight": float(weights[at]),
            "x": float(x[at, 0]),
            "y": float(x[at, 1]),
            "scaled_x": float(y[at, 0]),
            "scaled_y": float(y[at, 1]),
            "selected": bool(selected[at]),
            "inside": bool(inside[at]),
            "s_x": float(s[0]),
            "s_y": float(s[1]),
            "radius": r,
        }
        for at in range(config.circle_points)
    ]
