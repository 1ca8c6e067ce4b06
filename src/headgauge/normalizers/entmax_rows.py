"""Compiled: α-entmax on the CPU, and the way there from torch and back.

With d_i = z_i − max z and ε = α − 1, the weights are p_i = [1 + ε(d_i − t)]₊^{1/ε} for the one
t ≥ 0 at which they sum to 1 (t is log Σ exp d for α → 1). Only keys with d > −1/ε can have
weight, on a usual row a small part, and Newton's iteration touches those alone. It runs on
(Σp)^ε − 1, the distance of a norm of the row from 1: convex and falling in t like Σp − 1 itself,
hence approached from the left without overshooting, but straight for equal logits and for α → 1
where Σp − 1 needs log n steps.
"""

import math

import numpy as np
import torch
from torch import Tensor

from headgauge import kernels
from headgauge.kernels import compiled


@compiled
def _find_candidates(z, hidden, reach, values, places):
    """Visible keys less than `reach` below the largest, as (z − max, index); how many.

    −1 where the row contains a NaN or +inf, for which no weights exist.
    """
    top = -math.inf
    for k in range(z.shape[0]):
        # Written so that a NaN gets in: one comparison tells the two rare cases from the usual.
        if not z[k] <= top and not hidden[k]:
            if z[k] != z[k]:
                return -1
            top = z[k]
    if top == math.inf:
        return -1
    count = 0
    for k in range(z.shape[0]):
        below = np.float64(z[k]) - top
        if below > -reach and not hidden[k]:
            values[count] = below
            places[count] = k
            count += 1
    return count


@compiled
def _weight(below, t, epsilon):
    """p and p^{2−α} of one key (0, 0 outside the support)."""
    y = epsilon * (below - t)
    u = 1.0 + y
    if u <= 0.0:
        return 0.0, 0.0
    if epsilon == 1.0:
        return u, 1.0
    if epsilon == 0.5:
        return u * u, u
    if epsilon == 0.0:
        p = math.exp(below - t)
        return p, p
    p = math.exp(math.log1p(y) / epsilon)
    return p, p / u


@compiled
def _solve(values, places, count, epsilon, tolerance):
    """t, and how many candidates are left once those without weight are dropped."""
    t = 0.0
    while True:
        total = 0.0
        spread = 0.0
        left = 0
        for j in range(count):
            p, s = _weight(values[j], t, epsilon)
            # Moving t up never brings a key back.
            if p > 0.0:
                total += p
                spread += s
                values[left] = values[j]
                places[left] = places[j]
                left += 1
        count = left
        if not total - 1.0 > tolerance:
            return t, count
        if epsilon == 0.0:
            step = math.log(total)
        else:
            step = -math.expm1(-epsilon * math.log(total)) / epsilon
        moved = t + step * total / spread
        if not moved > t:
            return t, count
        t = moved


@compiled
def forward(scores, hidden, hidden_row, alpha, tolerance, weights, start, stop):
    keys = scores.shape[1]
    values = np.empty(keys, np.float64)
    places = np.empty(keys, np.int64)
    for row in range(start, stop):
        epsilon = alpha[row % alpha.shape[0]] - 1.0
        reach = 1.0 / epsilon if epsilon > 0.0 else math.inf
        hide = hidden[hidden_row[row]]
        count = _find_candidates(scores[row], hide, reach, values, places)
        if count < 0:
            for k in range(keys):
                weights[row, k] = 0.0 if hide[k] else math.nan
            continue
        t, count = _solve(values, places, count, epsilon, tolerance)
        for j in range(count):
            p, _ = _weight(values[j], t, epsilon)
            weights[row, places[j]] = p


@compiled
def _curvature(v):
    """(e^v − 1 − v)/v², by its series where the numerator would cancel."""
    if v > 0.5:
        return (math.expm1(v) - v) / (v * v)
    term = 0.5
    result = 0.5
    for k in range(3, 16):
        term *= v / k
        result += term
    return result


