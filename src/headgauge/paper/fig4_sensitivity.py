"""Figure 4, Algorithm 5: the finite-difference sensitivity g(T, ε) over the temperature.

The paper draws a random unit vector for every query row, T and ε, takes the mean of g over the rows
of a head and plots the largest head. Here each row keeps one vector over the whole grid, so that
curves differ by T and ε alone. Beside it stand the worst direction, the exact limits ε → 0 of both,
and the bounds: printed (false), corrected 1/(2T), and the sharp (√2/ε)tanh(ε/(2√2T)).

Options that the paper leaves open: logits scaled by 1/√d, as the model does, or raw; v over the
visible keys or over all L.

Under other rules it is ‖rule((l + εv)/T) − rule(l/T)‖/ε on the model's own logits, from fewer rows
than the figure itself, so that its largest head is a noisier maximum. A softmax at another
temperature is the same figure shifted along T, so only the others are here. No bound of the figure
holds for them: sparsemax moves by at most 1/T, entmax by less, and SSMax by up to ½ s log n/T.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import torch
from torch import Tensor

from headgauge import engine, models
from headgauge.devices import most_exact
from headgauge.measure.requests import Probe, Vectors, spread_rows
from headgauge.paper.bands import mean
from headgauge.paper.choices import rule
from headgauge.registry.published import EPSILONS
from headgauge.runs.paper_schema import paper_frame
from headgauge.theory.normalization.finite_difference import sharp_bound
from headgauge.theory.normalization.sensitivity import corollary_3, corollary_3_printed

RULE_TEMPERATURES = (0.01, 0.0316228, 0.1, 0.316228, 1.0, 3.16228, 10.0, 100.0)
_ROWS = 256  # of the window that are looked at together: under a causal mask the first see few keys
UNDER = "random under {}"  # the direction's name in the tables, of a rule
# (T, ε, rows) by logits and direction, or (T, rows) for the limit ε → 0
Measured = dict[tuple[str, str], np.ndarray]


class Drawn(NamedTuple):
    """Query rows of a head with a random unit vector each: over the keys they see, and over all."""

    logits: Tensor
    visible: Tensor
    seen: Tensor
    over_all: Tensor
    scaling: float | None  # of the logits, where it is known


def probe(rows: int, temperatures: tuple[float, ...], seed: tuple[int, ...]) -> Probe:
    """The model's own softmax on some rows of a head."""
    return _probe("sensitivity", rows, seed, temperatures, lambda rows: _own(rows, temperatures))


def rule_probe(rows: int, rules: Sequence[str], seed: tuple[int, ...]) -> Probe:
    """Other rules on some rows of a head."""

    def measured(drawn: Drawn) -> Measured:
        return {("scaled", UNDER.format(name)): _changes(drawn, name) for name in rules}

    return _probe("rules", rows, seed, RULE_TEMPERATURES, measured)


def _probe(
    part: str,
    count: int,
    seed: tuple[int, ...],
    temperatures: tuple[float, ...],
    measured: Callable[[Drawn], Measured],
) -> Probe:
    def measure(head: Any, vectors: Vectors) -> list[dict[str, Any]]:
        blocks = list(map(measured, drawn(head, count, seed)))
        found: list[dict[str, Any]] = []
        for logits, direction in blocks[0] if blocks else ():
            values = np.concatenate([each[logits, direction] for each in blocks], axis=-1)
            place = head.where | {"logits": logits, "direction": direction}
            found += [place | row for row in _rows(values, temperatures)]
        return found

    return Probe("sensitivity", part, (), measure)


def drawn(head: Any, count: int, seed: tuple[int, ...]) -> Iterator[Drawn]:
    """`count` rows spread over the window, a block at a time; those that see no key are left out.

    The vectors depend on the seed and on which head it is, not on the order of the heads.
    """
    call: models.ObservedCall = head.call
    scaling = call.scaling if isinstance(call, models.AttentionCall) else None
    draw = np.random.default_rng((*seed, call.layer, call.occurrence, head.head))
    for start in range(0, call.queries, _ROWS):
        picked = spread_rows(start, min(start + _ROWS, call.queries), call.queries, count)
        if not len(picked):
            continue
        rows = call.drawn([head.head], torch.from_numpy(start + picked))
        alive = rows.visible[0].any(-1)
        if not alive.any():
            continue
        logits, visible = rows.logits[0, alive], rows.visible[0, alive]
        everywhere = torch.from_numpy(draw.standard_normal((len(logits), call.keys)))
        everywhere = everywhere.to(logits.device, most_exact(logits.device))
        over_all = everywhere / torch.linalg.vector_norm(everywhere, dim=-1, keepdim=True)
        over_all = over_all[:, : logits.shape[1]]
        seen = torch.where(visible, over_all, 0.0)
        seen = seen / torch.linalg.vector_norm(seen, dim=-1, keepdim=True)
        yield Drawn(logits, visible, seen, over_all, scaling)


