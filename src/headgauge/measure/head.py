"""One head of one layer, streamed a block of rows at a time: its part of every table.

Nothing is shared between heads but what is only read, so that they can run side by side. Sums are
exact (`fsum`): the order in which a library adds depends on where the numbers lie in memory, and a
run that is taken up again must come to the same bytes.
"""

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import polars as pl
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from headgauge import engine, models
from headgauge.devices import most_exact, room
from headgauge.measure.judged_rows import OF_ROWS, JudgedRows
from headgauge.measure.placed import PlacedRule
from headgauge.measure.requests import OFF_SINK, CurveRequest, RowRequest, spread_rows
from headgauge.measure.roles import Surroundings, device_of
from headgauge.measure.row_sample import CurveMeans, RowSample
from headgauge.measure.samples import Sampler, Shown, sample_table
from headgauge.measure.settings import UnitSettings
from headgauge.runs.schema import TABLES, QueryRow, frame_schema

_WEIGHT_BYTES = 64  # of a weight, its logits, mask and what the measures need beside them
_MOST = 1 << 25  # a device has long been busy: larger blocks would only be wider
Under = Callable[[PlacedRule | None], models.RowBlock]


def entries_at_once(device: torch.device, here: int) -> int:
    """How many weights a call of the engine gets: as many as there is room for where starting work
    is what takes time, `here` on the CPU."""
    return here if device.type == "cpu" else most_entries(device)


