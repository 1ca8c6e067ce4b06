"""A few rows of every head with their heaviest keys, so that a reader can see what it looks at."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Int
from torch import Tensor

from headgauge import models
from headgauge.theory.normalization.selection import top_n_indices


def sampled_places(length: int, count: int, seed: tuple[int, ...]) -> list[int]:
    """Query places drawn without repetition from all but the first eighth, where little is seen."""
    first = length // 8
    drawn = np.random.default_rng(seed).choice(
        np.arange(first, length), size=min(count, length - first), replace=False
    )
    return sorted(int(place) for place in drawn)


@dataclass(frozen=True, eq=False)
class Sampler:
    """Takes the same query places of every head of a layer, `keys` of their keys each."""

    places: list[int]
    keys: int
    query_ids: Int[Tensor, "queries"]
    key_ids: Int[Tensor, "keys"]
    tokenizer: Any | None

    def rows(self, where: dict[str, Any], block: models.RowBlock) -> Iterator[dict[str, Any]]:
        """Those of the sampled rows that a block holds."""
        for place in self.places:
            if not block.start <= place < block.stop:
                continue
            weights = block.weights[place - block.start].cpu()
            visible = block.visible[place - block.start].cpu()
            count = int(visible.sum())
            query = int(self.query_ids[place])
            row = {"row": place, "query_id": query, "query_text": self._text(query)}
            order = top_n_indices(weights.masked_fill(~visible, -1.0), min(self.keys, count))
            for rank, key in enumerate(order.tolist(), start=1):
                token = int(self.key_ids[key])
                key_row = {"key": key, "key_id": token, "key_text": self._text(token)}
                seen = {"visible": count, "rank": rank, "weight": float(weights[key])}
                yield where | row | key_row | seen

    def texts(self, ids: Iterable[Any]) -> list[str | None]:
        """Tokens as text."""
        return [self._text(int(token)) for token in ids]

    def _text(self, token: int) -> str | None:
        return None if self.tokenizer is None else _decoded(self.tokenizer, token)


@lru_cache(maxsize=1 << 16)
def _decoded(tokenizer: Any, token: int) -> str:
    return tokenizer.decode([token])
