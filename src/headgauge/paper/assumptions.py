"""What the paper takes for granted, on real heads: Lemma 1, Corollary 1, Assumptions 1 and 2.

Does the largest weight fall like 1/L? Per head, over query rows in the last quarter of the window
(they see nearly all of it): the largest weight, the mass of the heaviest keys, the largest weight
off the first key (the sink that many heads have), and the bounds on the largest weight. Each L is a
pass of its own; the same under the rules that are put on the model's logits.

Are vectors uniform on a sphere, and a distance δ apart? A set of vectors is what the heads that
share it see: one for the model (embeddings, last hidden states), one a layer (hidden states), one a
KV head (values). All are brought to unit length, as the paper does.
"""

import math
from typing import Any

import numpy as np
import polars as pl
import torch
from jaxtyping import Float
from torch import Tensor

from headgauge import models
from headgauge.measure.requests import OWN, Probe, Together, Vectors
from headgauge.models import VECTOR_KINDS
from headgauge.paper import limits
from headgauge.paper.bands import mean, over_heads
from headgauge.paper.choices import rule
from headgauge.runs.paper_schema import paper_frame
from headgauge.theory.normalization import isotropy

TOP = 16  # keys that make the mass
BOUNDS = ("bound_range", "bound_mean", "bound_printed")
_ENTRIES = 1 << 21  # of weights held at once
MEASURES = ("largest_weight", "top_mass", "largest_off_sink", *BOUNDS)


def vanishing_probe(rows: int, rules: tuple[str, ...]) -> Probe:
    """`rows` of the last quarter of every head, under the model's own rule and others."""
    together = Together(lambda call: _of_call(call, rows, rules))

    def measure(head: Any, vectors: Vectors) -> list[dict[str, Any]]:
        return [head.where | row for row in together.of(head.call)[head.head]]

    return Probe("vanishing", "vanishing", (), measure)


