"""The measures of a row that need no N: concentration, sensitivity, logits.

>>> row_measures(torch.tensor([[0.25, 0.25, 0.25, 0.25]])).effective_n
array([4.])
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headgauge import kernels
from headgauge.devices import most_exact
from headgauge.engine import concentration_rows
from headgauge.engine.checks import check_like, check_rows, check_visible
from headgauge.theory.normalization import concentration, sharpness
from headgauge.theory.normalization.selection import missing_mass

_RANKS = 64  # of the logits, among which Λ is found in nearly every row


@dataclass(frozen=True)
class RowMeasures:
    """One number per row (float64); NaN where a row sees no key or its input was not given."""

    entropy: np.ndarray  # nats
    effective_n: np.ndarray  # exp(entropy)
    sink_weight: np.ndarray  # the weight on the first key
    jacobian_norm: np.ndarray  # ‖diag(α) − ααᵀ‖₂, exact; NaN for weights that sum to more than 1
    max_logit: np.ndarray
    sharpness: np.ndarray  # 1/Λ: above 1 sharp, below 1 the top weights merge; inf for one key


def row_measures(
    weights: Float[Tensor, "rows keys"],
    visible: Bool[Tensor, "rows keys"] | Bool[Tensor, "1 keys"] | None = None,
    logits: Float[Tensor, "rows keys"] | None = None,
    uncapped: Float[Tensor, "rows keys"] | None = None,
) -> RowMeasures:
    """`logits` are what the rule normalises (for Λ); `uncapped` is q·k·scale before a softcap or a
    bias (for the largest logit) where that is something else.

    Agrees with `theory` in float64 on the same entries to rounding, also for float32 entries; on
    other devices than the CPU, where tables over keys stay in single precision, these to 2e-6, and
    to 1e-4 where there is no double."""
    check_rows("weights", weights)
    if visible is None:
        visible = torch.ones(1, weights.shape[1], dtype=torch.bool, device=weights.device)
    check_visible(visible, weights.shape)
    for name, given in (("logits", logits), ("uncapped", uncapped)):
        if given is not None:
            check_like(name, given, weights.shape)
    highest = logits if uncapped is None else uncapped
    measure = _compiled if kernels.serves(weights) else _plain
    found = measure(weights.detach(), visible, logits, highest)
    with np.errstate(divide="ignore"):  # a single key has Λ = 0
        sharp = 1 / found.pop("critical")
    return RowMeasures(**found, effective_n=np.exp(found["entropy"]), sharpness=sharp)


def _compiled(
    weights: Tensor, visible: Tensor, logits: Tensor | None, highest: Tensor | None
) -> dict[str, np.ndarray]:
    if highest is logits:  # one pass finds both
        highest = None
    given = [each for each in (weights, logits, highest) if each is not None]
    # All alike: rows are added up in float64 whatever they are, and each mixture is a compilation.
    double = any(each.dtype == torch.float64 for each in given)
    real = torch.float64 if double else torch.float32
    nothing = weights.new_empty(0, weights.shape[1])
    arrays = (
        (nothing if each is None else each).detach().to(real).contiguous().numpy()
        for each in (weights, logits, highest)
    )
    seen = visible.contiguous().view(torch.uint8).numpy()
    logs = np.log(np.arange(1.0, weights.shape[1] + 1.0))
    out = np.full(len(weights), np.nan, concentration_rows.MEASURES)
    measure = concentration_rows.measure
    kernels.over_rows(measure, len(weights), weights.numel(), seen, *arrays, logs, out)
    return {name: np.ascontiguousarray(out[name]) for name in out.dtype.names or ()}


def table_type(weights: Tensor) -> torch.dtype:
    """What plain torch has tables over keys in: double on the CPU, elsewhere the weights' own. On a
    GPU double is up to 64 times slower, and a sum alone is taken in it."""
    single = torch.promote_types(weights.dtype, torch.float32)
    return torch.float64 if weights.device.type == "cpu" else single


def _plain(
    weights: Tensor, visible: Tensor, logits: Tensor | None, highest: Tensor | None
) -> dict[str, np.ndarray]:
    exact, real = most_exact(weights.device), table_type(weights)
    masked = torch.where(visible, weights.to(real), 0.0)
    nothing = torch.full_like(masked[:, 0], torch.nan)
    # What is left to one is lost in single precision: of two parts that stand for all weights.
    total, least = masked.sum(-1, dtype=exact), masked.amin(-1).to(exact)
    missing = missing_mass(torch.stack([total - least, least], -1))
    found = {
        "entropy": -torch.special.xlogy(masked, masked).sum(-1, dtype=exact),
        "sink_weight": masked[:, 0],
        "jacobian_norm": _largest_eigenvalue(masked, missing.to(real)),
        "max_logit": nothing,
        "critical": nothing,
    }
    if highest is not None:
        filled = torch.where(visible, highest.detach().to(real), -torch.inf)
        found["max_logit"] = concentration.max_logit(filled)
    if logits is not None:
        filled = torch.where(visible, logits.detach().to(real), -torch.inf) + 0.0  # −0 and 0 tie
        found["critical"] = _critical(filled)
    told = torch.stack([each.to(exact) for each in found.values()])
    told = torch.where(visible.any(-1), told, torch.nan)
    return dict(zip(found, told.cpu().double().numpy(), strict=True))  # all at once


def _largest_eigenvalue(weights: Tensor, missing: Tensor) -> Tensor:
    """λ₁ of diag(p) − ppᵀ: the steps of `theory.sensitivity.solve_secular`, without an order of the
    keys, and on tables that are divided where that one asks what to divide."""
    if weights.shape[1] == 1:
        return weights[:, 0] * missing
    (first, second), places = weights.topk(2).values.unbind(-1), weights.argmax(-1, keepdim=True)
    rest = weights.scatter(-1, places, 0.0)
    mass = torch.cat([rest, missing.nan_to_num(0.0)[:, None]], -1)
    offset = torch.cat([second[:, None] - rest, second[:, None]], -1)
    gap, eps = first - second, torch.finfo(weights.dtype).eps
    nu = gap.minimum(((2 * first * mass.sum(-1) - second) * (1 + 8 * eps)).clamp(min=0))
    for _ in range(100):
        shifted = offset + nu[:, None]
        total = (nu[:, None] / shifted).mul_(mass).sum(-1)
        slope = (mass / shifted).mul_(offset / shifted).sum(-1)
        value = (gap - nu) * total - first * nu
        derivative = -total + (gap - nu) * slope - first
        # At a tie ν is 0 from the start, 0/0 no number, and nothing left to do.
        step = torch.where(derivative < 0, value / derivative, 0.0)
        before, nu = nu, (nu - step).clamp(min=0).minimum(gap)
        if bool(((before - nu).abs() <= 4 * eps * (nu + second)).all()):
            break
    return torch.where(missing.isnan(), torch.nan, second + nu)


def _critical(logits: Tensor) -> Tensor:
    """Λ, by theory on the first ranks where no later one can be the supremum: log N(t)/t is at most
    log n over the last of their gaps."""
    few = logits.topk(min(_RANKS, logits.shape[1])).values
    found = sharpness.critical_inverse_temperature(few)
    most = math.log(logits.shape[1]) / (few[:, 0] - few[:, -1])
    later = torch.nonzero(~(found >= most))[:, 0]
    if len(later) and logits.shape[1] > _RANKS:
        whole = sharpness.critical_inverse_temperature(logits[later])
        found = found.index_put((later,), whole)
    return found
