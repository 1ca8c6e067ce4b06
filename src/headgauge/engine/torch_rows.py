"""The measures in plain torch: where numba is missing, and on other devices.

The same definitions as in theory/, with keys that do not count masked out. Every length here is
‖p_i x_i − z‖ for some numbers p and one vector z per row, taken from inner products, and from the
vectors themselves where those cancel (`_lengths`).
"""

import math

import numpy as np
import torch
from torch import Tensor

from headgauge.engine import geometry as limits
from headgauge.engine.geometry import Geometry
from headgauge.engine.rows import CANCELLED
from headgauge.theory.normalization import separability
from headgauge.theory.normalization.selection import leave_one_out_sum, top_n_indices

_ENTRIES = 1 << 24  # of a piece's (rows, keys, dim), should all of it cancel
_DOUBT = 1e-11  # relative distance to the edge of the ball below which the reference decides


def measure(
    weights: Tensor,
    visible: Tensor,
    geometry: Geometry,
    top_ns: np.ndarray,
    everything: bool,
    out: np.ndarray,
) -> None:
    """Fill out[row, N] where a row answers N. `top_ns` rises."""
    x = geometry.vectors[: weights.shape[1]]
    visible = visible.expand(weights.shape)
    weights = torch.where(visible, weights.to(x), 0.0)
    held = x.shape[0] ** 2 * x.element_size() <= limits.GRAM_BYTES
    apart = _distances(x, x) if held else None
    step = max(1, _ENTRIES // x.numel())
    asked = top_ns[top_ns <= len(x)].tolist()
    for start in range(0, len(weights), step):
        some = slice(start, start + step)
        block = weights[some], visible[some]
        _piece(*block, x, geometry.unit, apart, asked, everything, out[some])


def _distances(x: Tensor, others: Tensor) -> Tensor:
    return torch.cdist(x, others, compute_mode="donot_use_mm_for_euclid_dist")


def _norm(values: Tensor) -> Tensor:
    return torch.linalg.vector_norm(values, dim=-1)


def _lengths(p: Tensor, x: Tensor, z: Tensor) -> Tensor:
    """‖p_i x_i − z‖ for every row and key."""
    z2 = (z**2).sum(-1, keepdim=True)
    squares = p**2 * (x**2).sum(-1) - 2 * p * (z @ x.T) + z2
    lost = torch.nonzero(squares < CANCELLED * z2, as_tuple=True)
    row, key = lost
    directly = ((p[lost][:, None] * x[key] - z[row]) ** 2).sum(-1)
    return squares.clamp(min=0).index_put(lost, directly).sqrt()


def _piece(
    a: Tensor,
    visible: Tensor,
    x: Tensor,
    unit: bool,
    apart: Tensor | None,
    top_ns: list[int],
    everything: bool,
    out: np.ndarray,
) -> None:
    counts = visible.any(-1, keepdim=True).expand_as(visible) if everything else visible
    finite = torch.isfinite(a).all(-1)
    a = torch.where(finite[:, None], a, 0.0)
    n = counts.sum(-1)
    # Keys that do not count come last, whatever the weights.
    order = top_n_indices(torch.where(counts, a, -math.inf), a.shape[-1])
    mean = a @ x
    spread = _spread(a, x, mean, counts, n)
    sphere = torch.ones_like(a[:, 0]) if unit else (_norm(x) * counts).amax(-1)
    delta = torch.stack([_separation(x, apart, row) for row in counts])
    farthest = torch.zeros_like(a)
    selected = torch.zeros_like(counts)
    entered = 0
    for at, chosen in enumerate(top_ns):
        for j in order[:, entered:chosen].T:
            farthest = torch.maximum(farthest, _distances(x[j], x) if apart is None else apart[j])
            selected = selected.scatter(-1, j[:, None], True)
        entered = chosen
        left = counts & ~selected
        d1 = torch.where(left, farthest, 0.0).amax(-1)
        s = (a * selected) @ x
        away = _lengths(a, x, s)
        radius = torch.where(left, away, math.inf).amin(-1)
        scale = _norm(s)[:, None] + a.abs() * _norm(x)
        separable = _separability(a, away, scale, selected, radius, delta, sphere)
        bounds = _bounds(a, x, s, away, selected, left, d1)
        expected = _expected(a, x, mean, spread, counts, n, chosen)
        answers = finite & (n >= chosen if everything else n > chosen)
        column = torch.stack([(away * left).sum(-1), *expected, *bounds, *separable])
        found = torch.where(answers, column, math.nan).cpu().double().numpy()
        for name, numbers in zip(out.dtype.names or (), found, strict=True):
            out[name][:, at] = numbers


def _separation(x: Tensor, apart: Tensor | None, counts: Tensor) -> Tensor:
    """δ over the counting keys, by blocks where not all distances are held."""
    own = torch.nonzero(counts)[:, 0]
    if len(own) < 2:
        return x.new_tensor(math.inf)
    step = len(own) if apart is not None else limits.GRAM_BYTES // (len(own) * x.element_size() + 1)
    least = x.new_tensor(math.inf)
    for some in own.split(max(1, step)):
        among = _distances(x[some], x[own]) if apart is None else apart[some][:, own]
        least = torch.minimum(least, among.masked_fill(some[:, None] == own, math.inf).min())
    return least


def _spread(a: Tensor, x: Tensor, mean: Tensor, counts: Tensor, n: Tensor) -> Tensor:
    """V_i up to the factor that depends on N."""
    squares = _lengths(a, x, mean / n.clamp(min=1)[:, None]) ** 2 * counts
    return (leave_one_out_sum(squares) - squares / (n - 1).clamp(min=1)[:, None]).clamp(min=0)


def _expected(
    a: Tensor, x: Tensor, mean: Tensor, spread: Tensor, counts: Tensor, n: Tensor, drawn: int
) -> list[Tensor]:
    n = n.to(a)  # whole numbers would divide in float32
    others = (n - 1).clamp(min=1)
    nu = torch.where(n > 1, drawn / others, 0.0)[:, None]
    pairs = (others * (n - 2)).clamp(min=1)
    factor = torch.where(drawn < n - 1, drawn * (n - 1 - drawn) / pairs, 0.0)[:, None]
    printed = _lengths(a + nu, x, mean)
    centre = _lengths((1 + nu) * a, x, nu * mean)
    upper = (centre**2 + factor * spread).sqrt()
    left_out = (n - drawn) / n.clamp(min=1)
    return [left_out * (form * counts).sum(-1) for form in (printed, centre, upper)]


def _bounds(
    a: Tensor, x: Tensor, s: Tensor, away: Tensor, selected: Tensor, left: Tensor, d1: Tensor
) -> list[Tensor]:
    """Theorem 1.1 as printed, by the centroid, and the sandwich."""
    n_left = left.sum(-1)
    mass, outside = (a * selected).sum(-1), (a * left).sum(-1)
    positive = (a >= 0).all(-1)
    one = positive & ((a.sum(-1) - 1).abs() <= 1e-5)
    printed = outside * d1 + (_norm(x) * selected).amax(-1) * (mass * n_left - outside)
    centroid = torch.where(mass[:, None] > 0, s / mass[:, None], 0.0)
    from_centroid = (_lengths(torch.ones_like(a), x, centroid) * a * left).sum(-1)
    rooms = ((mass[:, None] - a).abs() * left).sum(-1)
    return [
        torch.where(one, printed, math.nan),
        torch.where(positive, from_centroid + _norm(centroid) * rooms, math.nan),
        _norm(n_left[:, None] * s - (a * left) @ x),
        (n_left * (away**2 * left).sum(-1)).sqrt(),
    ]


def _separability(
    a: Tensor, away: Tensor, scale: Tensor, selected: Tensor, r: Tensor, delta: Tensor, M: Tensor
) -> list[Tensor]:
    """r, N_s, N_s/N and the ξ bounds; 1 where rounding could decide N_s."""
    edge = r[:, None] + separability.GUARD * scale
    size = selected.sum(-1)
    inside = (away <= edge) | (size == 1)[:, None]
    held = (selected & inside).sum(-1).to(a)
    close = (away - edge).abs() <= _DOUBT * (scale + r[:, None])
    doubt = (selected & close).any(-1) & (size > 1) & torch.isfinite(r)
    # xi takes one M for all rows: it is of degree one in the lengths.
    safe = torch.where(M > 0, M, 1.0)
    xi = separability.xi(a, selected, delta / safe) * M[:, None]
    upper = torch.exp(-((r[:, None] - xi) ** 2) / (16 * M[:, None] ** 2))
    return [
        r,
        held,
        held / size,
        separability.printed_lower_bound(xi, selected, r),
        (upper * selected).sum(-1) / size,
        separability.deterministic_lower_bound(xi, selected, r),
        doubt.to(a),
    ]