def _of_call(
    call: models.ObservedCall, rows: int, rules: tuple[str, ...]
) -> dict[int, list[dict[str, Any]]]:
    """Rows of the table of each head of a call: many heads at once, because for one the calls of
    torch take longer than what they do."""
    first = call.queries - max(1, call.queries // 4)
    spread = np.linspace(first, call.queries - 1, rows).round().astype(int)
    places = torch.from_numpy(np.unique(spread))
    heads = [head for head in range(call.heads) if call.finite[head]]
    some = max(1, _ENTRIES // (len(places) * call.keys))
    found: dict[int, list[dict[str, Any]]] = {}
    for start in range(0, len(heads), some):
        found |= _of_heads(call, heads[start : start + some], places, rules)
    return found


def _of_heads(
    call: models.ObservedCall, heads: list[int], places: Tensor, rules: tuple[str, ...]
) -> dict[int, list[dict[str, Any]]]:
    drawn = call.drawn(heads, places).cpu()
    logits, visible = drawn.logits.double(), drawn.visible
    several = (visible.sum(-1) > 1).numpy()
    found: dict[int, list[dict[str, Any]]] = {head: [] for head in heads}
    for name in (OWN, *rules):
        weights = drawn.weights if name == OWN else rule(name)(logits, visible)
        bounds = _bounds(call, heads, drawn, logits, places) if name == OWN else {}
        numbers = {key: each.numpy() for key, each in (_weights(weights) | bounds).items()}
        for at, (head, there) in enumerate(zip(heads, several, strict=True)):
            if there.any():
                own = {key: _mean(each[at, there]) for key, each in numbers.items()}
                row = {"rule": name, "rows": int(there.sum())} | dict.fromkeys(MEASURES)
                found[head].append(row | own)
    return found


def _mean(values: np.ndarray) -> float | None:
    """Over the rows that have a number."""
    known = values[~np.isnan(values)].tolist()
    return mean(known) if known else None


def _weights(weights: Tensor) -> dict[str, Float[Tensor, "heads rows"]]:
    weights = weights.double()
    heaviest = weights.topk(min(TOP, weights.shape[-1]), dim=-1).values
    rest = weights[..., 1:].sum(-1)
    return {
        "largest_weight": heaviest[..., 0],
        "top_mass": heaviest.sum(-1),
        "largest_off_sink": weights[..., 1:].amax(-1) / torch.where(rest > 0, rest, math.nan),
    }


def _bounds(
    call: models.ObservedCall,
    heads: list[int],
    drawn: models.DrawnRows,
    logits: Float[Tensor, "heads rows reach"],
    places: Tensor,
) -> dict[str, Float[Tensor, "heads rows"]]:
    """log10 of Corollary 1's bounds: each row has its own n.

    As `theory.vanishing` has them, for many rows of different n at once and in logarithms: e^R/n
    overflows where it says least.
    """
    known = isinstance(call, models.AttentionCall)
    # Weights that are no softmax of these logits.
    if known and (call.sinks is not None or call.rules is not None):
        return {}
    seen, n = drawn.visible, drawn.visible.sum(-1).double()
    largest = torch.where(seen, logits, -math.inf).amax(-1)
    spread = largest - torch.where(seen, logits, math.inf).amin(-1)
    average = torch.where(seen, logits, 0.0).sum(-1) / n
    found: dict[str, Tensor] = {
        "bound_range": -torch.log1p((n - 1) * torch.exp(-spread)),
        "bound_mean": largest - average - n.log(),
    }
    # Only of plain q·k: a bias, ALiBi in the mask or a softcap makes other logits of them.
    plain = drawn.raw is not None and torch.equal(drawn.raw[seen], drawn.logits[seen])
    if known and plain:
        queries = call.query[0, heads].cpu()[:, places].double()
        keys = call.key[0, :, : seen.shape[-1]].cpu().double()
        lengths = torch.linalg.vector_norm(keys, dim=-1)[[call.kv_head(head) for head in heads]]
        longest = torch.where(seen, lengths[:, None], 0.0).amax(-1)
        reach = torch.linalg.vector_norm(queries, dim=-1) * longest * abs(call.scaling)
        found["bound_printed"] = 2 * reach - n.log()
    return {name: values / math.log(10) for name, values in found.items()}


def vanishing(table: pl.DataFrame) -> pl.DataFrame:
    """VanishingRows over L; of a bound the geometric mean over rows, heads and windows."""
    found = over_heads(table, MEASURES, ("rule", "length"), "vanishing")
    bound = pl.col("measure").is_in(BOUNDS)
    return found.with_columns(
        pl.when(bound).then(10.0 ** pl.col(name)).otherwise(pl.col(name)).alias(name)
        for name in ("mean", "low", "high", "minimum", "q25", "median", "q75", "maximum")
    )


def _vector_sets(head: Any, vectors: Vectors) -> list[dict[str, Any]]:
    """The sets that a head is the first to use."""
    call: models.ObservedCall = head.call
    first = head.head == 0 and call.occurrence == 0
    starts = {
        "embedding": first and call.layer == 0,
        "final": first and call.layer == 0,
        "hidden": first,
        "value": head.head == 0 or call.kv_head(head.head) != call.kv_head(head.head - 1),
    }
    rows = []
    for kind in VECTOR_KINDS:
        found = vectors(kind) if starts[kind] else None
        if found is None or len(found) < 2:
            continue
        x = torch.nn.functional.normalize(found.cpu().double(), dim=-1)
        nearest = isotropy.nearest_distances(x)
        measures = {
            "dim": x.shape[-1],
            "tokens": x.shape[-2],
            "mean_cosine": float(isotropy.mean_cosine(x)),
            "effective_dim": float(isotropy.effective_dimension(x)),
            "delta": float(nearest.amin()),
            "nearest": float(nearest.median()),
            "same": float((nearest <= limits.APART).double().mean()),
        }
        rows.append(head.where | {"vectors": kind} | measures)
    return rows


VECTORS_PROBE = Probe("vector_sets", "assumptions", VECTOR_KINDS, _vector_sets)


def vectors(table: pl.DataFrame) -> pl.DataFrame:
    """VectorRows: a kind each, over its sets."""
    by_kind = {kind: table.filter(vectors=kind) for kind in VECTOR_KINDS}
    rows = [
        {
            "vectors": kind,
            "dim": sets["dim"][0],
            "mean_cosine_low": sets["mean_cosine"].min(),
            "mean_cosine_high": sets["mean_cosine"].max(),
            "delta": sets["delta"].min(),
            "sets": len(sets),
            "tokens": sets["tokens"][0],
        }
        | {name: mean(sets[name]) for name in ("mean_cosine", "effective_dim", "nearest", "same")}
        for kind, sets in by_kind.items()
        if len(sets)
    ]
    return paper_frame("vectors", rows)
