"""Discussion: do three heads cover what one misses?

Heads select different tokens, so what they cover "together" needs one set that all are asked for:
the N tokens with the largest mean weight over the heads of a layer. Each head separates some of
them with its own weights; the union over sets of H heads stands beside what independent heads
would cover.
"""

import math
from typing import Any

import numpy as np
import polars as pl
import torch
from scipy import stats
from torch import Tensor

from headgauge import models
from headgauge.measure.requests import Probe, Vectors, spread_rows
from headgauge.paper.bands import mean
from headgauge.paper.choices import Choice
from headgauge.runs.paper_schema import CoverageRow
from headgauge.runs.schema import frame_schema
from headgauge.theory.normalization.coverage import (
    independent_coverage,
    multi_head_coverage,
    shared_coverage,
)
from headgauge.theory.normalization.selection import top_n
from headgauge.theory.normalization.separability import distinguishable

TOP_N = 16
HEADS = (1, 2, 3, 4)  # together


def probe(choice: Choice, rows: int, n: int = TOP_N) -> Probe:
    """Which of a layer's common tokens one head separates, in some query rows."""
    means: dict[tuple[str, int, int], Tensor] = {}  # over a layer's heads: the same for all of them

    def mean_weights(call: models.ObservedCall, row: int) -> Tensor:
        place = (call.module, call.occurrence, row)
        if place not in means:
            means[place] = torch.zeros(call.keys, dtype=torch.float64)
            for head in range(call.heads):
                weights = call.block(0, head, row, row + 1).weights[0].cpu().double()
                means[place][: len(weights)] += weights / call.heads
        return means[place]

    def measure(head: Any, vectors: Vectors) -> list[dict[str, Any]]:
        found = vectors(choice.vectors)
        if found is None:
            return []
        x = choice.scaled(found)
        call: models.ObservedCall = head.call
        return [
            head.where | {"row": row, "key": key, "top_n": n, "separable": separable}
            for row in spread_rows(0, call.queries, call.queries, rows).tolist()
            for key, separable in _shared(
                call.block(0, head.head, row, row + 1), mean_weights(call, row), x, choice, n
            )
        ]

    return Probe("shared_tokens", "coverage", (choice.vectors,), measure)


def _shared(
    block: models.RowBlock, mean: Tensor, x: Tensor, choice: Choice, n: int
) -> list[tuple[int, bool]]:
    """The common tokens of a row, and whether this head separates them."""
    weights, seen = torch.zeros_like(mean), torch.zeros(len(mean), dtype=torch.bool)
    weights[: block.reach] = block.weights[0].cpu().double()
    seen[: block.reach] = block.visible[0].cpu()
    if int(seen.sum()) <= n:
        return []
    places = (seen if choice.keys == "visible" else torch.ones_like(seen)).nonzero()[:, 0]
    selected = top_n(mean[places], n)
    inside = distinguishable(weights[places], x[places], selected)
    return [(int(places[at]), bool(inside[at])) for at in selected.nonzero()[:, 0]]


def run(table: pl.DataFrame) -> pl.DataFrame:
    """CoverageRows: by the number of heads, means over layers and rows."""
    # By H and query row, of every layer: what H heads cover, and what independent ones would.
    found: dict[int, dict[int, list[tuple[float, float]]]] = {h: {} for h in HEADS}
    layers = set()
    place = ("layer", "occurrence", "module", "row")
    for (*layer, row), tokens in table.group_by(place, maintain_order=True):
        sets = tokens.sort("key", "head").partition_by("key", maintain_order=True)
        if len({len(each) for each in sets}) != 1:  # heads that see other keys ask for other tokens
            continue
        separable = torch.tensor([each["separable"].to_list() for each in sets]).T
        layers.add(tuple(layer))
        for h in HEADS:
            if h <= len(separable):
                pair = shared_coverage(separable, h), independent_coverage(separable, h)
                found[h].setdefault(row, []).append((float(pair[0]), float(pair[1])))
    rows = []
    for h, by_row in found.items():
        pairs = [pair for each in by_row.values() for pair in each]
        if not pairs:
            continue
        means = [mean([covered for covered, _ in each]) for each in by_row.values()]
        covered, half = mean(means), _half_width(means)
        one = mean([covered for covered, _ in pairs]) if h == 1 else rows[0]["separable"]
        rows.append(
            {
                "top_n": table["top_n"][0],
                "heads": h,
                "covered": covered,
                "low": None if half is None else max(0.0, covered - half),
                "high": None if half is None else min(1.0, covered + half),
                "separable": one,
                "independent": mean([independent for _, independent in pairs]),
                "formula": multi_head_coverage(one, h),
                "layers": len(layers),
                "rows": len(by_row),
            }
        )
    return pl.DataFrame(rows, schema=frame_schema(CoverageRow))


def _half_width(means: list[float]) -> float | None:
    """Of the 95 % interval of a mean over few rows: Student's t."""
    if len(means) < 2:
        return None
    wide = float(stats.t.ppf(0.975, len(means) - 1))
    return wide * float(np.std(means, ddof=1)) / math.sqrt(len(means))