def most_entries(device: torch.device) -> int:
    """How many of them there is room for."""
    return min(room(device) // _WEIGHT_BYTES, _MOST)


@dataclass(frozen=True, eq=False)
class HeadCurves:
    """The curves of one head for one choice: what names them, the N, and the means over rows."""

    where: dict[str, Any]
    top_ns: tuple[int, ...]
    means: engine.Means | CurveMeans


@dataclass(eq=False)
class Gathered:
    """Parts of tables by their names (rows, frames, curves, samples), and seconds by phase."""

    parts: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[phase] += time.perf_counter() - began

    def table(self, name: str, errors: bool = False) -> pl.DataFrame:
        """The table `name` of all parts that go there, with sampling errors or without."""
        parts, schema = self.parts[name], frame_schema(TABLES[name], errors)
        if parts and isinstance(parts[0], HeadCurves):
            return _curve_table(parts, schema)
        if parts and isinstance(parts[0], Shown):
            return sample_table(parts, schema)
        if parts and isinstance(parts[0], pl.DataFrame):
            return pl.concat(parts)
        return pl.DataFrame(parts, schema=schema)


def _curve_table(curves: list[HeadCurves], schema: dict[str, Any]) -> pl.DataFrame:
    """Column by column, because a reproduction has some 10⁵ rows; not finite is null."""
    counts = [len(each.top_ns) for each in curves]
    columns: dict[str, Any] = {
        label: np.repeat(np.array([each.where[label] for each in curves], object), counts).tolist()
        for label in curves[0].where
    }
    columns["top_n"] = np.concatenate([each.top_ns for each in curves])
    columns["rows"] = np.concatenate([each.means.rows for each in curves])
    means = [each.means.means() for each in curves]
    for measure in means[0]:
        values = np.concatenate([each[measure] for each in means])
        columns[measure] = np.where(np.isfinite(values), values, np.nan)
    return pl.DataFrame(
        {label: pl.Series(label, columns[label], dtype=kind) for label, kind in schema.items()}
    ).fill_nan(None)


@dataclass(frozen=True, eq=False)
class Head:
    """A head to be measured: the call it is part of, where that stands, its layer's outputs.

    `outputs` is ‖Σ α_i v_i‖ per measured query and head, or None where it could not be seen;
    `facts` has the columns that are known before any row is read.
    """

    call: models.ObservedCall
    head: int
    where: dict[str, Any]
    outputs: np.ndarray | None
    sampler: Sampler
    around: Surroundings | None
    facts: dict[str, float | None] = field(default_factory=dict)

    def measure(
        self,
        settings: UnitSettings,
        requests: Sequence[CurveRequest],
        geometry: engine.Geometry | None,
        judged: Sequence[RowRequest],
    ) -> Gathered:
        """The curves asked for with the same vectors, and of what is `judged` all that needs no
        N."""
        found = Gathered()
        # Without vectors there are no curves.
        asked = [_Asked(each, geometry) for each in requests if geometry is not None]
        rows = [JudgedRows(each, self.around) for each in judged]
        size = settings.rows_at_once(self.call.keys)
        if settings.block_rows is None:
            device, keys = device_of(self.call), self.call.keys
            size = max(size, entries_at_once(device, 0) // keys)
        for block in self.call.blocks(size, heads=[self.head]):
            under = self._under(block)
            for each in rows:
                ruled = under(each.request.placed if each.request.on_logits else None)
                with found.timed("weights"):
                    _ = ruled.weights
                with found.timed("row measures"):
                    each.measure(ruled)
                if self.around is not None:
                    with found.timed("roles"):
                        each.look(ruled)
                if each.request.where is None:
                    with found.timed("samples"):
                        found.parts["samples"] += self.sampler.rows(self.where, block)
            for each in asked:
                self._add(each, block, under, found)
        for each in asked:
            if each.drawn:
                with found.timed(each.request.part):
                    each.add(*_one(each.drawn))
            where = self.where | each.request.choice
            curves = HeadCurves(where, each.request.top_ns, each.means)
            found.parts[each.request.table].append(curves)
        for each in rows:
            with found.timed("tables"):
                row = self._head_row(found, each, settings.keep_rows)
            if row is not None and self.around is not None:
                with found.timed("roles"):
                    own = each.request.placed is None
                    row |= each.columns(self.head) | (self.facts if own else lasting(self.facts))
            if row is not None:
                found.parts[each.request.table].append(row | each.request.choice)
        return found

    def _under(self, block: models.RowBlock) -> Under:
        """A block under a rule, each made once, with its weights; without one the block itself."""
        made: dict[int, models.RowBlock] = {}

        def ruled(rule: PlacedRule | None) -> models.RowBlock:
            if rule is None:
                return block
            if id(rule) not in made:
                made[id(rule)] = block.under(rule.at(self.call.layer, self.head))
            return made[id(rule)]

        return ruled

    def known(self, rows: int) -> dict[str, Any]:
        """What its row has beside numbers, and all that is told of a head that is not finite."""
        return self.where | {
            "kv_head": self.call.kv_head(self.head),
            "cross": self.call.cross,
            "seen": "softmax" if self.outputs is None else "qkv",
            "rows": rows,
        }

    def _add(self, asked: "_Asked", block: models.RowBlock, under: Under, found: Gathered) -> None:
        """The rows of a block that a request measures, into its means."""
        request = asked.request
        picked = spread_rows(block.start, block.stop, self.call.queries, request.rows)
        if not len(picked):
            return
        some = slice(None) if len(picked) == block.stop - block.start else torch.from_numpy(picked)
        # A scan tells its weights apart; the parts of a reproduction pay for their own.
        with found.timed("weights" if request.part == "curves" else request.part):
            seen = block.visible[some]
            if request.normalizer is None or isinstance(request.normalizer, PlacedRule):
                weights = under(request.normalizer).weights[some]
            else:
                weights = request.normalizer(block.logits[some], seen)
            if request.keys == OFF_SINK:
                weights, seen = off_sink(weights, seen)
        if len(picked) < block.stop - block.start:
            asked.drawn.append((weights, seen))
            return
        with found.timed(request.part):
            asked.add(weights, seen)

    def _head_row(
        self, found: Gathered, judged: JudgedRows, keep_rows: bool
    ) -> dict[str, Any] | None:
        visible, alive = judged.visible, judged.alive
        if not alive.any():
            return None
        places, visible = np.flatnonzero(alive), visible[alive]
        rows = {name: judged.rows(name)[alive] for name in OF_ROWS}
        # What enters a tapped softmax has bias and mask in it already.
        measured: dict[str, Any] = dict.fromkeys(("max_logit", "output_norm", "output_ratio"))
        norms = None
        if self.outputs is not None:
            means = [_sum(each) / len(each) for each in self.outputs[alive].T]
            norms = self.outputs[alive, self.head]
            if judged.outputs is not None:  # the other heads' come later: `output_ratios`
                made = judged.outputs.cpu().double().numpy()
                norms = np.linalg.norm(made[alive], axis=-1)
                means = [math.nan] * len(means)
                means[self.head] = _sum(norms) / len(norms)
            norm = means[self.head]
            measured = {
                "max_logit": _number(rows["max_logit"].max()),
                "output_norm": _number(norm),
                "output_ratio": _number(
                    norm * len(means) / (_number(math.fsum(means)) or math.nan)
                ),
            }
        if keep_rows:
            columns = {"row": places, "visible": visible} | rows | {"output_norm": norms}
            found.parts["rows"].append(head_frame(QueryRow, self.where, columns))
        several = visible > 1
        sharpness = rows["sharpness"][several]
        measured |= {
            "entropy": _mean(rows["entropy"]),
            "entropy_share": _mean(rows["entropy"][several] / np.log(visible[several])),
            "effective_n": _mean(rows["effective_n"]),
            "sink_weight": _mean(rows["sink_weight"]),
            "jacobian_norm": _mean(judged.jacobian_norms()),
            "sharpness": _mean(sharpness),
            "sharp_rows": _mean((sharpness > 1).astype(float)) if judged.softmax else None,
        }
        return self.known(len(places)) | measured


def lasting(facts: Mapping[str, float | None]) -> dict[str, float | None]:
    """What is known of a head from the model's weights alone, whichever rule is in it."""
    return {name: value for name, value in facts.items() if not name.endswith("_score")}


@dataclass(eq=False)
class _Asked:
    """A request with what came of it. The few rows of a block that stand for all are `drawn`, and
    wait for those of the others: a call of the engine costs as much as forty rows."""

    request: CurveRequest
    geometry: engine.Geometry
    means: engine.Means = field(default_factory=engine.Means)
    drawn: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    def add(self, weights: Tensor, seen: Tensor) -> None:
        request = self.request
        counted = cast(engine.Keys, "visible" if request.keys == OFF_SINK else request.keys)
        found = engine.curves(weights, self.geometry, request.top_ns, seen, counted)
        self.means.add(found)


def _one(parts: Sequence[tuple[Tensor, Tensor]]) -> Iterator[Tensor]:
    """Rows of several blocks as those of one, over the keys of the widest."""
    widest = max(weights.shape[1] for weights, _ in parts)
    for several in zip(*parts, strict=True):
        yield torch.cat([F.pad(each, (0, widest - each.shape[1])) for each in several])


def off_sink(weights: Tensor, visible: Tensor) -> tuple[Tensor, Tensor]:
    """Rows without their first key, whose weight the others share."""
    seen, rest = visible.clone(), weights.clone()
    seen[:, 0], rest[:, 0] = False, 0.0
    return rest / rest.sum(-1, keepdim=True).clamp(min=torch.finfo(rest.dtype).tiny), seen


def output_norms(call: models.ObservedCall, sample: RowSample | None) -> np.ndarray | None:
    """‖Σ α_i v_i‖ per measured query and head, from the model's own output; None where it was not
    seen."""
    if not isinstance(call, models.AttentionCall):
        return None
    made = call.output[0] if sample is None else call.output[0, sample.picked]
    made = made.to(most_exact(made.device))
    return torch.linalg.vector_norm(made, dim=-1).cpu().double().numpy()


def output_ratios(rows: Sequence[dict[str, Any]], outputs: np.ndarray | None) -> None:
    """Fill in how much a layer's heads put out beside each other where a rule was put on their
    logits; a head that was not measured stays as the model has it."""
    under: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row.get("where") == "logits" and row.get("output_norm") is not None:
            under[row["rule"]].append(row)
    if outputs is None or not under:
        return
    usual = [_sum(each) / len(each) for each in outputs.T]
    for several in under.values():
        norms = dict(enumerate(usual)) | {row["head"]: row["output_norm"] for row in several}
        total = _number(math.fsum(norms.values())) or math.nan
        for row in several:
            row["output_ratio"] = _number(row["output_norm"] * len(norms) / total)


def head_frame(row: type, where: dict[str, Any], columns: dict[str, Any]) -> pl.DataFrame:
    """Rows of a head's table from those of their columns that differ."""
    named = {name: pl.lit(value) for name, value in where.items()}
    table, schema = pl.DataFrame(columns).with_columns(**named), frame_schema(row)
    return table.select(pl.col(name).cast(dtype) for name, dtype in schema.items()).fill_nan(None)


def _mean(values: np.ndarray) -> float | None:
    """The mean; None if a row has no number or there is no row: it could not be compared."""
    return _number(_sum(values) / len(values)) if len(values) else None


def _sum(values: np.ndarray) -> float:
    return math.fsum(values.tolist())


def _number(value: float) -> float | None:
    """A finite float, or None."""
    return float(value) if math.isfinite(value) else None
