"""Figure 4, Algorithm 5: the finite-difference sensitivity g(T, ε) over the temperature.

The paper draws a random unit vector for every query row, T and ε, takes the mean of g over the rows
of a head and plots the largest head. Here each row keeps one vector over the whole grid, so that
curves differ by T and ε alone. Beside it stand the worst direction, the exact limits ε → 0 of both,
and the bounds: printed (false), corrected 1/(2T), and the sharp (√2/ε)tanh(ε/(2√2T)).

Options that the paper leaves open: logits scaled by 1/√d, as the model does, or raw; v over the
visible keys or over all L.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import torch
from torch import Tensor

from headgauge import engine, models
from headgauge.measure.requests import Probe, Vectors, spread_rows
from headgauge.paper.measured import Measured
from headgauge.runs.paper_schema import SensitivityFigureRow
from headgauge.runs.schema import frame_schema
from headgauge.theory.normalization.finite_difference import sharp_bound
from headgauge.theory.normalization.sensitivity import corollary_3, corollary_3_printed


def grid(points: int) -> tuple[float, ...]:
    """Temperatures from 1e-2 to 1e2, evenly on the logarithm."""
    return tuple(float(f"{value:.6g}") for value in np.logspace(-2, 2, points))


@dataclass(frozen=True)
class Config:
    """The paper's ε; temperatures, of which it says only "below .1" and "from 1 on"; how many query
    rows of each head are drawn."""

    temperatures: tuple[float, ...] = grid(25)
    epsilons: tuple[float, ...] = (1e-3, 1e-1, 10.0)
    rows: int = 64
    seed: int = 0


def probe(config: Config, seed: tuple[int, ...]) -> Probe:
    """The measurement of one head."""

    def measure(head: Any, vectors: Vectors) -> list[dict[str, Any]]:
        return list(_measure(head, config, seed))

    return Probe("sensitivity", "sensitivity", (), measure)


def _measure(head: Any, config: Config, seed: tuple[int, ...]) -> Iterator[dict[str, Any]]:
    call: models.ObservedCall = head.call
    scaling = call.scaling if isinstance(call, models.AttentionCall) else None
    blocks = [_directions(rows, scaling, config) for rows in drawn_rows(head, config.rows, seed)]
    for logits, direction in blocks[0] if blocks else ():
        values = np.concatenate([each[logits, direction] for each in blocks], axis=-1)
        epsilons = config.epsilons if values.ndim == 3 else (0.0,)
        values = values.reshape(len(config.temperatures), len(epsilons), -1)
        name = {"logits": logits, "direction": direction}
        yield from sensitivity_rows(head.where | name, values, config.temperatures, epsilons)


class DrawnRows(NamedTuple):
    """Query rows of a head with a random unit vector each: over the keys they see, and over all."""

    logits: Tensor
    visible: Tensor
    seen: Tensor
    over_all: Tensor


def drawn_rows(head: Any, count: int, seed: tuple[int, ...]) -> Iterator[DrawnRows]:
    """`count` rows spread over the window, a block at a time; those that see no key are left out.

    The vectors depend on the seed and on which head it is, not on the order of the heads.
    """
    call: models.ObservedCall = head.call
    draw = np.random.default_rng((*seed, call.layer, call.occurrence, head.head))
    for block in call.blocks(256, heads=[head.head]):
        picked = spread_rows(block.start, block.stop, call.queries, count)
        picked = picked[block.visible.any(-1).cpu().numpy()[picked]]
        if not len(picked):
            continue
        some = torch.from_numpy(picked)
        logits, visible = block.logits[some], block.visible[some]
        everywhere = torch.from_numpy(draw.standard_normal((len(picked), call.keys)))
        everywhere = everywhere.to(logits.device, torch.float64)
        over_all = everywhere / torch.linalg.vector_norm(everywhere, dim=-1, keepdim=True)
        over_all = over_all[:, : logits.shape[1]]
        seen = torch.where(visible, over_all, 0.0)
        seen = seen / torch.linalg.vector_norm(seen, dim=-1, keepdim=True)
        yield DrawnRows(logits, visible, seen, over_all)


def sensitivity_rows(
    where: dict[str, Any],
    values: np.ndarray,
    temperatures: tuple[float, ...],
    epsilons: tuple[float, ...],
) -> Iterator[dict[str, Any]]:
    """Rows of the table `sensitivity` from values (T, ε, rows): their mean and spread."""
    for t, temperature in enumerate(temperatures):
        for e, epsilon in enumerate(epsilons):
            g = values[t, e]
            mean = math.fsum(g.tolist()) / len(g)
            variance = math.fsum(((g - mean) ** 2).tolist()) / max(1, len(g) - 1)
            yield where | {
                "epsilon": epsilon,
                "temperature": temperature,
                "rows": len(g),
                "sensitivity": mean,
                "spread": math.sqrt(variance),
            }


def _directions(
    rows: DrawnRows, scaling: float | None, config: Config
) -> dict[tuple[str, str], np.ndarray]:
    logits, visible, seen, over_all = rows
    grid = (config.temperatures, config.epsilons)
    found = engine.sensitivity(logits, visible, *grid, seen)
    everywhere = engine.sensitivity(logits, visible, *grid, over_all, worst=False)
    assert found.worst is not None
    assert found.exact is not None
    assert found.exact_mean is not None
    measures = {
        ("scaled", "random"): found.random,
        ("scaled", "random over all keys"): everywhere.random,
        ("scaled", "worst"): found.worst,
        ("scaled", "exact"): found.exact,
        ("scaled", "exact mean"): found.exact_mean,
    }
    if scaling is not None:
        raw = engine.sensitivity(logits / scaling, visible, *grid, seen, worst=False)
        measures["raw", "random"] = raw.random
    return measures


def run(measured: Measured, config: Config) -> pl.DataFrame:
    """SensitivityFigureRows: the largest head at every T, ε and direction, and the bounds."""
    keys = ["logits", "direction", "epsilon", "temperature"]
    chosen = measured.sensitivity.filter(pl.col("window") == pl.col("window").min())
    largest = (
        chosen.sort(
            "sensitivity", "layer", "occurrence", "head", descending=[True, False, False, False]
        )
        .group_by(keys, maintain_order=True)
        .agg(
            pl.col("sensitivity").first().alias("maximum"),
            pl.col("spread").first(),
            pl.col("rows").first(),
            pl.col("sensitivity").sort().mean().alias("mean"),
            pl.col("layer").first(),
            pl.col("head").first(),
            pl.len().cast(pl.Int64).alias("heads"),
            pl.lit(None, pl.String).alias("text"),
        )
        # On the logarithm, where an interval around a positive mean stays positive.
        .with_columns(
            half=pl.when(pl.col("maximum") > 0).then(
                1.96 * pl.col("spread") / pl.col("rows").sqrt() / pl.col("maximum")
            )
        )
        .with_columns(
            low=pl.col("maximum") * (-pl.col("half")).exp(),
            high=pl.col("maximum") * pl.col("half").exp(),
        )
        .with_columns(epsilon=pl.when(pl.col("epsilon") > 0).then("epsilon"))
    )
    schema = frame_schema(SensitivityFigureRow)
    drawn = largest.select(pl.col(name).cast(kind) for name, kind in schema.items())
    bounds = pl.DataFrame(_bounds(config), schema=schema)
    return pl.concat([drawn, bounds]).sort(keys, nulls_last=False)


def _bounds(config: Config) -> list[dict[str, Any]]:
    rows = []
    for temperature in config.temperatures:
        here = {"logits": "scaled", "temperature": temperature}
        rows.append(
            here | {"direction": "printed bound", "maximum": corollary_3_printed(temperature)}
        )
        rows.append(here | {"direction": "corrected bound", "maximum": corollary_3(temperature)})
        rows += [
            here
            | {
                "direction": "sharp bound",
                "epsilon": epsilon,
                "maximum": sharp_bound(epsilon, temperature),
            }
            for epsilon in config.epsilons
        ]
    return rows
