"""Every measure that depends on N, for a block of rows and a whole list of N.

>>> geometry = Geometry.of(torch.eye(4))
>>> block = curves(torch.tensor([[0.4, 0.3, 0.2, 0.1]]), geometry, [1, 2])
>>> block.separability
array([[1., 1.]])
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headgauge import kernels
from headgauge.engine import geometry as limits
from headgauge.engine import rows, selection_rows, torch_rows
from headgauge.engine.checks import check_rows, check_visible, top_ns_of
from headgauge.engine.geometry import PADDING, Geometry
from headgauge.errors import InputError
from headgauge.products import times
from headgauge.theory.normalization import separability
from headgauge.theory.normalization.selection import top_n

Keys = Literal["visible", "all"]
_ROWS = 512  # that share a product: under a causal mask the first ones have few keys


@dataclass(frozen=True)
class Curves:
    """One number per row and N (rows × N, float64); NaN where a row does not count or a bound does
    not apply."""

    distance: np.ndarray  # d̃, eq. 7
    expected_printed: np.ndarray  # Theorem 1.2 as in the main text; false
    expected_appendix: np.ndarray  # eq. 24, the lower side of the sandwich
    expected_upper: np.ndarray  # its upper side
    bound_printed: np.ndarray  # Theorem 1.1; needs weights that sum to one
    bound_centroid: np.ndarray  # needs non-negative weights
    bound_lower: np.ndarray  # the plain sandwich of d̃
    bound_upper: np.ndarray
    radius: np.ndarray  # r
    separable_count: np.ndarray  # N_s
    separability: np.ndarray  # N_s/N
    separability_printed_lower: np.ndarray  # eq. 11
    separability_printed_upper: np.ndarray  # eq. 11; false
    separability_lower: np.ndarray  # #{i ∈ I : ξ_i ≤ r}/N

    @property
    def counts(self) -> np.ndarray:
        """Which rows count at which N."""
        return ~np.isnan(self.distance)


_NAMES = [field.name for field in fields(Curves)]
# What the rows fill in; `doubtful` is 1 where only theory can tell N_s.
TABLE = np.dtype([(name, np.float64) for name in (*_NAMES, "doubtful")])


def curves(
    weights: Float[Tensor, "rows keys"],
    geometry: Geometry,
    top_ns: Sequence[int],
    visible: Bool[Tensor, "rows keys"] | Bool[Tensor, "1 keys"] | None = None,
    keys: Keys = "visible",
) -> Curves:
    """All measures of `Curves` for each row α and each N.

    `visible` marks the keys a query may see; weights elsewhere are taken as 0. Weights (and
    `visible`) may be narrower than the vectors: the missing keys at the end are then not visible.
    With `keys="visible"` only visible keys count and a row needs more than N of them; with
    `keys="all"` the others stay in with weight 0 and every row with a visible key counts, up to N =
    keys. Weights are used as they are, whatever they sum to. δ is the smallest distance between
    counting keys; M is 1 for unit vectors and the largest counting norm for raw ones.

    Agrees with `headgauge.theory` in float64 to 1e-9(‖s‖ + ‖y‖) per summed term, and in N_s
    exactly: rows within rounding of the guard are decided by the reference itself. Where ξ_i = r
    but for rounding, `separability_lower` may count i or not, as the reference may.

    For a `Geometry` in float32 the weights are rounded to float32 first. The loops over keys then
    run in single precision: within 5e-6(‖s‖ + ‖y‖) per summed term, and N_s still exactly,
    because what single precision cannot tell is told in double. A device without double has its
    vectors in float32 whatever the precision; the rows that cannot be told there are told on the
    CPU.
    """
    if not isinstance(geometry, Geometry):
        given = type(geometry).__name__
        raise InputError(f"geometry must be made of the vectors by Geometry.of, got {given}")
    check_rows("weights", weights)
    if weights.shape[1] > geometry.keys:
        width = f"(rows, {geometry.keys}) or narrower for these vectors"
        raise InputError(f"weights must be {width}, got {tuple(weights.shape)}")
    if visible is None:
        visible = torch.ones(1, weights.shape[1], dtype=torch.bool)
    check_visible(visible, weights.shape)
    if keys not in ("visible", "all"):
        raise InputError(f'keys must be "visible" or "all", got {keys!r}')
    asked, back = np.unique(top_ns_of(top_ns, geometry.keys), return_inverse=True)
    everything, device = keys == "all", geometry.vectors.device
    weights, visible = weights.detach().to(device, geometry.real), visible.to(device)
    missing = geometry.keys - weights.shape[1]
    if everything and missing:
        weights = torch.nn.functional.pad(weights, (0, missing))
        visible = torch.nn.functional.pad(visible, (0, missing))
    out = _empty(len(weights), len(asked))
    _measure(weights, visible, geometry, asked, everything, out)
    doubtful = np.argwhere(out["doubtful"] == 1.0)
    # By the reference on the CPU, row by row: in a batch the last digits, which decide, are others.
    if len(doubtful):
        x = geometry.double.vectors.cpu()
        picked, of = np.unique(doubtful[:, 0], return_inverse=True)
        some = torch.from_numpy(picked).to(device)
        alphas = weights[some].to("cpu", x.dtype)
        seens = (visible if len(visible) == 1 else visible[some]).cpu()
        for which, (row, at) in zip(of.tolist(), doubtful.tolist(), strict=True):
            seen, n = seens[which % len(seens)], int(asked[at])
            counting = torch.ones_like(seen) if everything else seen
            alpha = torch.where(seen, alphas[which], 0.0)[counting]
            held = int(
                separability.separable_count(alpha, x[: len(seen)][counting], top_n(alpha, n))
            )
            out["separable_count"][row, at], out["separability"][row, at] = held, held / n
    table = out.view(np.float64).reshape(*out.shape, len(_NAMES) + 1).transpose(2, 0, 1)
    # Where the N rose already, nothing is copied.
    rising = len(back) == len(asked) and bool((back[1:] > back[:-1]).all())
    return Curves(*table[: len(_NAMES)] if rising else table[: len(_NAMES), :, back])


def _empty(count: int, asked: int) -> np.ndarray:
    out = np.empty((count, asked), TABLE)
    out.view(np.float64).fill(np.nan)  # np.full of records takes ten times longer
    return out


def _measure(
    weights: Tensor,
    visible: Tensor,
    geometry: Geometry,
    top_ns: np.ndarray,
    everything: bool,
    out: np.ndarray,
) -> None:
    """Fill out[row, N] where a row answers N, by whatever serves the vectors' device."""
    given = weights, visible, geometry, top_ns, everything, out
    if kernels.serves(geometry.vectors):
        _compiled(*given)
        return
    hard = torch_rows.measure(*given)
    if hard.any():
        double = geometry.double
        again = torch.from_numpy(np.flatnonzero(hard)).to(weights.device)
        seen = (visible if len(visible) == 1 else visible[again]).to(double.vectors.device)
        answers = _empty(len(again), len(top_ns))
        _measure(weights[again].to(double.vectors), seen, double, top_ns, everything, answers)
        out[hard] = answers


