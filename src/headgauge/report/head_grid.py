"""Heads on a grid: a row for each attention module, a column for each head.

Modules of different kinds (encoder, decoder, cross attention) stand in blocks of their own, each in
the model's order. A place where no head is (layers may have different numbers of them) is not the
same as a head whose measure is null, and the grid knows both.
"""

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Bool

from headgauge.runs.schema import HEAD


@dataclass(frozen=True)
class HeadGrid:
    """Where each head is drawn."""

    row_of: dict[tuple[int, int, str], int]  # (layer, occurrence, module) → row
    column_of: dict[int, int]
    labels: tuple[str, ...]  # of the rows
    blocks: tuple[tuple[str, int, int], ...]  # kind of module, first row, row after the last
    exists: Bool[np.ndarray, "rows heads"]

    @property
    def shape(self) -> tuple[int, int]:
        return self.exists.shape[0], self.exists.shape[1]


def head_grid(heads: pl.DataFrame) -> HeadGrid:
    """The grid of all heads that a frame names."""
    named = heads.select(HEAD).unique().sort(HEAD)
    modules = named.select("layer", "occurrence", "module").unique(maintain_order=True).rows()
    kinds = list(dict.fromkeys(_kind(module) for _, _, module in modules))
    modules.sort(key=lambda row: (kinds.index(_kind(row[2])), row))
    row_of = {module: place for place, module in enumerate(modules)}
    numbers = named["head"].unique().sort().to_list()
    column_of = {head: place for place, head in enumerate(numbers)}
    exists = np.zeros((len(row_of), len(column_of)), dtype=bool)
    for *module, head in named.rows():
        exists[row_of[tuple(module)], column_of[head]] = True
    labels = tuple(_row_label(layer, occurrence) for layer, occurrence, _ in modules)
    return HeadGrid(row_of, column_of, labels, _blocks(modules), exists)


def cells(grid: HeadGrid, frame: pl.DataFrame, name: str) -> list[list[float | None]]:
    """A measure of a frame with a row per head: None where it is not finite or no head is."""
    values: list[list[float | None]] = [[None] * grid.shape[1] for _ in grid.labels]
    for *module, head, value in frame.filter(pl.col(name).is_finite()).select(*HEAD, name).rows():
        values[grid.row_of[tuple(module)]][grid.column_of[head]] = value
    return values


def _kind(module: str) -> str:
    """model.layers.7.self_attn → model.layers.self_attn."""
    return re.sub(r"\.\d+(?=\.|$)", "", module)


def _row_label(layer: int, occurrence: int) -> str:
    return str(layer) if occurrence == 0 else f"{layer} call {occurrence + 1}"


def module_kinds(modules: Iterable[str]) -> dict[str, str]:
    """Each module's kind: the words of its name that not every kind has, without its numbers.

    decoder.block.3.layer.1.EncDecAttention → "decoder EncDecAttention" beside an encoder; the
    kind of every module is "" where there is only one.
    """
    words = {module: _kind(module).split(".") for module in modules}
    shared = set.intersection(*map(set, words.values())) if words else set()
    return {
        module: " ".join(word for word in parts if word not in shared)
        for module, parts in words.items()
    }


def _blocks(modules: list[tuple[int, int, str]]) -> tuple[tuple[str, int, int], ...]:
    """The rows of each kind; they stand together."""
    names = module_kinds(module for _, _, module in modules)
    blocks = []
    for kind, group in itertools.groupby(enumerate(modules), key=lambda row: _kind(row[1][2])):
        places = [place for place, _ in group]
        name = names[modules[places[0]][2]]
        blocks.append((name or kind, places[0], places[-1] + 1))
    return tuple(blocks)
