"""What an interception hands over, turned into the tables of a unit.

Rows are streamed: of a head, a block of rows at a time; of the vectors, one Gram matrix at a time
unless they are small. A head's output norm is that of the model's own output.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import numpy as np
import polars as pl
import torch
from torch import Tensor

from headgauge import engine, models
from headgauge.diagnostics.samples import Sampler, sampled_places
from headgauge.diagnostics.settings import ScanSettings
from headgauge.engine.geometry import Precision
from headgauge.results import UnitKey
from headgauge.results.schema import CurveRow, HeadRow, QueryRow, frame_schema

Progress = Callable[[float], object]

_SHARED = 64 << 20  # bytes of Gram matrix that layers may share; a larger one is made again


class Measurer:
    """An observer of one forward pass; `tables` is what it gathered."""

    def __init__(
        self,
        loaded: models.LoadedModel,
        key: UnitKey,
        inputs: Mapping[str, Tensor],
        vectors: models.KeyVectors,
        settings: ScanSettings,
        progress: Progress | None = None,
    ) -> None:
        self.seconds: dict[str, float] = {}
        self.tapped: list[str] = []
        self._unit = {"window": key.window, "length": key.length}
        self._ids = {
            "encoder": inputs["input_ids"][0].cpu(),
            "decoder": inputs.get("decoder_input_ids", inputs["input_ids"])[0].cpu(),
        }
        self._vectors = vectors
        self._settings = settings
        self._modules = list(models.attention_modules(loaded.model))
        self._progress = progress
        self._shared: dict[Any, engine.Geometry] = {}
        seed = (settings.seed, key.window, key.length)
        places = sampled_places(key.length, settings.sample_rows, seed)
        self._sampler = Sampler(places, settings.sample_keys, loaded.tokenizer)
        self._heads: list[dict[str, Any]] = []
        self._curves: list[dict[str, Any]] = []
        self._rows: list[pl.DataFrame] = []

    def __call__(self, call: models.ObservedCall) -> None:
        chosen = self._settings.layers
        if chosen is None or call.layer in chosen:
            self._layer(call)
        if self._progress is not None:
            self._progress((self._modules.index(call.module) + 1) / len(self._modules))

    def chosen(self, module: str) -> bool:
        """Whether a module is among the layers that were asked for."""
        layers = self._settings.layers
        return layers is None or self._modules.index(module) in layers

    def tables(self) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame | None]:
        """heads, curves, samples, and rows where they were asked for."""
        heads = pl.DataFrame(self._heads, schema=frame_schema(HeadRow))
        curves = pl.DataFrame(self._curves, schema=frame_schema(CurveRow))
        rows = None
        if self._settings.save_rows:
            empty = pl.DataFrame(schema=frame_schema(QueryRow))
            rows = pl.concat([empty, *self._rows])
        return heads, curves, self._sampler.table(), rows

    def _layer(self, call: models.ObservedCall) -> None:
        outputs = _output_norms(call)
        if outputs is None:
            self.tapped.append(call.module)
        every = range(call.heads)
        heads = [h for h in every if self._settings.heads is None or h in self._settings.heads]
        for kind in self._settings.vectors:
            vectors = self._vectors.of(call, kind)
            for head in heads:
                group = None if vectors is None else _group(call, head, vectors.shape[1])
                geometry = None
                if vectors is not None:
                    geometry = self._geometry(call, kind, group, vectors[0, group])
                self._head(call, head, kind, geometry, outputs)
        self._forget_layer()

    def _geometry(
        self, call: models.ObservedCall, kind: str, group: int | None, vectors: Tensor
    ) -> engine.Geometry:
        """The vectors of a group of heads, made once for all that share them."""
        lasting = kind in ("embedding", "final")
        name = (kind, self._vectors.sides(call)[1]) if lasting else (kind, "layer", group)
        if name not in self._shared:
            with self._timed("vectors"):
                bytes_each = 4 if self._settings.precision == "float32" else 8
                if len(vectors) ** 2 * bytes_each > _SHARED:
                    self._shared.clear()
                self._shared[name] = engine.Geometry.of(
                    vectors,
                    raw=self._settings.raw,
                    precision=cast(Precision, self._settings.precision),
                )
        return self._shared[name]

    def _forget_layer(self) -> None:
        self._shared = {name: kept for name, kept in self._shared.items() if name[1] != "layer"}

    def _head(
        self,
        call: models.ObservedCall,
        head: int,
        kind: str,
        geometry: engine.Geometry | None,
        outputs: Tensor | None,
    ) -> None:
        settings = self._settings
        first = kind == settings.vectors[0]
        where = self._where(call, head)
        query_side, key_side = self._vectors.sides(call)
        means = {keys: engine.Means() for keys in settings.keys}
        parts: list[engine.RowMeasures] = []
        visible: list[np.ndarray] = []
        for block in call.blocks(settings.block_rows, heads=[head]):
            with self._timed("weights"):
                weights, seen = block.weights, block.visible
            if geometry is not None:
                with self._timed("curves"):
                    for keys, gathered in means.items():
                        gathered.add(
                            engine.curves(
                                weights, geometry, settings.top_ns, seen, cast(engine.Keys, keys)
                            )
                        )
            if first:
                with self._timed("row measures"):
                    parts.append(engine.row_measures(weights, seen, block.logits, block.raw))
                    visible.append(seen.sum(-1).cpu().numpy())
                self._sampler.add(where, block, self._ids[query_side], self._ids[key_side])
        if geometry is not None:
            for keys, gathered in means.items():
                self._curves += self._curve_rows(where, kind, keys, gathered)
        if first:
            self._head_row(call, head, where, parts, np.concatenate(visible), outputs)

    def _where(self, call: models.ObservedCall, head: int) -> dict[str, Any]:
        return self._unit | {
            "layer": call.layer,
            "occurrence": call.occurrence,
            "module": call.module,
            "head": head,
        }

    def _curve_rows(
        self, where: dict[str, Any], kind: str, keys: str, means: engine.Means
    ) -> Iterator[dict[str, Any]]:
        found = means.means()
        choice = {"vectors": kind, "scale": self._settings.scale, "keys": keys}
        for at, n in enumerate(self._settings.top_ns):
            measures = {name: _number(values[at]) for name, values in found.items()}
            yield where | {"top_n": n} | choice | {"rows": int(means.rows[at])} | measures

    def _head_row(
        self,
        call: models.ObservedCall,
        head: int,
        where: dict[str, Any],
        parts: list[engine.RowMeasures],
        visible: np.ndarray,
        outputs: Tensor | None,
    ) -> None:
        if not visible.any():
            return
        table = _query_rows(where, parts, visible, outputs, head)
        if self._settings.save_rows:
            self._rows.append(table)
        # What enters a tapped softmax has bias and mask in it already.
        largest = None if outputs is None else table["max_logit"].max()
        norms = None if outputs is None else _column_means(outputs.numpy()[visible > 0])
        several = table.filter(pl.col("visible") > 1)
        sharpness = several["sharpness"]
        shares = several["entropy"] / several["visible"].cast(pl.Float64).log()
        self._heads.append(
            where
            | {
                "kv_head": call.kv_head(head),
                "cross": call.cross,
                "seen": "softmax" if outputs is None else "qkv",
                "rows": len(table),
                "entropy": _mean(table["entropy"]),
                "entropy_share": _mean(shares),
                "effective_n": _mean(table["effective_n"]),
                "sink_weight": _mean(table["sink_weight"]),
                "max_logit": _number(largest),
                "jacobian_norm": _mean(table["jacobian_norm"]),
                "sharpness": _mean(sharpness),
                "sharp_rows": _mean((sharpness > 1).cast(pl.Float64)),
                "output_norm": None if norms is None else _number(norms[head]),
                "output_ratio": None if norms is None else _number(norms[head] / np.mean(norms)),
            }
        )

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        spent = time.perf_counter() - began
        self.seconds[phase] = self.seconds.get(phase, 0.0) + spent


def _group(call: models.ObservedCall, head: int, groups: int) -> int:
    """Which of a call's sets of vectors a head uses."""
    return call.kv_head(head) if groups > 1 else 0


