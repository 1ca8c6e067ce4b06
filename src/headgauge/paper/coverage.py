"""Discussion: do three heads cover what one misses?

Heads select different tokens, so what they cover "together" needs one set that all are asked for:
the N tokens with the largest mean weight over the heads of a layer. Each head separates some of
them with its own weights; the union over sets of H heads stands beside what independent heads
would cover.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import torch
from scipy import stats
from torch import Tensor

from headgauge import models
from headgauge.measure.requests import Probe, Vectors, spread_rows
from headgauge.paper.choices import Choice
from headgauge.paper.measured import Measured
from headgauge.runs.paper_schema import CoverageRow
from headgauge.runs.schema import frame_schema
from headgauge.theory.normalization.coverage import (
    independent_coverage,
    multi_head_coverage,
    shared_coverage,
)
from headgauge.theory.normalization.selection import top_n
from headgauge.theory.normalization.separability import distinguishable

_LAYER = ("layer", "occurrence", "module")


@dataclass(frozen=True)
class Config:
    """N, how many heads together, one among them, and the query rows drawn."""

    top_n: int = 16
    heads: tuple[int, ...] = (1, 2, 3, 4)
    rows: int = 8


def probe(config: Config, choice: Choice) -> Probe:
    """Which of a layer's common tokens one head separates."""
    means: dict[tuple[str, int, int], Tensor] = {}  # over a layer's heads: the same for all of them

    def mean_weights(call: models.ObservedCall, row: int) -> Tensor:
        place = (call.module, call.occurrence, row)
        if place not in means:
            whole = torch.zeros(call.keys, dtype=torch.float64)
            for head in range(call.heads):
                weights = call.block(0, head, row, row + 1).weights[0].cpu().double()
                whole[: len(weights)] += weights / call.heads
            means[place] = whole
        return means[place]

    def measure(head: Any, vectors: Vectors) -> list[dict[str, Any]]:
        found = vectors(choice.vectors)
        if found is None:
            return []
        x = found.cpu().double()
        if choice.scale == "unit":
            x = torch.nn.functional.normalize(x, dim=-1)
        call: models.ObservedCall = head.call
        rows = spread_rows(0, call.queries, call.queries, config.rows)
        return [
            head.where | {"row": row, "key": key, "top_n": config.top_n, "separable": separable}
            for row in rows.tolist()
            for key, separable in _shared(
                call.block(0, head.head, row, row + 1), mean_weights(call, row), x, choice, config
            )
        ]

    return Probe("shared_tokens", "coverage", (choice.vectors,), measure)


def _shared(
    block: models.RowBlock, mean: Tensor, x: Tensor, choice: Choice, config: Config
) -> list[tuple[int, bool]]:
    """The common tokens of a row, and whether this head separates them."""
    weights, seen = torch.zeros_like(mean), torch.zeros(len(mean), dtype=torch.bool)
    weights[: block.reach] = block.weights[0].cpu().double()
    seen[: block.reach] = block.visible[0].cpu()
    if int(seen.sum()) <= config.top_n:
        return []
    places = (seen if choice.keys == "visible" else torch.ones_like(seen)).nonzero()[:, 0]
    selected = top_n(mean[places], config.top_n)
    inside = distinguishable(weights[places], x[places], selected)
    return [(int(places[at]), bool(inside[at])) for at in selected.nonzero()[:, 0]]


def run(measured: Measured, config: Config) -> pl.DataFrame:
    """CoverageRows: by the number of heads, means over layers and rows."""
    found: dict[int, dict[int, list[tuple[float, float]]]] = {h: {} for h in config.heads}
    tables = measured.shared_tokens.group_by(*_LAYER, "row", maintain_order=True)
    layers = set()
    for (*layer, row), table in tables:
        sets = table.sort("key", "head").partition_by("key", maintain_order=True)
        counts = {len(each) for each in sets}
        if len(counts) != 1:  # heads that see other keys ask for other tokens
            continue
        separable = torch.tensor([each["separable"].to_list() for each in sets]).T
        layers.add(tuple(layer))
        for h in config.heads:
            if h <= len(separable):
                pair = shared_coverage(separable, h), independent_coverage(separable, h)
                found[h].setdefault(int(row), []).append((float(pair[0]), float(pair[1])))
    if not layers:
        return pl.DataFrame(schema=frame_schema(CoverageRow))
    rows = []
    one = _mean([c for each in found[1].values() for c, _ in each])
    for h, places in found.items():
        if not places:
            continue
        means = [_mean([covered for covered, _ in each]) for each in places.values()]
        covered, half = _mean(means), _half_width(means)
        rows.append(
            {
                "top_n": config.top_n,
                "heads": h,
                "covered": covered,
                "low": None if half is None else max(0.0, covered - half),
                "high": None if half is None else min(1.0, covered + half),
                "separable": one,
                "independent": _mean([i for each in places.values() for _, i in each]),
                "formula": multi_head_coverage(one, h),
                "layers": len(layers),
                "rows": len(places),
            }
        )
    return pl.DataFrame(rows, schema=frame_schema(CoverageRow))


def _half_width(means: list[float]) -> float | None:
    """Of the 95 % interval of a mean over few rows: Student's t."""
    if len(means) < 2:
        return None
    wide = float(stats.t.ppf(0.975, len(means) - 1))
    return wide * float(np.std(means, ddof=1)) / math.sqrt(len(means))


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)
