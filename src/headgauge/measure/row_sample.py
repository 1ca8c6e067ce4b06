"""The query rows of a window that are measured where not all are (`theory.sampling`)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from headgauge import engine
from headgauge.runs.columns import error_of
from headgauge.theory.sampling import stratified_mean, stratified_places

Rows = Float[np.ndarray, "heads rows"]
Counted = Bool[np.ndarray, "heads rows"]
ByHead = dict[str, list[float | None]]
_CURVES = tuple(each.name for each in fields(engine.Curves))


@dataclass(frozen=True, eq=False)
class RowSample:
    """One row of each stratum: its place, and how many rows it stands for."""

    places: Int[np.ndarray, "rows"]
    widths: Float[np.ndarray, "rows"]
    seed: tuple[int, ...]
    _parts: dict[int, tuple[np.ndarray, "RowSample"]] = field(default_factory=dict)

    @staticmethod
    def drawn(queries: int, rows: int, seed: tuple[int, ...]) -> "RowSample":
        """The same for every head of a window: `seed` has the run's, the window and its length."""
        found = stratified_places(queries, rows, seed)
        return RowSample(found[:, 0].copy(), found[:, 1].astype(np.float64), seed)

    @cached_property
    def picked(self) -> Int[Tensor, "rows"]:
        return torch.from_numpy(self.places)

    def some(self, count: int | None) -> tuple[Int[np.ndarray, "some"], "RowSample"]:
        """At most `count` of the rows by their number, and what they stand for: one of each of as
        many wider strata."""
        rows = len(self.places)
        if count is None or count >= rows:
            return np.arange(rows), self
        if count not in self._parts:
            edges = np.concatenate([[0.0], np.cumsum(self.widths)])
            wide = edges[np.arange(count + 1) * rows // count].astype(np.int64)
            # A stratum by its width, and in it the row that was drawn: uniform in the wider one.
            drawn = wide[:-1] + np.random.default_rng((*self.seed, 1)).integers(0, np.diff(wide))
            chosen = np.searchsorted(edges, drawn, side="right") - 1
            widths = np.diff(wide).astype(np.float64)
            self._parts[count] = chosen, RowSample(self.places[chosen], widths, self.seed)
        return self._parts[count]

    def means(self, named: Mapping[str, tuple[Rows, Counted]]) -> ByHead:
        """Of each head the mean of each measure over the rows that count for it, and its error
        beside it; None where a row has no number, or there is no row."""
        values, counted = (np.stack(each) for each in zip(*named.values(), strict=True))
        both = stratified_mean(values, self.widths, counted)
        found: ByHead = {}
        for name, mean, error in zip(named, *both, strict=True):
            found[name], found[error_of(name)] = _numbers(mean), _numbers(error)
        return found

    def ratios(
        self,
        name: str,
        values: Float[np.ndarray, "all_heads rows"],
        own: Sequence[int],
        counted: Counted,
    ) -> ByHead:
        """The mean of some of the heads beside that of all H: ρ = H Σ w y_h / Σ w Σ_j y_j.

        It has the error of the mean of H y_h − ρ Σ_j y_j, over the mean of Σ_j y_j.
        """
        total = np.broadcast_to(np.cumsum(values, axis=0)[-1], counted.shape)
        mine = len(values) * values[[*own]]
        with np.errstate(invalid="ignore", divide="ignore"):
            (top, _), (all_of, _) = (
                stratified_mean(each, self.widths, counted) for each in (mine, total)
            )
            ratio = top / all_of
            rest = stratified_mean(mine - ratio[:, None] * total, self.widths, counted)[1]
            return {name: _numbers(ratio), error_of(name): _numbers(rest / all_of)}


@dataclass(frozen=True, eq=False)
class CurveMeans:
    """What `engine.Means` has of all rows of a head, for those of a sample, with errors."""

    rows: Int[np.ndarray, "top_ns"]
    _found: dict[str, Float[np.ndarray, "top_ns"]]

    @staticmethod
    def of(sample: RowSample, heads: int, parts: Sequence[engine.Curves]) -> "list[CurveMeans]":
        """Of several heads, from blocks that have rows of each of them, one after the other."""
        values = np.concatenate(
            [
                np.stack([getattr(part, name) for name in _CURVES]).reshape(
                    len(_CURVES), heads, -1, part.distance.shape[1]
                )
                for part in parts
            ],
            axis=2,
        ).transpose(0, 1, 3, 2)
        counted = ~np.isnan(values[:1])  # the first is the distance
        mean, error = stratified_mean(values, sample.widths, counted)
        named = [each for name in _CURVES for each in (name, error_of(name))]
        both = np.stack([mean, error], axis=1).reshape(-1, *mean.shape[1:])
        rows = counted[0].sum(-1)
        return [
            CurveMeans(rows[head], dict(zip(named, both[:, head], strict=True)))
            for head in range(heads)
        ]

    def means(self) -> dict[str, np.ndarray]:
        """Every mean by the name of its measure, with its error; NaN without rows."""
        return self._found


def _numbers(values: Float[np.ndarray, "heads"]) -> list[float | None]:
    return [each if math.isfinite(each) else None for each in values.tolist()]
