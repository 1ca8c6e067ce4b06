"""Heads of which only some query rows are measured: what `head` has of those with all.

The rows are few and the same of every head, so that two heads that read the same values are
measured at once, as arrays of heads × rows. All means and errors are `row_sample`'s.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from headgauge import engine, models
from headgauge.measure.head import Gathered, Head, HeadCurves, head_frame, off_sink
from headgauge.measure.judged_rows import OF_ROWS
from headgauge.measure.requests import OFF_SINK, CurveRequest, RowRequest
from headgauge.measure.roles import BACKWARD, OF_ALL, ROWS
from headgauge.measure.row_sample import CurveMeans, RowSample
from headgauge.measure.settings import UnitSettings
from headgauge.runs.columns import error_of
from headgauge.runs.schema import QueryRow

_AT_ONCE = 256  # rows whose weights are held


@dataclass(eq=False)
class SampledHeads:
    """Heads of one call that read the same values, of which the same rows are measured."""

    call: models.ObservedCall
    heads: Sequence[Head]
    sample: RowSample
    found: Gathered = field(default_factory=Gathered)
    _held: models.DrawnRows | None = None

    def measure(
        self,
        settings: UnitSettings,
        requests: Sequence[CurveRequest],
        geometry: engine.Geometry | None,
        judged: Sequence[RowRequest],
    ) -> Gathered:
        """As of a `Head`: the curves asked for, and where anything is `judged` all that needs no
        N."""
        if judged:
            self._judged(settings.keep_rows)
        for request in requests if geometry is not None else ():
            self._curves(request, cast(engine.Geometry, geometry))
        return self.found

    def _pieces(self) -> Iterator[tuple[slice, models.DrawnRows]]:
        """Rows by their number, with those of every head; made once where they are few."""
        rows, step = len(self.sample.places), max(1, _AT_ONCE // len(self.heads))
        numbers = [head.head for head in self.heads]
        for start in range(0, rows, step):
            some = slice(start, min(start + step, rows))
            drawn = self._held
            if drawn is None:
                with self.found.timed("weights"):
                    drawn = self.call.drawn(numbers, self.sample.picked[some])
            self._held = drawn if rows <= step else None
            yield some, drawn

    def _curves(self, request: CurveRequest, geometry: engine.Geometry) -> None:
        chosen, sample = self.sample.some(request.rows)
        keys = cast(engine.Keys, "visible" if request.keys == OFF_SINK else request.keys)
        parts: list[engine.Curves] = []
        for some, drawn in self._pieces():
            here = chosen[(chosen >= some.start) & (chosen < some.stop)] - some.start
            if not len(here):
                continue
            rows = slice(None) if len(here) == some.stop - some.start else torch.from_numpy(here)
            with self.found.timed(request.part):
                both = drawn.weights, drawn.visible
                weights, seen = (each[:, rows].flatten(0, 1) for each in both)
                if request.keys == OFF_SINK:
                    weights, seen = off_sink(weights, seen)
                parts.append(engine.curves(weights, geometry, request.top_ns, seen, keys))
        with self.found.timed(request.part):
            means = CurveMeans.of(sample, len(self.heads), parts)
        for head, own in zip(self.heads, means, strict=True):
            where = head.where | request.choice
            self.found.parts[request.table].append(HeadCurves(where, request.top_ns, own))

    def _judged(self, keep_rows: bool) -> None:
        """All that needs no N, and the rows that are shown."""
        around, parts, looks = self.heads[0].around, [], []
        for some, drawn in self._pieces():
            shape = drawn.weights.shape[:2]
            with self.found.timed("row measures"):
                flat = [
                    None if each is None else each.flatten(0, 1)
                    for each in (drawn.weights, drawn.visible, drawn.logits, drawn.raw)
                ]
                made = vars(engine.row_measures(*flat))  # pyright: ignore[reportArgumentType]
                made = {name: each.reshape(shape) for name, each in made.items()}
                parts.append(made | {"visible": drawn.visible.sum(-1).cpu().numpy()})
            if around is not None:
                with self.found.timed("roles"):
                    looks.append(self._looks(drawn, self.sample.picked[some]))
            with self.found.timed("samples"):
                for at, head in enumerate(self.heads):
                    given = drawn.weights[at], drawn.visible[at], self.sample.places[some]
                    self.found.parts["samples"] += head.sampler.picked(head.where, *given)
        with self.found.timed("tables"):
            rows = {name: np.concatenate([each[name] for each in parts], 1) for name in parts[0]}
            table = self._rows(rows, keep_rows)
        if around is not None:
            with self.found.timed("roles"):
                seen = {key: np.concatenate([each[key] for each in looks], 1) for key in looks[0]}
                self._roles(table, seen, rows["visible"] > 0)
        self.found.parts["heads"] += [row for row in table if row is not None]

    def _looks(self, drawn: models.DrawnRows, places: Tensor) -> dict[str, np.ndarray]:
        """Where the rows look."""
        around, shape = self.heads[0].around, drawn.weights.shape[:2]
        assert around is not None
        rows = drawn.weights.flatten(0, 1), drawn.visible.flatten(0, 1), places.repeat(shape[0])
        kv_head = self.call.kv_head(self.heads[0].head)
        lengths = None if around.lengths is None else around.lengths[kv_head]
        made = engine.looks(*rows, around.ids, lengths, around.before)
        return {name: each.reshape(shape) for name, each in vars(made).items()}

    def _rows(self, rows: dict[str, np.ndarray], keep_rows: bool) -> list[dict[str, Any] | None]:
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
                self.found.parts["rows"].append(head_frame(QueryRow, head.where, columns))
            table.append(row)
        return table

    def _roles(
        self,
        table: Sequence[dict[str, Any] | None],
        looks: dict[str, np.ndarray],
        alive: np.ndarray,
    ) -> None:
        """What the heads do, into their rows of the table."""
        around = self.heads[0].around
        assert around is not None
        ahead: list[bool] = np.any(np.nan_to_num(looks.pop("ahead")), axis=1).tolist()
        there = {
            name: (looks[name], alive if name in OF_ALL else ~np.isnan(looks[name]))
            for name in ROWS
        }
        picked = self.sample.picked
        made = around.outputs([head.head for head in self.heads], picked)
        if made is not None:
            both = zip(self.heads, made, strict=True)
            shares = [around.shares(head.head, own, picked) for head, own in both]
            if all(each is not None for each in shares):
                there["contribution"] = np.stack(cast(list[np.ndarray], shares)), alive
        found = self.sample.means(there)
        for at, (row, head) in enumerate(zip(table, self.heads, strict=True)):
            if row is None:
                continue
            row |= {name: each[at] for name, each in found.items()} | head.facts
            if ahead[at]:
                row |= dict.fromkeys(each for name in BACKWARD for each in (name, error_of(name)))
            if made is not None:
                row |= around.of_outputs(head.head, made[at][torch.from_numpy(alive[at])])
