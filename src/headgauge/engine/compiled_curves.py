"""The compiled rows over a block: selection, the products that all rows share, the walk."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from headgauge import kernels
from headgauge.engine import geometry as limits
from headgauge.engine import rows, selection_rows
from headgauge.engine.geometry import PADDING, Geometry

_ROWS = 256  # that share a product: under a causal mask the first ones have few keys


def measure(
    weights: Tensor,
    visible: Tensor,
    geometry: Geometry,
    top_ns: np.ndarray,
    everything: bool,
    out: np.ndarray,
    doubtful: np.ndarray,
) -> None:
    """Fill out[row, N] where a row answers N, and doubtful[row, N] where only theory can tell N_s.

    `top_ns` rises."""
    count, keys = weights.shape
    alpha, seen = weights.contiguous().numpy(), visible.contiguous().numpy()
    spans = np.empty(count, selection_rows.SPAN)
    places = np.empty((count, min(keys, top_ns[-1])), np.int32)
    hidden_weight = np.zeros(count, np.bool_)
    kernels.over_rows(
        selection_rows.select, count, alpha.size, alpha, seen, everything, top_ns, spans, places,
        hidden_weight,
    )  # fmt: skip
    if hidden_weight.any():
        weights = torch.where(visible, weights, 0.0)
    means, ontos = _products(weights, geometry, spans["end"])
    hard = np.zeros(count, np.bool_)
    vectors = geometry.x[:keys], geometry.norms2, *geometry.nearest, geometry.running2
    for some, gram, gram_at in _gram_pieces(geometry, spans, places, top_ns, everything):
        block = rows.Block(
            alpha[some],
            seen if len(seen) == 1 else seen[some],
            everything,
            top_ns,
            spans[some],
            places[some],
            means[some].numpy(),
            ontos[some].numpy(),
        )
        shared = rows.Shared(geometry.unit, *vectors, gram, gram_at)
        length = some.stop - some.start
        kernels.over_rows(
            rows.measure, length, length * keys, block, shared, out[some], doubtful[some],
            hard[some],
        )  # fmt: skip
    if hard.any():
        again = torch.from_numpy(np.flatnonzero(hard))
        visible = visible if len(visible) == 1 else visible[again]
        theirs = np.empty((len(again), len(top_ns)), out.dtype)
        theirs.view(np.float64).fill(np.nan)
        doubts = np.zeros(theirs.shape, np.bool_)
        double = weights[again].double(), visible, geometry.double
        measure(*double, top_ns, everything, theirs, doubts)
        out[hard], doubtful[hard] = theirs, doubts


def _products(weights: Tensor, geometry: Geometry, ends: np.ndarray) -> tuple[Tensor, Tensor]:
    """x̄ of every row and ⟨x_i, x̄⟩, the latter up to each row's end only.

    Through x̄: cheaper than through the Gram matrix where keys outnumber dimensions, and more exact
    where the weighted vectors cancel.
    """
    count, keys = weights.shape
    x = geometry.padded
    means = torch.empty(count, x.shape[1], dtype=x.dtype)
    ontos = torch.empty(count, keys + PADDING, dtype=x.dtype)
    for start in range(0, count, _ROWS):
        some = slice(start, min(start + _ROWS, count))
        end = int(ends[some].max())
        torch.mm(weights[some, :end], x[:end], out=means[some])
        wide = end + PADDING
        torch.mm(means[some], x[:wide].T, out=ontos[some, :wide])
    return means, ontos


def _gram_pieces(
    geometry: Geometry,
    spans: np.ndarray,
    places: np.ndarray,
    top_ns: np.ndarray,
    everything: bool,
) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
    """Slices of the rows with the Gram rows of the keys they select, and where each key's row is.

    One slice where the whole matrix is held; else as many as keep the rows under the limit.
    """
    whole = slice(0, len(spans))
    if geometry.held:
        yield whole, geometry.gram, np.arange(geometry.keys)
        return
    row_bytes = geometry.keys * geometry.real.itemsize
    n = spans["n"]
    # The ranks in use: up to the largest asked N that the row can answer.
    within = np.searchsorted(top_ns, n if everything else n - 1, side="right")
    sizes = np.where(n > 0, np.concatenate([[0], top_ns])[within], 0)
    waiting = [whole]
    while waiting:
        some = waiting.pop()
        used = np.arange(places.shape[1]) < sizes[some, None]
        chosen = np.unique((places[some] + spans["first"][some, None])[used])
        length = some.stop - some.start
        if len(chosen) * row_bytes > limits.GRAM_BYTES and length > 1:
            middle = some.start + length // 2
            waiting += [slice(middle, some.stop), slice(some.start, middle)]
            continue
        gram_at = np.zeros(geometry.keys, np.int64)
        gram_at[chosen] = np.arange(len(chosen))
        yield some, geometry.gram_rows(torch.from_numpy(chosen)), gram_at
