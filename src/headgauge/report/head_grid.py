"""Heads on a grid: a row for each attention module, a column for each head.

Modules of different kinds (encoder, decoder, cross attention) stand in blocks of their own, each in
the model's order. A place where no head is (layers may have different numbers of them) is not the
same as a head whose measure is null, and the grid knows both.
"""

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from headgauge.runs.schema import HEAD

Head = tuple[int, int, str, int]  # layer, occurrence, module, head


@dataclass(frozen=True)
class HeadGrid:
    """Where each head is drawn."""

    places: dict[Head, tuple[int, int]]  # row and column, in this order
    rows: tuple[str, ...]  # labels
    columns: tuple[int, ...]  # heads
    blocks: tuple[tuple[str, int, int], ...]  # kind of module, first row, row after the last

    def absent(self) -> list[tuple[int, int]]:
        """The places where no head is."""
        everywhere = itertools.product(range(len(self.rows)), range(len(self.columns)))
        there = set(self.places.values())
        return [place for place in everywhere if place not in there]


def head_grid(heads: pl.DataFrame) -> HeadGrid:
    """The grid of all heads that a frame names."""
    named = heads.select(HEAD).unique().sort(HEAD).rows()
    modules = list(dict.fromkeys(head[:3] for head in named))
    kinds = list(dict.fromkeys(_kind(module) for _, _, module in modules))
    modules.sort(key=lambda row: (kinds.index(_kind(row[2])), row))
    columns = tuple(sorted({head for *_, head in named}))
    places = {head: (modules.index(head[:3]), columns.index(head[3])) for head in named}
    labels = [f"{layer} call {call + 1}" if call else f"{layer}" for layer, call, _ in modules]
    kind_of_row, words = [_kind(module) for _, _, module in modules], module_kinds(kinds)
    blocks = [
        (words[kind] or kind, first, first + kind_of_row.count(kind))
        for kind in kinds
        for first in [kind_of_row.index(kind)]
    ]
    in_order = dict(sorted(places.items(), key=lambda each: each[1]))
    return HeadGrid(in_order, tuple(labels), columns, tuple(blocks))


def cells(grid: HeadGrid, frame: pl.DataFrame, name: str) -> list[list[float | None]]:
    """A measure of a frame with a row per head: None where it is not finite or no head is."""
    values: list[list[float | None]] = [[None for _ in grid.columns] for _ in grid.rows]
    for *head, value in frame.filter(pl.col(name).is_finite()).select(*HEAD, name).rows():
        row, column = grid.places[tuple(head)]
        values[row][column] = value
    return values


def _kind(module: str) -> str:
    """model.layers.7.self_attn → model.layers.self_attn."""
    return re.sub(r"\.\d+(?=\.|$)", "", module)


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
