"""Assumptions 1 and 2 on the model's own vectors: uniform on a sphere, and a distance δ apart.

A set of vectors is what the heads that share it see: one for the model (embeddings, last hidden
states), one a layer (hidden states), one a KV head (values). All are brought to unit length, as the
paper does.
"""

import math
from dataclasses import dataclass
from typing import Any

import polars as pl
import torch

from headgauge import models
from headgauge.measure.requests import Probe, Vectors
from headgauge.models import VECTOR_KINDS
from headgauge.paper import limits
from headgauge.paper.measured import Measured
from headgauge.runs.paper_schema import VectorRow
from headgauge.runs.schema import frame_schema
from headgauge.theory.normalization import isotropy


@dataclass(frozen=True)
class Config:
    """The kinds of vectors looked at."""

    kinds: tuple[str, ...] = VECTOR_KINDS


def probe(config: Config) -> Probe:
    """The sets that a head is the first to use."""

    def measure(head: Any, vectors: Vectors) -> list[dict[str, Any]]:
        call: models.ObservedCall = head.call
        first = head.head == 0 and call.occurrence == 0
        starts = {
            "embedding": first and call.layer == 0,
            "final": first and call.layer == 0,
            "hidden": first,
            "value": head.head == 0 or call.kv_head(head.head) != call.kv_head(head.head - 1),
        }
        rows = []
        for kind in config.kinds:
            found = vectors(kind) if starts[kind] else None
            if found is not None and len(found) > 1:
                rows.append(head.where | {"vectors": kind} | _measures(found))
        return rows

    return Probe("vector_sets", "assumptions", config.kinds, measure)


def _measures(vectors: torch.Tensor) -> dict[str, Any]:
    x = torch.nn.functional.normalize(vectors.cpu().double(), dim=-1)
    nearest = isotropy.nearest_distances(x)
    return {
        "dim": x.shape[-1],
        "tokens": x.shape[-2],
        "mean_cosine": float(isotropy.mean_cosine(x)),
        "effective_dim": float(isotropy.effective_dimension(x)),
        "delta": float(nearest.amin()),
        "nearest": float(nearest.median()),
        "same": float((nearest <= limits.APART).double().mean()),
    }


def run(measured: Measured, config: Config) -> pl.DataFrame:
    """VectorRows: a kind each, over its sets."""
    rows = []
    for kind in config.kinds:
        sets = measured.vector_sets.filter(vectors=kind)
        if sets.is_empty():
            continue

        def mean(name: str, sets: pl.DataFrame = sets) -> float:
            return math.fsum(sets[name]) / len(sets)

        rows.append(
            {
                "vectors": kind,
                "dim": sets["dim"][0],
                "mean_cosine": mean("mean_cosine"),
                "mean_cosine_low": sets["mean_cosine"].min(),
                "mean_cosine_high": sets["mean_cosine"].max(),
                "effective_dim": mean("effective_dim"),
                "delta": sets["delta"].min(),
                "nearest": mean("nearest"),
                "same": mean("same"),
                "sets": len(sets),
                "tokens": sets["tokens"][0],
            }
        )
    return pl.DataFrame(rows, schema=frame_schema(VectorRow))
