"""A head's weights, token by token: which heads are asked for, what is kept of them, row by row."""

import math
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import numpy as np
import polars as pl

from headgauge.errors import InputError
from headgauge.measure.head import Head, head_frame
from headgauge.measure.requests import Probe, Vectors
from headgauge.measure.settings import UnitSettings
from headgauge.models import LoadedModel
from headgauge.models.head_names import Heads, check_there
from headgauge.runs.schema import MatrixRow, TokenRow

# Of the weights that are kept: at most 1024 of a row are as large, so that a matrix grows with the
# window and not with its square; and three digits, as the page shows them, begin here.
LEAST = 1 / 1024


def check_heads(
    loaded: LoadedModel,
    asked: Heads,
    layers: tuple[int, ...] | None,
    heads: tuple[int, ...] | None,
) -> None:
    """Refuse those that the model does not have, or that are not among the measured."""
    check_there(loaded, asked)
    for layer, head in asked:
        if layer not in (layers or (layer,)) or head not in (heads or (head,)):
            raise InputError(
                f"L{layer}H{head} is not among the layers and heads that are measured: add it to "
                "them, or leave its matrix out"
            )


def probes(heads: Heads, settings: UnitSettings) -> tuple[Probe, ...]:
    """The weights of these heads, and the tokens they stand between."""
    return (
        Probe("matrices", "matrices", (), partial(_weights, heads, settings)),
        Probe("tokens", "matrices", (), partial(_tokens, heads)),
    )


def _weights(
    heads: Heads, settings: UnitSettings, head: Head, vectors: Vectors
) -> list[pl.DataFrame]:
    if (head.call.layer, head.head) not in heads:
        return []
    parts = []
    for block in head.call.blocks(settings.rows_at_once(head.call.keys), heads=[head.head]):
        weights = block.weights.cpu()
        rows, keys = (weights >= LEAST).nonzero(as_tuple=True)
        kept = {"row": rows + block.start, "key": keys, "weight": weights[rows, keys].double()}
        columns = {name: each.numpy() for name, each in kept.items()}
        parts.append(head_frame(MatrixRow, head.where, columns))
    return parts


def _tokens(heads: Heads, head: Head, vectors: Vectors) -> list[pl.DataFrame]:
    if (head.call.layer, head.head) not in heads:
        return []
    sampler = head.sampler
    sides = {"key": sampler.key_ids.numpy(), "query": sampler.query_ids.numpy()}
    return [
        head_frame(
            TokenRow,
            head.where | {"side": side},
            {"place": np.arange(len(ids)), "id": ids, "text": sampler.texts(ids)},
        )
        for side, ids in sides.items()
    ]


def rows_of(matrix: pl.DataFrame, queries: int) -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
    """Of each query row of one head its kept keys, their weights and the sum of these: what is
    left out is the rest of the row."""
    matrix = matrix.sort("row", "key")
    keys, weights = matrix["key"].to_numpy(), matrix["weight"].to_numpy()
    ends = np.searchsorted(matrix["row"].to_numpy(), np.arange(queries + 1))
    for start, stop in pairwise(ends):
        yield keys[start:stop], weights[start:stop], math.fsum(weights[start:stop])
