"""A few rows of every head with their heaviest keys, so that a reader can see what it looks at."""

from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Int
from torch import Tensor

from headgauge import models
from headgauge.results.schema import SampleRow, frame_schema
from headgauge.theory.selection import top_n_indices


def sampled_places(length: int, count: int, seed: tuple[int, ...]) -> list[int]:
    """Query places drawn without repetition from all but the first eighth, where little is seen."""
    first = length // 8
    drawn = np.random.default_rng(seed).choice(
        np.arange(first, length), size=min(count, length - first), replace=False
    )
    return sorted(int(place) for place in drawn)


class Sampler:
    """Gathers the same query places of every head of a unit."""

    def __init__(self, places: list[int], keys: int, tokenizer: Any | None) -> None:
        self._places = places
        self._keys = keys
        self._tokenizer = tokenizer
        self._texts: dict[int, str] = {}
        self._rows: list[dict[str, Any]] = []

    def add(
        self,
        where: dict[str, Any],
        block: models.RowBlock,
        query_ids: Int[Tensor, "queries"],
        key_ids: Int[Tensor, "keys"],
    ) -> None:
        """Take the sampled rows that this block holds."""
        for place in self._places:
            if not block.start <= place < block.stop:
                continue
            weights = block.weights[place - block.start]
            visible = block.visible[place - block.start]
            count = int(visible.sum())
            order = top_n_indices(weights.masked_fill(~visible, -1.0), min(self._keys, count))
            for rank, key in enumerate(order.tolist(), start=1):
                self._rows.append(
                    where
                    | {
                        "row": place,
                        "query_id": int(query_ids[place]),
                        "query_text": self._text(int(query_ids[place])),
                        "visible": count,
                        "rank": rank,
                        "key": key,
                        "key_id": int(key_ids[key]),
                        "key_text": self._text(int(key_ids[key])),
                        "weight": float(weights[key]),
                    }
                )

    def table(self) -> pl.DataFrame:
        return pl.DataFrame(self._rows, schema=frame_schema(SampleRow))

    def _text(self, token: int) -> str | None:
        if self._tokenizer is None:
            return None
        if token not in self._texts:
            self._texts[token] = self._tokenizer.decode([token])
        return self._texts[token]
