"""The measures in plain torch: where numba is missing, and on other devices.

Rows are worked on in pieces of alike width, as many at once as the device has room for. What leaves
the device are the rows' spans before the pieces and the numbers per row and N after them; in
between only how many squares were lost in a piece.
"""

import math

import numpy as np
import torch
from torch import Tensor

from headgauge.devices import most_exact, room, whole_products
from headgauge.engine.geometry import Geometry
from headgauge.engine.torch_pieces import TABLES, Piece

_ENTRIES = 1 << 21  # of a table: more at once is no faster, and each row is as wide as its piece


def measure(
    weights: Tensor,
    visible: Tensor,
    geometry: Geometry,
    top_ns: np.ndarray,
    everything: bool,
    out: np.ndarray,
) -> np.ndarray:
    """Fill out[row, N] where a row answers N; returns which rows single precision cannot answer.

    `top_ns` rises.
    """
    device, count = weights.device, len(weights)
    spans = _spans(visible, everything).expand(3, count)
    # Rows of several heads come together that see as much: each piece is as wide as its widest.
    order = spans[1].argsort(stable=True)
    spans = spans[:, order]
    first, end, size = spans.cpu().numpy()
    limit = size if everything else size - 1
    kinds = len(out.dtype.names or ())
    shape = len(top_ns), kinds + 1, count
    found = torch.full(shape, math.nan, dtype=most_exact(device), device=device)
    entries = min(room(device) // (TABLES * weights.element_size()), _ENTRIES)
    start = 0
    with whole_products(device):
        while start < count:
            wide = end[start:] - np.minimum.accumulate(first[start:])
            taken = np.maximum(wide, 0) * np.arange(1, len(wide) + 1)
            some = slice(start, start + max(1, int(np.searchsorted(taken, entries, "right"))))
            start = some.stop
            asked = top_ns[top_ns <= limit[some].max()].tolist()
            if not asked:
                continue
            span = slice(int(first[some].min()), int(end[some].max()))
            own = order[some]
            seen = visible[:, span] if len(visible) == 1 else visible[:, span].index_select(0, own)
            given = weights[:, span].index_select(0, own), seen, spans[:, some]
            piece = Piece(geometry, span, *given, everything, entries)
            found[: len(asked), :, own] = piece.measure(asked)
    table = found.permute(2, 0, 1).cpu().double().numpy()
    out.view(np.float64).reshape(count, len(top_ns), kinds)[:] = table[..., :-1]
    return (table[..., -1] == 1.0).any(-1)


def _spans(visible: Tensor, everything: bool) -> Tensor:
    """(first, end, count) of the counting keys of every row; a row that sees none is empty."""
    count, keys = visible.sum(-1), visible.shape[1]
    if everything:
        end = torch.where(count > 0, keys, 0)
        return torch.stack([torch.zeros_like(end), end, end])
    seen = visible.to(torch.uint8)
    first = torch.where(count > 0, seen.argmax(-1), keys)
    end = torch.where(count > 0, keys - seen.flip(-1).argmax(-1), 0)
    return torch.stack([first, end, count])
