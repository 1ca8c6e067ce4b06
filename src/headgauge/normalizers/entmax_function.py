"""α-entmax as a differentiable function: the compiled rows, or Newton's iteration in torch.

Both directions need nothing but the weights. With s_i = p_i^{2−α} on the support,

    ∂p/∂z = diag(s) − ssᵀ/Σs,

and differentiating Σp = 1 in α gives, with v_i = (1−α)·log p_i,

    ∂p_i/∂α = g_i − s_i·Σg/Σs,   g_i = −p_i·(log p_i)²·(e^{v_i} − 1 − v_i)/v_i²,

where the last fraction tends to ½ for α → 1.
"""

import math

import torch
from torch import Tensor

from headgauge import kernels
from headgauge.normalizers.entmax_rows import entmax_backward, entmax_forward
from headgauge.normalizers.jacobian import Jacobian, nonzero, symmetric

_LEADING = 64  # logits per row that the torch version looks at first,
_SPARSE = 0.3  # where α − 1 is large enough for them to hold most supports


class _Entmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores, alpha, hidden):
        solve = entmax_forward if kernels.serves(scores) else newton
        weights = solve(scores, alpha, hidden)
        ctx.save_for_backward(weights, alpha)
        return weights

    @staticmethod
    def backward(ctx, *gradients):
        weights, alpha = ctx.saved_tensors
        # Under create_graph the backward itself is differentiated: torch operations, then.
        compiled = kernels.serves(weights) and not torch.is_grad_enabled()
        pull_back = entmax_backward if compiled else _pull_back
        to_scores, per_row = pull_back(weights, gradients[0], alpha, ctx.needs_input_grad[1])
        to_alpha = None if per_row is None else per_row.sum_to_size(alpha.shape).to(alpha)
        return to_scores, to_alpha, None


def entmax_weights(scores: Tensor, alpha: float | Tensor, hidden: Tensor | None) -> Tensor:
    """α-entmax along the last axis; `alpha` a number or a tensor that broadcasts to (*rows, 1)."""
    if not isinstance(alpha, Tensor):
        # On the CPU in fp64, so that the compiled rows see the number that was given.
        alpha = torch.tensor(alpha, dtype=torch.float64)
    elif alpha.numel() > 1 or alpha.requires_grad:
        alpha = alpha.expand(*scores.shape[:-1], 1)
    result = _Entmax.apply(scores, alpha, hidden)
    assert isinstance(result, Tensor)
    return result


def entmax_jacobian(weights: Tensor, alpha: float | Tensor) -> Jacobian:
    """diag(s) − ssᵀ/Σs."""
    spread = _spread(weights, alpha)
    return symmetric(spread, nonzero(spread.sum(-1, keepdim=True)))


def _spread(weights: Tensor, alpha: float | Tensor) -> Tensor:
    """s = p^{2−α} on the support and 0 elsewhere; a NaN stays one."""
    on = weights != 0
    return torch.where(on, torch.where(on, weights, 1.0).pow(2.0 - alpha), 0.0)


def _pull_back(
    weights: Tensor, gradient: Tensor, alpha: Tensor, to_alpha: bool
) -> tuple[Tensor, Tensor | None]:
    alpha = alpha.to(weights)
    spread = _spread(weights, alpha)
    mean = (spread * gradient).sum(-1, keepdim=True) / nonzero(spread.sum(-1, keepdim=True))
    to_scores = spread * (gradient - mean)
    if not to_alpha:
        return to_scores, None
    logarithm = torch.where(weights != 0, weights, 1.0).log()
    drift = -weights * logarithm**2 * _curvature((1.0 - alpha) * logarithm)
    return to_scores, (drift * (gradient - mean)).sum(-1, keepdim=True)


def _curvature(v: Tensor) -> Tensor:
    """(e^v − 1 − v)/v² for v ≥ 0, by its series where the numerator would cancel."""
    small, large = v.clamp(max=0.5), v.clamp(min=0.5)
    series = torch.zeros_like(v)
    for k in range(15, 1, -1):
        series = series * small + 1.0 / math.factorial(k)
    return torch.where(v > 0.5, (torch.expm1(large) - large) / large**2, series)


@torch.no_grad()
def newton(scores: Tensor, alpha: Tensor, hidden: Tensor | None) -> Tensor:
    """The iteration of the compiled rows on all rows at once, on any device.

    Where supports are small the largest logits alone come first. Their t is never beyond that of
    the whole row, so rows with more support than that go on from it.
    """
    alpha = alpha.to(scores)
    if hidden is not None:
        scores = scores.masked_fill(hidden, -math.inf)
    top = scores.amax(-1, keepdim=True)
    below = scores - top.masked_fill(top == -math.inf, 0.0)
    epsilon = alpha - 1.0
    t = torch.zeros_like(top)
    if below.shape[-1] > _LEADING and bool(epsilon.min() > _SPARSE):
        leading = below.topk(_LEADING, dim=-1).values
        t = _climb(leading, t, epsilon)
        more = (epsilon * (leading[..., -1:] - t) > -1.0).squeeze(-1)
        if bool(more.any()):
            theirs = epsilon if epsilon.ndim == 0 else epsilon.expand_as(t)[more]
            t[more] = _climb(below[more], t[more], theirs)
    else:
        t = _climb(below, t, epsilon)
    weights, spread = _at(below, t, epsilon)
    # On a flat row t is known to fewer digits than a weight has. What the row lacks goes where
    # the next step of t would have put it.
    lack = 1.0 - weights.sum(-1, keepdim=True)
    if bool((lack.abs() > 8 * torch.finfo(lack.dtype).eps).any()):
        share = spread / nonzero(spread.sum(-1, keepdim=True))
        weights = torch.where(weights > 0, weights + lack * share, 0.0).clamp(min=0.0)
    weights = weights.masked_fill(top.isnan() | (top == math.inf), math.nan)
    return weights if hidden is None else weights.masked_fill(hidden, 0.0)


def _climb(below: Tensor, t: Tensor, epsilon: Tensor) -> Tensor:
    """t at which every row sums to 1, from a t at which none sums to less."""
    tolerance = 4 * torch.finfo(below.dtype).eps
    while True:
        weights, spread = _at(below, t, epsilon)
        total = weights.sum(-1, keepdim=True)
        log_total = total.log()
        straight = torch.where(
            epsilon == 0, log_total, -torch.expm1(-epsilon * log_total) / nonzero(epsilon)
        )
        moved = t + straight * total / spread.sum(-1, keepdim=True)
        going = (total - 1.0 > tolerance) & (moved > t)
        if not bool(going.any()):
            return t
        t = torch.where(going, moved, t)


def _at(below: Tensor, t: Tensor, epsilon: Tensor) -> tuple[Tensor, Tensor]:
    """p and p^{2−α} at this t."""
    if epsilon.ndim == 0 and epsilon == 1:
        u = torch.relu(below - t + 1.0)
        return u, (u > 0).to(u.dtype)
    if epsilon.ndim == 0 and epsilon == 0.5:
        u = torch.relu((below - t) * 0.5 + 1.0)
        return u * u, u
    y = epsilon * (below - t)
    on = y > -1.0
    y = torch.where(on, y, 0.0)
    exponent = torch.where(epsilon == 0, below - t, torch.log1p(y) / nonzero(epsilon))
    # u itself for α = 2, where exp(log u) would cost the last digits.
    weights = torch.where(epsilon == 1, 1.0 + y, exponent.exp())
    weights = torch.where(on, weights, 0.0)
    return weights, weights / (1.0 + y)