def _compiled(
    weights: Tensor,
    visible: Tensor,
    geometry: Geometry,
    top_ns: np.ndarray,
    everything: bool,
    out: np.ndarray,
) -> None:
    """Fill out[row, N] where a row answers N: selection, the products that all rows share, the
    walk. `top_ns` rises."""
    count, keys = weights.shape
    alpha, seen = weights.contiguous().numpy(), visible.contiguous().numpy()
    spans = np.empty(count, selection_rows.SPAN)
    places = np.empty((count, min(keys, top_ns[-1])), np.int32)
    hidden_weight = np.zeros(count, np.bool_)
    selected = alpha, seen, everything, top_ns, spans, places, hidden_weight
    kernels.over_rows(selection_rows.select, count, alpha.size, *selected)
    if hidden_weight.any():
        weights = torch.where(visible, weights, 0.0)
    means, ontos = _products(weights, geometry, spans["end"])
    hard = np.zeros(count, np.bool_)
    vectors = geometry.vectors[:keys].numpy(), geometry.norms2, *geometry.nearest, geometry.running2
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
        walked = block, shared, out[some], hard[some]
        kernels.over_rows(rows.measure, length, length * keys, *walked)
    if hard.any():
        again = torch.from_numpy(np.flatnonzero(hard))
        visible = visible if len(visible) == 1 else visible[again]
        answers = _empty(len(again), len(top_ns))
        double = weights[again].double(), visible, geometry.double
        _compiled(*double, top_ns, everything, answers)
        out[hard] = answers


def _products(weights: Tensor, geometry: Geometry, ends: np.ndarray) -> tuple[Tensor, Tensor]:
    """x̄ of every row and ⟨x_i, x̄⟩, the latter up to each row's end only.

    Through x̄: cheaper than through the Gram matrix where keys outnumber dimensions, and more exact
    where the weighted vectors cancel.
    """
    count, keys = weights.shape
    x = geometry.padded
    if count <= _ROWS:
        end = int(ends.max(initial=0))
        means = times(weights[:, :end], x[:end])
        return means, times(means, x[: end + PADDING].T)
    means, ontos = x.new_empty(count, x.shape[1]), x.new_empty(count, keys + PADDING)
    for start in range(0, count, _ROWS):
        some = slice(start, start + _ROWS)
        means[some], own = _products(weights[some], geometry, ends[some])
        ontos[some, : own.shape[1]] = own
    return means, ontos


def _gram_pieces(
    geometry: Geometry, spans: np.ndarray, places: np.ndarray, top_ns: np.ndarray, everything: bool
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