def _output_norms(call: models.ObservedCall) -> Tensor | None:
    """‖Σ α_i v_i‖ per query and head, from the model's own output; None where it was not seen."""
    if not isinstance(call, models.AttentionCall):
        return None
    return torch.linalg.vector_norm(call.output[0].double().cpu(), dim=-1)


def _query_rows(
    where: dict[str, Any],
    parts: list[engine.RowMeasures],
    visible: np.ndarray,
    outputs: Tensor | None,
    head: int,
) -> pl.DataFrame:
    """The rows of a head that see a key, one by one, in the order of their queries."""
    names = ("entropy", "effective_n", "sink_weight", "max_logit", "jacobian_norm", "sharpness")
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in names
    }
    columns["output_norm"] = None if outputs is None else outputs[:, head].numpy()
    table = pl.DataFrame({"row": np.arange(len(visible)), "visible": visible} | columns)
    table = table.filter(pl.col("visible") > 0).with_columns(
        **{name: pl.lit(value) for name, value in where.items()}
    )
    schema = frame_schema(QueryRow)
    return table.select(pl.col(name).cast(dtype) for name, dtype in schema.items()).fill_nan(None)


def _mean(values: pl.Series) -> float | None:
    """The mean; None if a row has no number or there is no row: it could not be compared.

    Added up exactly: the order in which a library adds depends on where the numbers lie in memory,
    and a run that is taken up again must come to the same bytes.
    """
    if values.null_count() or values.is_empty():
        return None
    return _number(math.fsum(values.to_list()) / len(values))


def _column_means(table: np.ndarray) -> list[float]:
    return [math.fsum(column) / len(table) for column in table.T.tolist()]


def _number(value: Any) -> float | None:
    """A finite float, or None."""
    if value is None or not np.isfinite(float(value)):
        return None
    return float(value)
