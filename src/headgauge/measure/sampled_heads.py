"""Heads of which only some query rows are measured: what `head` has of those with all.

The rows are few and the same of every head, so that all heads of a call are measured at once, as
arrays of heads × rows, and the threads share the rows: a call costs as much as some ten of them.
All means and errors are `row_sample`'s.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from headgauge import engine, models
from headgauge.measure.head import (
    Gathered,
    Head,
    HeadCurves,
    entries_at_once,
    head_frame,
    off_sink,
)
from headgauge.measure.judged_rows import OF_ROWS
from headgauge.measure.requests import OFF_SINK, CurveRequest
from headgauge.measure.roles import BACKWARD, OF_ALL, ROWS, device_of
from headgauge.measure.row_sample import CurveMeans, RowSample
from headgauge.runs.columns import error_of
from headgauge.runs.schema import QueryRow

_ENTRIES = 1 << 22  # weights that are held


@dataclass(eq=False)
class SampledHeads:
    """Heads of one call, of which the same rows are measured."""

    call: models.ObservedCall
    heads: Sequence[Head]
    sample: RowSample
    _held: models.DrawnRows | None = None

    def curves(
        self,
        own: Sequence[Head],
        requests: Sequence[CurveRequest],
        geometry: Callable[[], engine.Geometry],
    ) -> Gathered:
        """The curves of those of the heads that share their vectors."""
        found = Gathered()
        for request in requests:
            self._curves(own, request, geometry(), found)
        return found

    def _pieces(self, found: Gathered) -> Iterator[tuple[slice, models.DrawnRows]]:
        """Rows by their number, with those of every head; made once where they are few."""
        numbers = [head.head for head in self.heads]
        rows = len(self.sample.places)
        entries = entries_at_once(device_of(self.call), _ENTRIES)
        step = max(1, entries // (len(numbers) * self.call.keys))
        for start in range(0, rows, step):
            some = slice(start, min(start + step, rows))
            drawn = self._held
            if drawn is None:
                with found.timed("weights"):
                    drawn = self.call.drawn(numbers, self.sample.picked[some])
            self._held = drawn if rows <= step else None
            yield some, drawn

    def _curves(
        self,
        own: Sequence[Head],
        request: CurveRequest,
        geometry: engine.Geometry,
        found: Gathered,
    ) -> None:
        first = self.heads.index(own[0])  # those that share their vectors stand together
        chosen, sample = self.sample.some(request.rows)
        keys = cast(engine.Keys, "visible" if request.keys == OFF_SINK else request.keys)
        parts: list[engine.Curves] = []
        for some, drawn in self._pieces(found):
            here = chosen[(chosen >= some.start) & (chosen < some.stop)] - some.start
            if not len(here):
                continue
            rows = slice(None) if len(here) == some.stop - some.start else torch.from_numpy(here)
            with found.timed(request.part):
                both = (each[first : first + len(own)] for each in (drawn.weights, drawn.visible))
                weights, seen = (each[:, rows].flatten(0, 1) for each in both)
                if request.keys == OFF_SINK:
                    weights, seen = off_sink(weights, seen)
                parts.append(engine.curves(weights, geometry, request.top_ns, seen, keys))
        with found.timed(request.part):
            means = CurveMeans.of(sample, len(own), parts)
        for head, mean in zip(own, means, strict=True):
            where = head.where | request.choice
            found.parts[request.table].append(HeadCurves(where, request.top_ns, mean))

    def judge(self, keep_rows: bool) -> Gathered:
        """All that needs no N, and the rows that are shown."""
        found, around = Gathered(), self.heads[0].around
        parts, looks = [], []
        for some, drawn in self._pieces(found):
            shape = drawn.weights.shape[:2]
            with found.timed("row measures"):
                flat = [
                    None if each is None else each.flatten(0, 1)
                    for each in (drawn.weights, drawn.visible, drawn.logits, drawn.raw)
                ]
                made = vars(engine.row_measures(*flat))  # pyright: ignore[reportArgumentType]
                made = {name: each.reshape(shape) for name, each in made.items()}
                parts.append(made | {"visible": drawn.visible.sum(-1).cpu().numpy()})
            if around is not None:
                with found.timed("roles"):
                    looks.append(self._looks(drawn, self.sample.picked[some]))
            with found.timed("samples"):
                shown = [head.where for head in self.heads], drawn.weights, drawn.visible
                sampler = self.heads[0].sampler
                found.parts["samples"] += sampler.picked(*shown, self.sample.places[some])
        with found.timed("tables"):
            rows = {name: np.concatenate([each[name] for each in parts], 1) for name in parts[0]}
            table = self._rows(rows, keep_rows, found)
        if around is not None:
            with found.timed("roles"):
                seen = {key: np.concatenate([each[key] for each in looks], 1) for key in looks[0]}
                self._roles(table, seen, rows["visible"] > 0)
        found.parts["heads"] += [row for row in table if row is not None]
        return found

    def _looks(self, drawn: models.DrawnRows, places: Tensor) -> dict[str, np.ndarray]:
        """Where the rows look: together those of the heads that read the same values."""
        around, first, parts = self.heads[0].around, 0, []
        assert around is not None
        for kv_head, several in groupby(self.heads, lambda head: self.call.kv_head(head.head)):
            own = slice(first, first + len(list(several)))
            first = own.stop
            weights, visible = drawn.weights[own], drawn.visible[own]
            rows = weights.flatten(0, 1), visible.flatten(0, 1), places.repeat(len(weights))
            lengths = None if around.lengths is None else around.lengths[kv_head]
            made = engine.looks(*rows, around.there, lengths, around.before)
            shape = weights.shape[:2]
            parts.append({name: each.reshape(shape) for name, each in vars(made).items()})
        return {name: np.concatenate([each[name] for each in parts]) for name in parts[0]}

    def _rows(
        self, rows: dict[str, np.ndarray], keep_rows: bool, into: Gathered
    ) -> list[dict[str, Any] | None]:
        """The head's rows of the table, without roles; None for one that sees nothing."""
        visible = rows["visible"]
        alive, several = visible > 0, visible > 1
        with np.errstate(divide="ignore", invalid="ignore"):  # of a single key, which is left out
            shares = rows["entropy"] / np.log(visible)
        averaged = {
            name: (rows[name], alive)
            for name in ("entropy", "effective_n", "sink_weight", "jacobian_norm")
        } | {
            "entropy_share": (shares, several),
            "sharpness": (rows["sharpness"], several),
            "sharp_rows": ((rows["sharpness"] > 1).astype(float), several),
        }
        outputs = self.heads[0].outputs
        norms = None if outputs is None else outputs.T
        own = [head.head for head in self.heads]
        if norms is not None:
            averaged["output_norm"] = norms[own], alive
        found = self.sample.means(averaged)
        if norms is not None:
            found |= self.sample.ratios("output_ratio", norms, own, alive)
        table: list[dict[str, Any] | None] = []
        for at, head in enumerate(self.heads):
            there = alive[at]
            if not there.any():
                table.append(None)
                continue
            row: dict[str, Any] = dict.fromkeys(("max_logit", "output_norm", "output_ratio"))
            row |= head.known(int(there.sum())) | {name: each[at] for name, each in found.items()}
            if norms is not None:
                largest = float(rows["max_logit"][at, there].max())
                row["max_logit"] = largest if np.isfinite(largest) else None
            if keep_rows:
                columns = {"row": self.sample.places[there], "visible": visible[at, there]}
                columns |= {name: rows[name][at, there] for name in OF_ROWS}
                columns["output_norm"] = None if norms is None else norms[head.head, there]
                into.parts["rows"].append(head_frame(QueryRow, head.where, columns))
            table.append(row)
        return table

    def _roles(
        self,
        table: Sequence[dict[str, Any] | None],
        looks: dict[str, np.ndarray],
        alive: np.ndarray,
    ) -> None:
        """What the heads do, into their rows of the table."""
        around, numbers = self.heads[0].around, [head.head for head in self.heads]
        assert around is not None
        ahead: list[bool] = np.any(np.nan_to_num(looks.pop("ahead")), axis=1).tolist()
        there = {
            name: (looks[name], alive if name in OF_ALL else ~np.isnan(looks[name]))
            for name in ROWS
        }
        picked = self.sample.picked
        made = around.outputs(numbers, picked)
        of_outputs: list[dict[str, float | None]] = [{} for _ in numbers]
        if made is not None:
            shares = around.shares(numbers, made, picked)
            if shares is not None:
                there["contribution"] = shares, alive
            seen = torch.from_numpy(alive)[..., None].to(made.device)
            of_outputs = around.of_outputs(numbers, made.where(seen, 0.0))
        found = self.sample.means(there)
        for at, (row, head) in enumerate(zip(table, self.heads, strict=True)):
            if row is None:
                continue
            row |= {name: each[at] for name, each in found.items()} | head.facts
            if ahead[at]:
                row |= dict.fromkeys(each for name in BACKWARD for each in (name, error_of(name)))
            row |= of_outputs[at]
