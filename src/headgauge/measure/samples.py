"""A few rows of every head with their heaviest keys, so that a reader can see what it looks at."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headgauge import models
from headgauge.theory.normalization.selection import top_n_indices


def sampled_places(
    length: int, count: int, seed: tuple[int, ...], among: np.ndarray | None = None
) -> list[int]:
    """Query places drawn without repetition from all, or those `among` which are measured, but the
    first eighth, where little is seen."""
    there = np.arange(length) if among is None else among
    there = there[there >= length // 8]
    drawn = np.random.default_rng(seed).choice(there, size=min(count, len(there)), replace=False)
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
        held = [place for place in self.places if block.start <= place < block.stop]
        if not held:
            return iter(())
        picked = torch.tensor(held, device=block.weights.device) - block.start
        return self._shown(where, block.weights[picked], block.visible[picked], held)

    def picked(
        self,
        where: dict[str, Any],
        weights: Float[Tensor, "rows keys"],
        visible: Bool[Tensor, "rows keys"],
        places: Int[np.ndarray, "rows"],
    ) -> Iterator[dict[str, Any]]:
        """Those of the sampled rows that are among these, which stand at `places`."""
        there = np.flatnonzero(np.isin(places, self.places))
        if not len(there):
            return
        picked = torch.from_numpy(there).to(weights.device)
        yield from self._shown(where, weights[picked], visible[picked], places[there].tolist())

    def _shown(
        self,
        where: dict[str, Any],
        weights: Float[Tensor, "rows keys"],
        visible: Bool[Tensor, "rows keys"],
        places: list[int],
    ) -> Iterator[dict[str, Any]]:
        weights, visible = weights.cpu(), visible.cpu()
        counts = visible.sum(-1).tolist()
        hidden = weights.masked_fill(~visible, -1.0)
        orders = top_n_indices(hidden, min(self.keys, weights.shape[1]))
        heaviest, chosen = weights.gather(-1, orders).tolist(), orders.tolist()
        queries, keys = self._tokens
        for at, place in enumerate(places):
            query = queries[place]
            row = where | {"row": place, "query_id": query, "query_text": self._text(query)}
            row["visible"] = counts[at]
            shown = zip(chosen[at], heaviest[at], strict=True)
            for rank, (key, weight) in enumerate(list(shown)[: counts[at]], start=1):
                token = keys[key]
                key_row = {"key": key, "key_id": token, "key_text": self._text(token)}
                yield row | key_row | {"rank": rank, "weight": weight}

    def texts(self, ids: Iterable[Any]) -> list[str | None]:
        """Tokens as text."""
        return [self._text(int(token)) for token in ids]

    @cached_property
    def _tokens(self) -> tuple[list[int], list[int]]:
        return self.query_ids.tolist(), self.key_ids.tolist()

    def _text(self, token: int) -> str | None:
        return None if self.tokenizer is None else _decoded(self.tokenizer, token)


@lru_cache(maxsize=1 << 16)
def _decoded(tokenizer: Any, token: int) -> str:
    return tokenizer.decode([token])