def _rows(values: np.ndarray, temperatures: tuple[float, ...]) -> Iterator[dict[str, Any]]:
    """Rows of the table `sensitivity`: mean and spread of the values over query rows."""
    epsilons = EPSILONS if values.ndim == 3 else (0.0,)
    values = values.reshape(len(temperatures), len(epsilons), -1)
    for t, temperature in enumerate(temperatures):
        for e, epsilon in enumerate(epsilons):
            g = values[t, e]
            average = mean(g.tolist())
            variance = math.fsum(((g - average) ** 2).tolist()) / max(1, len(g) - 1)
            yield {
                "epsilon": epsilon,
                "temperature": temperature,
                "rows": len(g),
                "sensitivity": average,
                "spread": math.sqrt(variance),
            }


def _own(rows: Drawn, temperatures: tuple[float, ...]) -> Measured:
    logits, visible, seen, over_all, scaling = rows
    grid = (temperatures, EPSILONS)
    found = engine.sensitivity(logits, visible, *grid, seen)
    measures = {
        ("scaled", "random"): found.random,
        ("scaled", "random over all keys"): engine.sensitivity(
            logits, visible, *grid, over_all, worst=False
        ).random,
        ("scaled", "worst"): found.worst,
        ("scaled", "exact"): found.exact,
        ("scaled", "exact mean"): found.exact_mean,
    }
    if scaling is not None:
        raw = engine.sensitivity(logits / scaling, visible, *grid, seen, worst=False)
        measures["raw", "random"] = raw.random
    return {name: values for name, values in measures.items() if values is not None}


def _changes(rows: Drawn, name: str) -> np.ndarray:
    """(T, ε, rows)."""
    # ε = 0 first: the weights that the others are compared with.
    steps = torch.tensor([0.0, *EPSILONS], dtype=rows.seen.dtype, device=rows.seen.device)
    moved = rows.logits.to(steps.dtype) + steps[:, None, None] * rows.seen
    heats = torch.tensor(RULE_TEMPERATURES, dtype=steps.dtype, device=steps.device)
    moved = moved / heats[:, None, None, None]
    weights = rule(name)(moved, rows.visible.expand(moved.shape))
    change = torch.linalg.vector_norm(weights[:, 1:] - weights[:, :1], dim=-1) / steps[1:, None]
    return change.cpu().double().numpy()


def run(sensitivity: pl.DataFrame, temperatures: tuple[float, ...]) -> pl.DataFrame:
    """SensitivityFigureRows: the largest head at every T, ε and direction, and the bounds."""
    keys = ["logits", "direction", "epsilon", "temperature"]
    head = ["layer", "occurrence", "head"]
    chosen = sensitivity.filter(pl.col("window") == pl.col("window").min())
    # On the logarithm an interval around a positive mean stays positive.
    half = 1.96 * pl.col("spread") / pl.col("rows").sqrt() / pl.col("maximum")
    half = pl.when(pl.col("maximum") > 0).then(half)
    largest = (
        chosen.sort("sensitivity", *head, descending=[True, False, False, False])
        .group_by(keys, maintain_order=True)
        .agg(
            pl.col("sensitivity").first().alias("maximum"),
            pl.col("spread", "rows", "layer", "head").first(),
            pl.col("sensitivity").sort().mean().alias("mean"),
            pl.len().alias("heads"),
        )
        .with_columns(
            low=pl.col("maximum") * (-half).exp(),
            high=pl.col("maximum") * half.exp(),
            epsilon=pl.when(pl.col("epsilon") > 0).then("epsilon"),
        )
    )
    bounds = [
        {"logits": "scaled", "temperature": t, "direction": name, "epsilon": e, "maximum": value}
        for t in temperatures
        for name, e, value in (
            ("printed bound", None, corollary_3_printed(t)),
            ("corrected bound", None, corollary_3(t)),
            *(("sharp bound", e, sharp_bound(e, t)) for e in EPSILONS),
        )
    ]
    return paper_frame("fig4", largest.to_dicts() + bounds).sort(keys, nulls_last=False)
