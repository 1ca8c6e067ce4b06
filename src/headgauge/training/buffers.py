"""Sums and largest values of a logged step, which several processes put together.

Every mean is kept as a sum and a count, every extreme as a largest value, so that two tallies add
up to the tally of both. However many measures, layers and heads there are, that takes one SUM and
one MAX reduction.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, distributed

from headgauge.devices import most_exact
from headgauge.training.attention import LARGEST, MEANS, closely

_KEPT = 64 << 20  # bytes of rows that wait to be measured
Rows = list[list[float | None]]  # a list for each layer, in it a number for each head


class Layer:
    """What was measured in a layer of so many heads."""

    def __init__(self, heads: int, device: torch.device):
        self.device, self.real = device, most_exact(device)
        shape: dict[str, Any] = {"dtype": self.real, "device": device}
        self.sums = torch.zeros(2, len(MEANS), heads, **shape)
        self.highs = torch.full((len(LARGEST), heads), -torch.inf, **shape)
        self.peaks = torch.full((heads,), -torch.inf, **shape)

    def add(self, measured: dict[str, Float[Tensor, "batch heads rows"]]) -> None:
        """The rows of a call; NaN is a row without the number."""
        for places, rows in _together(measured):
            self.sums[0, places] += rows.nansum((1, 3), dtype=self.real).to(self.device)
            self.sums[1, places] += (~rows.isnan()).sum((1, 3)).to(self.device)
        for at, name in enumerate(LARGEST):
            if (rows := measured.get(name)) is not None:
                _raise(self.highs[at], rows)

    def add_peaks(self, logits: Float[Tensor, "batch heads rows"]) -> None:
        """The largest logits of a call's rows."""
        _raise(self.peaks, logits)


class Tally:
    """What was measured in each layer since it was cleared.

    `peaks` are the largest logits of a whole step, which QK-clip asks for: the rest is of one
    micro-batch.
    """

    def __init__(self, device: torch.device):
        self._device = device
        self._layers: dict[int, Layer] = {}
        self._drawn: list[tuple[Layer, tuple[Tensor, ...]]] = []

    def clear(self) -> None:
        self._layers.clear()
        self._drawn.clear()

    def layer(self, at: int, heads: int) -> Layer:
        if at not in self._layers:
            self._layers[at] = Layer(heads, self._device)
        return self._layers[at]

    def keep(self, layer: Layer, rows: tuple[Tensor, ...] | None) -> None:
        """Rows of a layer that are to be measured closely, those of several layers together."""
        if rows is not None:
            self._drawn.append((layer, rows))
        if sum(part.nbytes for _, each in self._drawn for part in each) > _KEPT:
            self._settle()

    def _settle(self) -> None:
        """Measure the rows that were kept."""
        for (layer, _), found in zip(
            self._drawn, closely([each for _, each in self._drawn]), strict=True
        ):
            layer.add(found)
        self._drawn.clear()

    def all(self, heads: Sequence[int]) -> list[Layer]:
        """Every layer of the model, those included that did not run (layer drop)."""
        self._settle()
        return [self.layer(at, count) for at, count in enumerate(heads)]


def reduce(layers: list[Layer], own: Sequence[float]) -> list[float]:
    """Put all processes' layers together; the means of `own` over the processes."""
    count = processes()
    if count == 1:
        return list(own)
    given = torch.tensor(own, dtype=layers[0].real, device=layers[0].device)
    _reduced([given, *(each.sums for each in layers)], distributed.ReduceOp.SUM)
    highs = [part for each in layers for part in (each.highs, each.peaks)]
    _reduced(highs, distributed.ReduceOp.MAX)
    return (given / count).tolist()


def reduce_peaks(layers: list[Layer]) -> None:
    """The largest logits alone, on a step that is not logged."""
    if processes() > 1:
        _reduced([each.peaks for each in layers], distributed.ReduceOp.MAX)


def rows_of(layers: list[Layer]) -> dict[str, Rows]:
    """Every measure that was measured, of every head; None where no row has it."""
    found: dict[str, Rows] = {}
    for at, name in enumerate(MEANS):
        means = ((each.sums[0, at] / each.sums[1, at]).tolist() for each in layers)
        found[name] = [[None if math.isnan(value) else value for value in row] for row in means]
    for at, name in enumerate(LARGEST):
        highs = (each.highs[at].tolist() for each in layers)
        found[name] = [[None if value == -math.inf else value for value in row] for row in highs]
    # Its negative was kept, since the largest is what is kept.
    found["entropy_min"] = [
        [None if value is None else 0.0 - value for value in row] for row in found["entropy_min"]
    ]
    return {name: rows for name, rows in found.items() if any(map(_some, rows))}


def _some(row: list[float | None]) -> bool:
    return any(value is not None for value in row)


def processes() -> int:
    """How many train together."""
    there = distributed.is_available() and distributed.is_initialized()
    return distributed.get_world_size() if there else 1


def rank() -> int:
    return distributed.get_rank() if processes() > 1 else 0


def _reduced(parts: list[Tensor], operation: Any) -> None:
    """All parts packed, reduced once, and put back."""
    packed = torch.cat([part.flatten() for part in parts])
    distributed.all_reduce(packed, operation)
    for part, new in zip(parts, packed.split([part.numel() for part in parts]), strict=True):
        part.copy_(new.view_as(part))


def _together(
    measured: dict[str, Float[Tensor, "batch heads rows"]],
) -> Iterator[tuple[list[int], Float[Tensor, "means batch heads rows"]]]:
    """The measures that have a mean, those of the same rows as one, with their places."""
    places: dict[torch.Size, list[int]] = {}
    for at, name in enumerate(MEANS):
        if name in measured:
            places.setdefault(measured[name].shape, []).append(at)
    for several in places.values():
        yield several, torch.stack([measured[MEANS[at]] for at in several])


def _raise(highs: Float[Tensor, "heads"], rows: Float[Tensor, "batch heads rows"]) -> None:
    """To the largest of the rows, where that is larger."""
    own = rows.masked_fill(rows.isnan(), -torch.inf).amax((0, 2))
    torch.maximum(highs, own.to(highs), out=highs)
