"""Assumptions 1 and 2 on the model's own vectors: uniform on a sphere, and a distance δ apart.

A set of vectors is what the heads that share it see: one for the model (embeddings, last hidden
states), one a layer (hidden states), one a KV head (values). All are brought to unit length, as the
paper does.
"""

from typing import Any

import polars as pl
import torch

from headgauge import models
from headgauge.measure.requests import Probe, Vectors
from headgauge.models import VECTOR_KINDS
from headgauge.paper import limits
from headgauge.paper.bands import mean
from headgauge.runs.paper_schema import VectorRow
from headgauge.runs.schema import frame_schema
from headgauge.theory.normalization import isotropy


def _measure(head: Any, vectors: Vectors) -> list[dict[str, Any]]:
    """The sets that a head is the first to use."""
    call: models.ObservedCall = head.call
    first = head.head == 0 and call.occurrence == 0
    starts = {
        "embedding": first and call.layer == 0,
        "final": first and call.layer == 0,
        "hidden": first,
        "value": head.head == 0 or call.kv_head(head.head) != call.kv_head(head.head - 1),
    }
    rows = []
    for kind in VECTOR_KINDS:
        found = vectors(kind) if starts[kind] else None
        if found is None or len(found) < 2:
            continue
        x = torch.nn.functional.normalize(found.cpu().double(), dim=-1)
        nearest = isotropy.nearest_distances(x)
        measures = {
            "dim": x.shape[-1],
            "tokens": x.shape[-2],
            "mean_cosine": float(isotropy.mean_cosine(x)),
            "effective_dim": float(isotropy.effective_dimension(x)),
            "delta": float(nearest.amin()),
            "nearest": float(nearest.median()),
            "same": float((nearest <= limits.APART).double().mean()),
        }
        rows.append(head.where | {"vectors": kind} | measures)
    return rows


PROBE = Probe("vector_sets", "assumptions", VECTOR_KINDS, _measure)


def run(table: pl.DataFrame) -> pl.DataFrame:
    """VectorRows: a kind each, over its sets."""
    by_kind = {kind: table.filter(vectors=kind) for kind in VECTOR_KINDS}
    rows = [
        {
            "vectors": kind,
            "dim": sets["dim"][0],
            "mean_cosine_low": sets["mean_cosine"].min(),
            "mean_cosine_high": sets["mean_cosine"].max(),
            "delta": sets["delta"].min(),
            "sets": len(sets),
            "tokens": sets["tokens"][0],
        }
        | {name: mean(sets[name]) for name in ("mean_cosine", "effective_dim", "nearest", "same")}
        for kind, sets in by_kind.items()
        if len(sets)
    ]
    return pl.DataFrame(rows, schema=frame_schema(VectorRow))
