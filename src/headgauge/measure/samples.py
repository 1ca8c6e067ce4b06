"""A few rows of every head with their heaviest keys, so that a reader can see what it looks at."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl
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

    def rows(self, where: dict[str, Any], block: models.RowBlock) -> "list[Shown]":
        """Those of the sampled rows that a block holds."""
        places = np.arange(block.start, block.stop)
        return self.picked([where], block.weights[None], block.visible[None], places)

    def picked(
        self,
        heads: Sequence[dict[str, Any]],
        weights: Float[Tensor, "heads rows keys"],
        visible: Bool[Tensor, "heads rows keys"],
        places: Int[np.ndarray, "rows"],
    ) -> "list[Shown]":
        """Those of the sampled rows of some heads that are among these, which stand at `places`."""
        there = np.flatnonzero(np.isin(places, self.places))
        if not len(there):
            return []
        picked = torch.from_numpy(there).to(weights.device)
        weights, visible = weights[:, picked].cpu(), visible[:, picked].cpu()
        hidden = weights.masked_fill(~visible, -1.0)
        chosen = top_n_indices(hidden, min(self.keys, weights.shape[-1]))
        heaviest = weights.gather(-1, chosen).double()
        numbers = (each.numpy() for each in (visible.sum(-1), chosen, heaviest))
        return [
            Shown(where, self, places[there], *own)
            for where, *own in zip(heads, *numbers, strict=True)
        ]

    def texts(self, ids: Iterable[Any]) -> list[str | None]:
        """Tokens as text."""
        return [self._text(int(token)) for token in ids]

    def _text(self, token: int) -> str | None:
        return None if self.tokenizer is None else _decoded(self.tokenizer, token)


@dataclass(frozen=True, eq=False)
class Shown:
    """Sampled rows of one head: where each stands, how many keys it sees, its heaviest keys."""

    where: dict[str, Any]
    sampler: Sampler
    places: Int[np.ndarray, "rows"]
    visible: Int[np.ndarray, "rows"]
    keys: Int[np.ndarray, "rows ranks"]
    weights: Float[np.ndarray, "rows ranks"]

    @property
    def held(self) -> Bool[np.ndarray, "rows ranks"]:
        """A row that sees fewer keys has fewer ranks."""
        return np.arange(self.keys.shape[1]) < self.visible[:, None]

    def columns(self) -> dict[str, np.ndarray]:
        """Those that are numbers, and the same for no other head."""
        held, ranks = self.held, np.arange(1, self.keys.shape[1] + 1)
        queries, keys = self.sampler.query_ids.numpy(), self.sampler.key_ids.numpy()
        of_rows = {"row": self.places, "visible": self.visible, "query_id": queries[self.places]}
        found = {name: np.broadcast_to(each[:, None], held.shape) for name, each in of_rows.items()}
        found |= {"rank": np.broadcast_to(ranks, held.shape), "weight": self.weights}
        found |= {"key": self.keys, "key_id": keys[self.keys]}
        return {name: each[held] for name, each in found.items()}


def sample_table(shown: Sequence[Shown], schema: dict[str, Any]) -> pl.DataFrame:
    """Column by column: a scan shows some 10⁵ keys."""
    parts = [each.columns() for each in shown]
    columns: dict[str, Any] = {
        name: np.concatenate([part[name] for part in parts]) for name in parts[0]
    }
    counts = [len(part["row"]) for part in parts]
    for label in shown[0].where:
        values = np.array([each.where[label] for each in shown], object)
        columns[label] = np.repeat(values, counts).tolist()
    for name in ("query", "key"):
        ids, at = np.unique(columns[f"{name}_id"], return_inverse=True)
        texts = np.array([*shown[0].sampler.texts(ids), None], object)
        columns[f"{name}_text"] = texts[at].tolist()
    return pl.DataFrame(
        {name: pl.Series(name, columns[name], dtype=kind) for name, kind in schema.items()}
    )


@lru_cache(maxsize=1 << 16)
def _decoded(tokenizer: Any, token: int) -> str:
    return tokenizer.decode([token])
