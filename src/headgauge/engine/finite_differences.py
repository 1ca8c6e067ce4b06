"""Algorithm 5 for a block of rows: g(T, ε) over a whole grid of temperatures and ε.

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

    random: np.ndarray  # (T, ε, rows) along the given unit vectors
    worst: np.ndarray | None = None  # (T, ε, rows) along ± the Jacobian's leading eigenvector
    exact: np.ndarray | None = None  # (T, rows) ‖∇α‖₂, the limit ε → 0 of the worst
    exact_mean: np.ndarray | None = None  # (T, rows) E‖∇α v‖ over random v, that of the random


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
    blind = ~visible.any(-1)
    if not len(logits) or bool(blind.any()):
        first = int(blind.to(torch.uint8).argmax()) if len(logits) else None
        which = "there are no rows" if first is None else f"row {first} sees none"
        raise InputError(f"sensitivity needs rows that see a key, but {which}")
    heats, steps = positive("temperatures", temperatures), positive("epsilons", epsilons)
    # Logits over a small temperature are large, and their rounding is that of the weights: double.
    exact = most_exact(logits.device)
    scores = torch.where(visible, logits.detach().to(exact), -torch.inf)
    along = torch.where(visible, direction.to(exact), 0.0)
    some = max(1, _ENTRIES // scores.numel())
    parts = [
        _at(scores, visible, along, heats[start : start + some], steps, worst)
        for start in range(0, len(heats), some)
    ]
    return Sensitivity(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _at(
    scores: Tensor,
    visible: Tensor,
    along: Tensor,
    heats: np.ndarray,
    steps: np.ndarray,
    worst: bool,
) -> tuple[np.ndarray, ...]:
    """What was asked of `Sensitivity` for a few temperatures at once."""
    scale = torch.from_numpy(heats).to(scores)
    weights = torch.softmax(scores / scale[:, None, None], -1).flatten(0, 1)
    random = _changes(weights, scores, along, heats, steps)
    if not worst:
        return (random,)
    seen = visible.repeat(len(heats), 1)
    leading, norms = _leading(weights, seen)
    up = _changes(weights, scores, leading, heats, steps)
    down = _changes(weights, scores, -leading, heats, steps)
    means = _mean_over_directions(weights, seen.sum(-1))
    inverse = 1 / heats[:, None]
    limits = (each.reshape(len(heats), -1) * inverse for each in (norms, means))
    return random, np.maximum(up, down), *limits


def _mean_over_directions(weights: Tensor, dims: Tensor) -> np.ndarray:
    """E‖C v‖ over unit v in R^D, for rows that sum to one."""
    several, which = np.unique(dims.cpu().numpy(), return_inverse=True)
    lengths = np.array([_mean_length(n) for n in several])[which]
    if not kernels.serves(weights):
        along_one = finite_difference.mean_over_directions(weights, dim=1)
        return along_one.cpu().double().numpy() * _mean_length(1) / lengths
    out, rows = np.empty(len(weights)), weights.contiguous().numpy()
    kernels.over_rows(sensitivity_rows.mean_over_directions, len(rows), rows.size, rows, NODES, out)
    return _rounded(out / lengths)


def _mean_length(n: int) -> float:
    """E‖z‖ of a normal z in R^n."""
    return math.sqrt(2) * math.exp(math.lgamma((n + 1) / 2) - math.lgamma(n / 2))


def _rounded(values: np.ndarray) -> np.ndarray:
    """The last digits depend on how the loops were compiled, and mean nothing."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(np.ldexp(mantissa, _BITS)), exponent - _BITS)


def _changes(
    weights: Tensor, scores: Tensor, directions: Tensor, heats: np.ndarray, steps: np.ndarray
) -> np.ndarray:
    """(T, ε, rows); `directions` has a row per weights' row or one per query."""
    if not kernels.serves(weights):  # the reference itself
        each = directions.reshape(-1, *scores.shape).expand(len(heats), -1, -1)
        found = [
            finite_difference.sensitivity(scores, along, epsilon, temperature)
            for temperature, along in zip(heats.tolist(), each, strict=True)
            for epsilon in steps.tolist()
        ]
        size = len(heats), len(steps), len(scores)
        return torch.stack(found).cpu().double().numpy().reshape(size)
    out = np.empty((len(weights), len(steps)))
    arrays = (each.contiguous().numpy() for each in (weights, scores, directions))
    changes = sensitivity_rows.changes
    kernels.over_rows(changes, len(weights), weights.numel(), *arrays, heats, steps, out)
    return out.reshape(len(heats), len(scores), len(steps)).transpose(0, 2, 1)


def _leading(weights: Tensor, visible: Tensor) -> tuple[Tensor, np.ndarray]:
    """The unit eigenvector of λ₁ of every row, and λ₁."""
    largest = row_measures(weights, visible).jacobian_norm
    value = torch.from_numpy(largest).to(weights)[:, None]
    below = weights - value
    unsafe = (below.abs() < _CLOSE * value).any(-1) | (value[:, 0] <= 0)
    vector = weights / torch.where(unsafe[:, None], 1.0, below)
    vector = vector / torch.linalg.vector_norm(vector, dim=-1, keepdim=True)
    if not kernels.serves(weights):
        return torch.where(unsafe[:, None], _reference(weights, visible), vector), largest
    for row in unsafe.nonzero()[:, 0].tolist():
        seen = visible[row]
        vector[row] = 0.0
        vector[row, seen] = leading_direction(weights[row, seen])
    return vector, largest


def _reference(weights: Tensor, visible: Tensor) -> Tensor:
    """Theory's eigenvector of every row, over the keys that it sees."""
    # Hidden keys last: where nothing but one key has weight, the next one is taken with it.
    order = torch.sort(visible.to(torch.uint8), dim=-1, descending=True, stable=True).indices
    vector = torch.zeros_like(weights).scatter(
        -1, order, leading_direction(weights.gather(-1, order))
    )
    return torch.nn.functional.normalize(torch.where(visible, vector, 0.0), dim=-1)
