"""Algorithm 5 for a block of rows: g(T, ε) over a whole grid of temperatures and ε.

    found = sensitivity(logits, visible, temperatures, epsilons, direction)
    found.random          (T, ε, rows)   along the given unit vectors
    found.worst           (T, ε, rows)   along ± the leading eigenvector of the Jacobian
    found.exact           (T, rows)      ‖∇α‖₂, the limit ε → 0 of the worst
    found.exact_mean      (T, rows)      E‖∇α v‖ over random v, the limit ε → 0 of the random

`theory.finite_difference` is the reference, and serves where no compiled rows do.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headgauge import kernels
from headgauge.devices import most_exact
from headgauge.engine import sensitivity_rows
from headgauge.engine.checks import check_like, check_rows, check_visible, positive
from headgauge.engine.row_measures import row_measures
from headgauge.errors import InputError
from headgauge.theory.normalization import finite_difference
from headgauge.theory.normalization.sensitivity import leading_direction

_CLOSE = 1e-9  # of λ₁: an eigenvector's entry p/(p − λ₁) is theory's where this little is left
_ENTRIES = 1 << 21  # of weights held at once, over several temperatures
NODES = 47  # of the integral over directions: 1e-7 of the mean
_BITS = 30  # of its result that are kept: more than that, and the same on every compiler


@dataclass(frozen=True)
class Sensitivity:
    """Arrays in float64; None where it was not asked for."""

    random: np.ndarray
    worst: np.ndarray | None
    exact: np.ndarray | None
    exact_mean: np.ndarray | None


def sensitivity(
    logits: Float[Tensor, "rows keys"],
    visible: Bool[Tensor, "rows keys"] | Bool[Tensor, "1 keys"],
    temperatures: Sequence[float],
    epsilons: Sequence[float],
    direction: Float[Tensor, "rows keys"],
    worst: bool = True,
) -> Sensitivity:
    """`direction` has a unit vector per row; entries at keys that are not visible do not count.

    Every row must see a key; one with a NaN gives NaN. Without `worst` only `random` is measured.
    """
    check_rows("logits", logits)
    check_visible(visible, logits.shape, "the logits")
    check_like("direction", direction, logits.shape, "the logits")
    visible = visible.expand(logits.shape)
    blind = (~visible.any(-1)).nonzero()[:, 0].tolist()
    if blind or not len(logits):
        which = f"row {blind[0]} sees none" if blind else "there are no rows"
        raise InputError(f"sensitivity needs rows that see a key, but {which}")
    temperatures = positive("temperatures", temperatures).tolist()
    epsilons = positive("epsilons", epsilons).tolist()
    exact = most_exact(logits.device)
    scores = torch.where(visible, logits.detach().to(exact), -torch.inf)
    along = torch.where(visible, direction.to(exact), 0.0)
    some = max(1, _ENTRIES // scores.numel())
    parts = [
        _at(scores, visible, along, temperatures[start : start + some], epsilons, worst)
        for start in range(0, len(temperatures), some)
    ]
    random, hardest, norms, means = (np.concatenate(each) for each in zip(*parts, strict=True))
    if not worst:
        return Sensitivity(random, None, None, None)
    return Sensitivity(random, hardest, norms, means)


def _at(
    scores: Tensor,
    visible: Tensor,
    along: Tensor,
    temperatures: Sequence[float],
    epsilons: Sequence[float],
    worst: bool,
) -> tuple[np.ndarray, ...]:
    """The arrays of `Sensitivity` for a few temperatures at once."""
    size = (len(temperatures), len(scores))
    scale = torch.tensor(temperatures, dtype=scores.dtype, device=scores.device)
    weights = torch.softmax(scores / scale[:, None, None], -1).flatten(0, 1)
    random = _changes(weights, scores, along, temperatures, epsilons)
    if not worst:
        return random, random, random, random
    seen = visible.repeat(size[0], 1)
    leading, largest = _leading(weights, seen)
    up = _changes(weights, scores, leading, temperatures, epsilons)
    down = _changes(weights, scores, -leading, temperatures, epsilons)
    inverse = 1 / np.array(temperatures)[:, None]
    means = _mean_over_directions(weights, seen.sum(-1)).reshape(size) * inverse
    return random, np.maximum(up, down), largest.reshape(size) * inverse, means


def _mean_over_directions(weights: Tensor, dims: Tensor) -> np.ndarray:
    """E‖C v‖ over unit v in R^D, for rows that sum to one."""
    if not kernels.serves(weights):
        found = [
            finite_difference.mean_over_directions(row, dim=int(dim))
            for row, dim in zip(weights, dims, strict=True)
        ]
        return torch.stack(found).cpu().double().numpy()
    out = np.empty(len(weights))
    rows = weights.contiguous().numpy()
    kernels.over_rows(sensitivity_rows.mean_over_directions, len(rows), rows.size, rows, NODES, out)
    lengths = [
        math.sqrt(2) * math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2))
        for n in dims.tolist()
    ]
    return _rounded(out / np.array(lengths))


def _rounded(values: np.ndarray) -> np.ndarray:
    """The last digits depend on how the loops were compiled, and mean nothing."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(np.ldexp(mantissa, _BITS)), exponent - _BITS)


def _changes(
    weights: Tensor,
    scores: Tensor,
    directions: Tensor,
    temperatures: Sequence[float],
    epsilons: Sequence[float],
) -> np.ndarray:
    """(T, ε, rows); `directions` has a row per weights' row or one per query."""
    if not kernels.serves(weights):  # the reference itself
        each = directions.reshape(-1, *scores.shape).expand(len(temperatures), -1, -1)
        found = [
            finite_difference.sensitivity(scores, along, epsilon, temperature)
            for temperature, along in zip(temperatures, each, strict=True)
            for epsilon in epsilons
        ]
        size = len(temperatures), len(epsilons), len(scores)
        return torch.stack(found).cpu().double().numpy().reshape(size)
    out = np.empty((len(weights), len(epsilons)))
    kernels.over_rows(
        sensitivity_rows.changes,
        len(weights),
        weights.numel(),
        weights.contiguous().numpy(),
        scores.contiguous().numpy(),
        directions.contiguous().numpy(),
        np.array(temperatures, np.float64),
        np.array(epsilons, np.float64),
        out,
    )
    return out.reshape(len(temperatures), len(scores), len(epsilons)).transpose(0, 2, 1)


def _leading(weights: Tensor, visible: Tensor) -> tuple[Tensor, np.ndarray]:
    """The unit eigenvector of λ₁ of every row, and λ₁."""
    largest = row_measures(weights, visible).jacobian_norm
    value = torch.from_numpy(largest).to(weights)[:, None]
    below = weights - value
    unsafe = (below.abs() < _CLOSE * value).any(-1) | (value[:, 0] <= 0)
    vector = weights / torch.where(unsafe[:, None], 1.0, below)
    vector = vector / torch.linalg.vector_norm(vector, dim=-1, keepdim=True)
    for row in unsafe.nonzero()[:, 0].tolist():
        seen = visible[row]
        vector[row] = 0.0
        vector[row, seen] = leading_direction(weights[row, seen])
    return vector, largest
