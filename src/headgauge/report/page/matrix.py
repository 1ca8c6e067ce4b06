"""The matrices of weights for the page, as bytes: some 10⁵ numbers would be slow as JSON.

Row after row, each number in base 128, the low digit first, 128 added to all but the last digit:

    how many keys, their sum, and for each key how far it is behind the one before, and its weight

Weights are in thousandths, the three digits that the page shows.
"""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Int

from headgauge.report.head_grid import Head
from headgauge.runs.schema import HEAD
from headgauge.scanning.matrices import rows_of

_SIDES = ("query", "key")


def matrices_part(
    tables: Mapping[str, pl.DataFrame], number_of: Mapping[Head, int]
) -> dict[str, Any]:
    """By head for each of its windows which of the lists of tokens its queries and keys are, and
    its rows; nothing where no matrix was kept."""
    if "tokens" not in tables or tables["tokens"].is_empty():
        return {}
    streams: dict[tuple[str, ...], int] = {}
    heads: dict[int, list[dict[str, Any]]] = {}
    by = ("window", *HEAD)
    for own in tables["tokens"].sort(*by, "place").partition_by(by, maintain_order=True):
        window, *head = own.select(by).row(0)
        named = pl.col("text").fill_null(pl.format("token {}", "id"))
        sides = {side: tuple(own.filter(side=side).select(named)["text"]) for side in _SIDES}
        matrix = tables["matrices"].filter(window=window, **dict(zip(HEAD, head, strict=True)))
        places = {side: streams.setdefault(each, len(streams)) for side, each in sides.items()}
        rows = b64encode(_bytes(_numbers(matrix, len(sides["query"])))).decode()
        kept = {"window": window, **places, "rows": rows}
        heads.setdefault(number_of[head[0], head[1], head[2], head[3]], []).append(kept)
    return {"matrices": {"streams": [list(each) for each in streams], "heads": heads}}


def _numbers(matrix: pl.DataFrame, queries: int) -> Int[np.ndarray, "numbers"]:
    found = []
    for keys, weights, share in rows_of(matrix, queries):
        steps = np.diff(keys, prepend=0)
        found += [[len(keys), round(1000 * share)]]
        found += [np.stack([steps, np.rint(1000 * weights).astype(np.int64)], -1).ravel()]
    return np.concatenate(found).astype(np.int64)


def _bytes(numbers: Int[np.ndarray, "numbers"]) -> bytes:
    digits = numbers[:, None] >> np.arange(0, 28, 7)
    more = (digits >> 7 > 0) * 128
    there = digits > 0
    there[:, 0] = True
    return ((digits & 127) + more)[there].astype(np.uint8).tobytes()
