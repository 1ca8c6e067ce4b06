"""A window's tokens as particles, layer by layer: the `depth` table of a unit.

One further forward pass. A token's direction is that of its vector in the residual stream, centred
where the layer's norm centres. The first token of a decoder is as a rule a sink: attention parks
there, and its vector is hundreds of times as long as the others and far from them. Where it is more
than `SINK` times as long as the median somewhere in the model it is left out of all numbers of the
window. Of more than `SAMPLE` tokens an evenly spread sample makes the pairs; lengths and angles are
those of all.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl
import torch
from jaxtyping import Float
from torch import Tensor, nn

from headgauge import models
from headgauge.runs import UnitKey
from headgauge.runs.schema import DepthRow, frame_schema
from headgauge.theory.dynamics.observables import BAND, gaps_of, observe, quantiles

SINK = 10.0  # times the median length
SAMPLE = 1024  # tokens that make the pairs
_FEW = 3  # tokens among which none is a sink: two or less beside it have no median to speak of
_TRACED = 16  # tokens by which the norms are recognised
_AT_ONCE = 1024  # tokens whose vectors are held in float64

Vectors = Float[Tensor, "tokens dim"]


def depth_table(
    model: nn.Module, key: UnitKey, inputs: Mapping[str, Tensor], heads: pl.DataFrame
) -> pl.DataFrame:
    """The rows of a window; `heads` is its table, for the keys that heads attend to."""
    layers = models.layer_norms(model, {name: ids[:, :_TRACED] for name, ids in inputs.items()})
    reader = _Reader(_effective_keys(heads))
    models.read_stream(model, inputs, layers, reader)
    place = {"window": key.window, "length": key.length}
    return pl.DataFrame([place | row for row in reader.rows()], schema=frame_schema(DepthRow))


class _Reader:
    """Measures each layer as it ends, with and, until it proves a sink, without the first token."""

    def __init__(self, effective: Mapping[tuple[str, int], float]) -> None:
        self._effective = effective
        self._all: list[dict[str, Any]] = []
        self._without: list[dict[str, Any]] = []
        self._sink = False
        self._last: models.StreamStep | None = None

    def __call__(self, step: models.StreamStep) -> None:
        norms = step.norms
        entering, leaving = _vectors(step.entering), _vectors(step.leaving)
        attention = None if step.attention is None else _vectors(step.attention)
        place = {
            "layer": step.place,
            "module": norms.layer,
            "scheme": norms.scheme,
            "effective_n": self._effective.get((norms.attention, step.occurrence)),
        }
        self._measure(place, norms.centres, entering, leaving, attention)
        self._last = step

    def rows(self) -> list[dict[str, Any]]:
        """The rows that count, with that after the last layer."""
        last = self._last
        assert last is not None
        place = {"layer": last.place + 1, "module": "", "scheme": None, "effective_n": None}
        self._measure(place, last.norms.centres, _vectors(last.leaving), None, None)
        self._last = None
        return self._without if self._sink else self._all

    def _measure(
        self,
        place: dict[str, Any],
        centres: bool,
        entering: Vectors,
        leaving: Vectors | None,
        attention: Vectors | None,
    ) -> None:
        self._sink = self._sink or _is_sink(entering)
        picked = _spread(len(entering)).to(entering.device)
        # On the CPU, because not every device has float64.
        gaps = gaps_of(_directions(entering[picked].cpu().double(), centres))
        moved = _moved(entering, leaving, attention, centres)
        kept = [] if self._sink else [(self._all, 0)]
        if len(entering) > _FEW:
            kept.append((self._without, 1))
        for rows, first in kept:
            tokens = {"tokens": len(entering) - first}
            pairs = _pairs(gaps[first:, first:])
            lengths = _lengths({name: each[first:] for name, each in moved.items()})
            rows.append(place | tokens | pairs | lengths)


def _effective_keys(heads: pl.DataFrame) -> dict[tuple[str, int], float]:
    """Keys that the heads of an attention module attend to, by module and call."""
    means = heads.group_by("module", "occurrence").agg(pl.mean("effective_n")).drop_nulls()
    return {(module, run): mean for module, run, mean in means.iter_rows()}


def _is_sink(vectors: Vectors) -> bool:
    lengths = vectors.float().norm(dim=-1)
    return bool(len(lengths) > _FEW and lengths[0] > SINK * lengths[1:].median())


def _spread(tokens: int) -> Tensor:
    """The first token, and as many of the others, evenly spread, as make the sample."""
    count = min(tokens, SAMPLE + 1)
    return torch.linspace(0, tokens - 1, count, dtype=torch.float64).round().long()


def _directions(vectors: Vectors, centres: bool) -> Vectors:
    if centres:
        vectors = vectors - vectors.mean(dim=-1, keepdim=True)
    return torch.nn.functional.normalize(vectors, dim=-1)


def _pairs(gaps: Float[Tensor, "tokens tokens"]) -> dict[str, Any]:
    return {name: value.item() for name, value in observe(gaps, 1.0).items()}


def _moved(
    entering: Vectors, leaving: Vectors | None, attention: Vectors | None, centres: bool
) -> dict[str, Float[Tensor, "tokens"]]:
    """Lengths and angles of every token, by name."""
    found: dict[str, list[Tensor]] = {}
    for start in range(0, len(entering), _AT_ONCE):

        def part(vectors: Tensor, start: int = start) -> Tensor:
            return vectors[start : start + _AT_ONCE].cpu().double()

        others = (None if each is None else part(each) for each in (leaving, attention))
        for name, values in _measures(part(entering), *others, centres=centres).items():
            found.setdefault(name, []).append(values)
    return {name: torch.cat(values) for name, values in found.items()}


def _measures(
    entering: Vectors, leaving: Vectors | None, attention: Vectors | None, centres: bool
) -> dict[str, Float[Tensor, "tokens"]]:
    found = {"radius": entering.norm(dim=-1)}
    if leaving is not None:
        found["speed"] = _angles(entering, leaving, centres)
    if leaving is not None and attention is not None:
        found["attention_norm"] = attention.norm(dim=-1)
        found["other_norm"] = (leaving - entering - attention).norm(dim=-1)
        found["attention_speed"] = _angles(entering, entering + attention, centres)
    return found


def _lengths(moved: Mapping[str, Float[Tensor, "tokens"]]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for name in ("radius", "speed", "attention_norm", "other_norm", "attention_speed"):
        values = moved.get(name)
        found[name] = None if values is None else values.mean().item()
        if name in ("radius", "speed"):
            band = torch.tensor(BAND, dtype=torch.float64)
            low, high = (None, None) if values is None else quantiles(values, band).tolist()
            found |= {f"{name}_low": low, f"{name}_high": high}
    return found


def _angles(before: Vectors, after: Vectors, centres: bool) -> Float[Tensor, "tokens"]:
    """In radians; by the half-angle formula, which is exact for small angles too."""
    a, b = _directions(before, centres), _directions(after, centres)
    return 2 * torch.atan2((a - b).norm(dim=-1), (a + b).norm(dim=-1))


def _vectors(stream: Tensor) -> Vectors:
    """The tokens of the one window in a batch."""
    return stream.flatten(0, -2)
