"""A window's tokens as particles, layer by layer: the `depth` table of a unit.

One further forward pass. A token's direction is that of its vector in the residual stream, centred
where the layer's norm centres. The first token of a decoder is as a rule a sink: attention parks
there, and its vector is hundreds of times as long as the others and far from them. Where it is more
than `SINK` times as long as the median somewhere in the model it is left out of all numbers of the
window. Of more than `SAMPLE` tokens an evenly spread sample makes the pairs; lengths and angles are
those of all.
"""

from collections import defaultdict
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
    means = heads.group_by("module", "occurrence").agg(pl.mean("effective_n")).drop_nulls()
    reader = _Reader({(module, run): mean for module, run, mean in means.iter_rows()})
    models.read_stream(model, inputs, layers, reader)
    rows = [vars(key) | row for row in reader.rows()]
    return pl.DataFrame(rows, schema=frame_schema(DepthRow)).fill_nan(None)


class _Reader:
    """Measures each layer as it ends, with and, until it proves a sink, without the first token.

    `effective` has the keys that the heads of an attention module attend to, by module and call.
    """

    def __init__(self, effective: Mapping[tuple[str, int], float]) -> None:
        self._effective = effective
        self._all: list[dict[str, Any]] = []
        self._without: list[dict[str, Any]] = []
        self._sink = False
        self._last: models.StreamStep | None = None

    def __call__(self, step: models.StreamStep) -> None:
        norms = step.norms
        place = {"layer": step.place, "module": norms.layer, "scheme": norms.scheme}
        place["effective_n"] = self._effective.get((norms.attention, step.occurrence))
        self._measure(place, norms.centres, step.entering, step.leaving, step.attention)
        self._last = step

    def rows(self) -> list[dict[str, Any]]:
        """The rows that count, with that after the last layer."""
        last = self._last
        assert last is not None
        self._measure({"layer": last.place + 1, "module": ""}, last.norms.centres, last.leaving)
        self._last = None
        return self._without if self._sink else self._all

    def _measure(self, place: dict[str, Any], centres: bool, *stream: Tensor | None) -> None:
        """What enters a layer, leaves it and is its attention's, as far as it is there."""
        # The tokens of the one window in a batch.
        tokens, *others = (None if each is None else each.flatten(0, -2) for each in stream)
        assert tokens is not None
        lengths = tokens.float().norm(dim=-1)
        few = len(tokens) <= _FEW
        self._sink |= not few and bool(lengths[0] > SINK * lengths[1:].median())
        # The first token, and as many of the others, evenly spread, as make the sample.
        count = min(len(tokens), SAMPLE + 1)
        picked = torch.linspace(0, len(tokens) - 1, count, dtype=torch.float64).round().long()
        # On the CPU, because not every device has float64.
        sampled = tokens[picked.to(tokens.device)].cpu().double()
        gaps, moved = gaps_of(_directions(sampled, centres)), _moved(centres, tokens, *others)
        kept = [(self._all, 0)] * (not self._sink) + [(self._without, 1)] * (not few)
        for rows, first in kept:
            pairs = observe(gaps[first:, first:], 1.0)
            row = place | {"tokens": len(tokens) - first}
            row |= {name: value.item() for name, value in pairs.items()}
            rows.append(row | _means({name: each[first:] for name, each in moved.items()}))


def _directions(vectors: Vectors, centres: bool) -> Vectors:
    if centres:
        vectors = vectors - vectors.mean(dim=-1, keepdim=True)
    return torch.nn.functional.normalize(vectors, dim=-1)


def _moved(
    centres: bool,
    entering: Vectors,
    leaving: Vectors | None = None,
    attention: Tensor | None = None,
) -> dict[str, Float[Tensor, "tokens"]]:
    """Lengths and angles of every token, by name."""
    found: dict[str, list[Tensor]] = defaultdict(list)
    for start in range(0, len(entering), _AT_ONCE):
        before, after, added = (
            None if each is None else each[start : start + _AT_ONCE].cpu().double()
            for each in (entering, leaving, attention)
        )
        assert before is not None
        found["radius"].append(before.norm(dim=-1))
        if after is not None:
            found["speed"].append(_angles(before, after, centres))
        if after is not None and added is not None:
            found["attention_norm"].append(added.norm(dim=-1))
            found["other_norm"].append((after - before - added).norm(dim=-1))
            found["attention_speed"].append(_angles(before, before + added, centres))
    return {name: torch.cat(values) for name, values in found.items()}


def _means(moved: Mapping[str, Float[Tensor, "tokens"]]) -> dict[str, float]:
    """With the ends of a band for two of them."""
    found = {name: values.mean().item() for name, values in moved.items()}
    for name in moved.keys() & {"radius", "speed"}:
        ends = quantiles(moved[name], torch.tensor(BAND, dtype=torch.float64)).tolist()
        found |= dict(zip((f"{name}_low", f"{name}_high"), ends, strict=True))
    return found


def _angles(before: Vectors, after: Vectors, centres: bool) -> Float[Tensor, "tokens"]:
    """In radians; by the half-angle formula, which is exact for small angles too."""
    a, b = _directions(before, centres), _directions(after, centres)
    return 2 * torch.atan2((a - b).norm(dim=-1), (a + b).norm(dim=-1))