@compiled
def _backward(weights, gradient, alpha, to_scores, to_alpha, start, stop):
    keys = weights.shape[1]
    values = np.empty(keys, np.float64)
    places = np.empty(keys, np.int64)
    for row in range(start, stop):
        a = alpha[row % alpha.shape[0]]
        total = 0.0
        pulled = 0.0
        count = 0
        for k in range(keys):
            p = np.float64(weights[row, k])
            if p != 0.0:  # true for a NaN, which must not vanish here
                if a == 2.0:
                    s = 1.0
                elif a == 1.5:
                    s = math.sqrt(p)
                elif a == 1.0:
                    s = p
                else:
                    s = p ** (2.0 - a)
                values[count] = s
                places[count] = k
                count += 1
                total += s
                pulled += s * gradient[row, k]
        mean = pulled / total if count else 0.0
        for j in range(count):
            to_scores[row, places[j]] = values[j] * (gradient[row, places[j]] - mean)
        if to_alpha.shape[0]:
            change = 0.0
            for j in range(count):
                p = np.float64(weights[row, places[j]])
                logarithm = math.log(p)
                drift = -p * logarithm * logarithm * _curvature((1.0 - a) * logarithm)
                change += drift * (gradient[row, places[j]] - mean)
            to_alpha[row] = change


def _as_rows(tensor: Tensor) -> np.ndarray:
    return tensor.detach().reshape(-1, tensor.shape[-1]).contiguous().numpy()


def _alpha_rows(alpha: Tensor, rows: torch.Size) -> np.ndarray:
    """α for every row, or the single one they share."""
    alpha = alpha.detach().double()
    if alpha.numel() == 1:
        return alpha.reshape(1).numpy()
    return alpha.expand(*rows, 1).reshape(-1).contiguous().numpy()


def _hidden_rows(hidden: Tensor | None, shape: torch.Size) -> tuple[np.ndarray, np.ndarray]:
    """The mask's own rows and, for every row of logits, which of them is its own.

    A causal mask shared by all heads stays one square instead of one per head.
    """
    if hidden is None:
        return np.zeros((1, shape[-1]), np.bool_), np.zeros(shape[:-1].numel(), np.int64)
    own = hidden.shape[:-1]
    index = torch.arange(own.numel()).reshape(own).expand(shape[:-1]).reshape(-1).contiguous()
    return _as_rows(hidden.expand(*own, shape[-1])), index.numpy()


def entmax_forward(scores: Tensor, alpha: Tensor, hidden: Tensor | None) -> Tensor:
    """α-entmax of every row; `alpha` is one number or (*rows, 1), `hidden` broadcasts."""
    flat = _as_rows(scores)
    # From numpy, which gets zeros untouched from the system where torch would write each of them.
    weights = np.zeros(flat.shape, flat.dtype)
    # fp32 rows are solved in fp64 but need not be solved to its last bit.
    tolerance = 1e-10 if scores.dtype == torch.float32 else 4 * np.finfo(np.float64).eps
    masked = _hidden_rows(hidden, scores.shape)
    alphas = _alpha_rows(alpha, scores.shape[:-1])
    kernels.over_rows(forward, len(flat), flat.size, flat, *masked, alphas, tolerance, weights)
    return torch.from_numpy(weights).reshape(scores.shape)


def entmax_backward(
    weights: Tensor, gradient: Tensor, alpha: Tensor, to_alpha: bool
) -> tuple[Tensor, Tensor | None]:
    """The gradients to the scores and, if asked, to α (one number per row)."""
    rows, flat = weights.shape[:-1], _as_rows(weights)
    to_scores = np.zeros(flat.shape, flat.dtype)
    per_row = np.empty(len(flat) if to_alpha else 0, np.float64)
    given = flat, _as_rows(gradient), _alpha_rows(alpha, rows)
    kernels.over_rows(_backward, len(flat), flat.size, *given, to_scores, per_row)
    to_alphas = torch.from_numpy(per_row).reshape(*rows, 1) if to_alpha else None
    return torch.from_numpy(to_scores).reshape(weights.shape), to_alphas
