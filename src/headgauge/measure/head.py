"""One head of one layer, streamed a block of rows at a time: its part of every table.

Nothing is shared between heads but what is only read, so that they can run side by side. Sums are
exact (`fsum`): the order in which a library adds depends on where the numbers lie in memory, and a
run that is taken up again must come to the same bytes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import polars as pl
import torch
from torch import Tensor

from headgauge import engine, models
from headgauge.measure.gathered import Gathered, HeadCurves
from headgauge.measure.requests import CurveRequest, spread_rows
from headgauge.measure.samples import Sampler
from headgauge.measure.settings import UnitSettings
from headgauge.runs.schema import QueryRow, frame_schema


@dataclass(frozen=True, eq=False)
class Head:
    """A head to be measured: the call it is part of, where that stands, its layer's outputs.

    `outputs` is ‖Σ α_i v_i‖ per query and head, or None where it could not be seen.
    """

    call: models.ObservedCall
    head: int
    where: dict[str, Any]
    outputs: np.ndarray | None
    sampler: Sampler

    def measure(
        self,
        settings: UnitSettings,
        requests: Sequence[CurveRequest],
        geometry: engine.Geometry | None,
        judged: bool,
    ) -> Gathered:
        """The curves asked for with the same vectors; if `judged`, all that needs no N as well."""
        found = Gathered()
        requests = () if geometry is None else requests
        means = [engine.Means() for _ in requests]
        parts: list[engine.RowMeasures] = []
        visible: list[np.ndarray] = []
        for block in self.call.blocks(settings.block_rows, heads=[self.head]):
            if judged:
                with found.timed("weights"):
                    weights, seen = block.weights, block.visible
                with found.timed("row measures"):
                    parts.append(engine.row_measures(weights, seen, block.logits, block.raw))
                    visible.append(seen.sum(-1).cpu().numpy())
                with found.timed("samples"):
                    found.parts["samples"] += self.sampler.rows(self.where, block)
            for request, gathered in zip(requests, means, strict=True):
                self._add(request, gathered, block, geometry, found)
        for request, gathered in zip(requests, means, strict=True):
            where = self.where | request.choice
            found.parts[request.table].append(HeadCurves(where, request.top_ns, gathered))
        if judged:
            with found.timed("tables"):
                self._head_row(found, parts, np.concatenate(visible), settings.save_rows)
        return found

    def known(self, rows: int) -> dict[str, Any]:
        """What its row has beside numbers, and all that is told of a head that is not finite."""
        return self.where | {
            "kv_head": self.call.kv_head(self.head),
            "cross": self.call.cross,
            "seen": "softmax" if self.outputs is None else "qkv",
            "rows": rows,
        }

    def _add(
        self,
        request: CurveRequest,
        gathered: engine.Means,
        block: models.RowBlock,
        geometry: engine.Geometry | None,
        found: Gathered,
    ) -> None:
        """The rows of a block that a request measures, into its means."""
        picked = spread_rows(block.start, block.stop, self.call.queries, request.rows)
        if not len(picked) or geometry is None:
            return
        # A scan tells its weights apart; the parts of a reproduction pay for their own.
        with found.timed("weights" if request.part == "curves" else request.part):
            weights, seen = _weights(request, block, picked)
        with found.timed(request.part):
            counted = cast(engine.Keys, request.keys)
            gathered.add(engine.curves(weights, geometry, request.top_ns, seen, counted))

    def _head_row(
        self,
        found: Gathered,
        parts: list[engine.RowMeasures],
        visible: np.ndarray,
        save_rows: bool,
    ) -> None:
        alive = visible > 0
        if not alive.any():
            return
        rows = _rows(parts, alive)
        outputs = None if self.outputs is None else self.outputs[alive]
        if save_rows:
            norms = None if outputs is None else outputs[:, self.head]
            found.parts["rows"].append(_query_rows(self.where, rows, visible, norms))
        several = visible[alive] > 1
        sharpness = rows["sharpness"][several]
        # What enters a tapped softmax has bias and mask in it already.
        largest = None if outputs is None else rows["max_logit"].max()
        means = None if outputs is None else [_sum(each) / len(each) for each in outputs.T]
        norm = None if means is None else means[self.head]
        found.parts["heads"].append(
            self.known(int(alive.sum()))
            | {
                "entropy": _mean(rows["entropy"]),
                "entropy_share": _mean(rows["entropy"][several] / np.log(visible[alive][several])),
                "effective_n": _mean(rows["effective_n"]),
                "sink_weight": _mean(rows["sink_weight"]),
                "max_logit": _number(largest),
                "jacobian_norm": _mean(rows["jacobian_norm"]),
                "sharpness": _mean(sharpness),
                "sharp_rows": _mean((sharpness > 1).astype(float)),
                "output_norm": _number(norm),
                "output_ratio": None
                if means is None or norm is None
                else _number(norm * len(means) / (_number(math.fsum(means)) or math.nan)),
            }
        )


def _weights(
    request: CurveRequest, block: models.RowBlock, picked: np.ndarray
) -> tuple[Tensor, Tensor]:
    """The weights and the visible keys of the rows that a request measures."""
    some = slice(None) if len(picked) == block.stop - block.start else torch.from_numpy(picked)
    if request.normalizer is None:
        return block.weights[some], block.visible[some]
    return request.normalizer(block.logits[some], block.visible[some]), block.visible[some]


def output_norms(call: models.ObservedCall) -> np.ndarray | None:
    """‖Σ α_i v_i‖ per query and head, from the model's own output; None where it was not seen."""
    if not isinstance(call, models.AttentionCall):
        return None
    return torch.linalg.vector_norm(call.output[0].cpu().double(), dim=-1).numpy()


def _rows(parts: list[engine.RowMeasures], alive: np.ndarray) -> dict[str, np.ndarray]:
    names = ("entropy", "effective_n", "sink_weight", "max_logit", "jacobian_norm", "sharpness")
    return {name: np.concatenate([getattr(part, name) for part in parts])[alive] for name in names}


def _query_rows(
    where: dict[str, Any],
    rows: dict[str, np.ndarray],
    visible: np.ndarray,
    norms: np.ndarray | None,
) -> pl.DataFrame:
    """The rows of a head that see a key, one by one, in the order of their queries."""
    alive = visible > 0
    columns = {"row": np.flatnonzero(alive), "visible": visible[alive]} | rows
    table = pl.DataFrame(columns | {"output_norm": norms}).with_columns(
        **{name: pl.lit(value) for name, value in where.items()}
    )
    schema = frame_schema(QueryRow)
    return table.select(pl.col(name).cast(dtype) for name, dtype in schema.items()).fill_nan(None)


def _mean(values: np.ndarray) -> float | None:
    """The mean; None if a row has no number or there is no row: it could not be compared."""
    return _number(_sum(values) / len(values)) if len(values) else None


def _sum(values: np.ndarray) -> float:
    return math.fsum(values.tolist())


def _number(value: Any) -> float | None:
    """A finite float, or None."""
    if value is None or not math.isfinite(value):
        return None
    return float(value)
