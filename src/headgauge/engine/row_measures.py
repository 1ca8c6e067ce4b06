"""The measures of a row that need no N: concentration, sensitivity, logits, output.

>>> row_measures(torch.tensor([[0.25, 0.25, 0.25, 0.25]])).effective_n
array([4.])
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headgauge import kernels
from headgauge.devices import most_exact
from headgauge.engine import concentration_rows
from headgauge.engine.checks import check_like, check_place, check_real, check_rows, check_visible
from headgauge.errors import InputError
from headgauge.theory.normalization import concentration, sensitivity, sharpness


@dataclass(frozen=True)
class RowMeasures:
    """One number per row (float64); NaN where a row sees no key or its input was not given."""

    entropy: np.ndarray  # nats
    effective_n: np.ndarray  # exp(entropy)
    sink_weight: np.ndarray  # the weight on the first token of the sequence
    jacobian_norm: np.ndarray  # ‖diag(α) − ααᵀ‖₂, exact; NaN for weights that sum to more than 1
    max_logit: np.ndarray
    sharpness: np.ndarray  # 1/Λ: above 1 sharp, below 1 the top weights merge; inf for one key
    output_norm: np.ndarray  # ‖Σ α_i v_i‖

    @property
    def counts(self) -> np.ndarray:
        """Which rows count: those that see a key."""
        return ~np.isnan(self.sink_weight)


def row_measures(
    weights: Float[Tensor, "rows keys"],
    visible: Bool[Tensor, "rows keys"] | Bool[Tensor, "1 keys"] | None = None,
    logits: Float[Tensor, "rows keys"] | None = None,
    uncapped: Float[Tensor, "rows keys"] | None = None,
    values: Float[Tensor, "keys value_dim"] | None = None,
    first_key: int = 0,
) -> RowMeasures:
    """`logits` are what the rule normalises (for Λ); `uncapped` is q·k·scale before a softcap or a
    bias (for the largest logit) where that is something else. `values` are the head's v_i.
    `first_key` is the place of the sequence's first token, after left padding.

    Everything agrees with `theory` in float64 on the same entries to rounding, also for float32
    entries, but for the output norm: that is a product in the precision of the weights and values,
    for float32 within 1e-6 Σ α_i‖v_i‖."""
    check_rows("weights", weights)
    keys = weights.shape[1]
    if visible is None:
        visible = torch.ones(1, keys, dtype=torch.bool, device=weights.device)
    check_visible(visible, weights.shape)
    for name, given in (("logits", logits), ("uncapped", uncapped)):
        if given is not None:
            check_like(name, given, weights.shape)
    if values is not None:
        check_real("values", values)
        if values.ndim != 2 or len(values) != keys:
            shape = tuple(values.shape)
            raise InputError(f"values must be ({keys}, dim), a row per key, got {shape}")
    check_place("first_key", first_key)
    first_key = min(first_key, keys)  # the first token may lie beyond what a block sees
    weights = weights.detach()
    highest = logits if uncapped is None else uncapped
    measure = _compiled if kernels.serves(weights) else _plain
    found = measure(weights, visible, logits, highest, first_key)
    norm = np.full(len(weights), np.nan)
    if values is not None:
        norm = _numpy(_output_norm(weights, visible, values.detach()))
    with np.errstate(divide="ignore"):  # a single key has Λ = 0
        sharp = 1 / found.pop("critical")
    return RowMeasures(
        **found,
        effective_n=np.exp(found["entropy"]),
        sharpness=sharp,
        output_norm=np.where(np.isnan(found["sink_weight"]), np.nan, norm),
    )


def _compiled(
    weights: Tensor, visible: Tensor, logits: Tensor | None, highest: Tensor | None, first_key: int
) -> dict[str, np.ndarray]:
    rows, keys = weights.shape
    weights = _readable(weights)
    nothing = weights.new_empty(0, keys)
    if highest is logits:  # one pass finds both
        highest = None
    logits = nothing if logits is None else _readable(logits)
    highest = nothing.to(logits) if highest is None else _readable(highest)
    wider = torch.promote_types(logits.dtype, highest.dtype)
    out = np.full(rows, np.nan, concentration_rows.MEASURES)
    kernels.over_rows(
        concentration_rows.measure,
        rows,
        weights.numel(),
        weights.numpy(),
        visible.contiguous().view(torch.uint8).numpy(),
        logits.to(wider).numpy(),
        highest.to(wider).numpy(),
        first_key,
        np.log(np.arange(1.0, keys + 1.0)),
        out,
    )
    return {name: np.ascontiguousarray(out[name]) for name in out.dtype.names or ()}


def _readable(rows: Tensor) -> Tensor:
    """float32 or float64, a row after the other, as the kernels read them."""
    return (rows if rows.dtype == torch.float64 else rows.float()).detach().contiguous()


def _plain(
    weights: Tensor, visible: Tensor, logits: Tensor | None, highest: Tensor | None, first_key: int
) -> dict[str, np.ndarray]:
    exact = most_exact(weights.device)
    masked = torch.where(visible, weights.to(exact), 0.0)
    nothing = torch.full_like(masked[:, 0], torch.nan)
    found = {
        "entropy": concentration.entropy(masked),
        "sink_weight": masked[:, first_key] if first_key < masked.shape[1] else 0 * masked[:, 0],
        "jacobian_norm": sensitivity.largest_eigenvalue(masked),
        "max_logit": nothing,
        "critical": nothing,
    }
    if highest is not None:
        filled = torch.where(visible, highest.detach().to(exact), -torch.inf)
        found["max_logit"] = concentration.max_logit(filled)
    if logits is not None:
        filled = torch.where(visible, logits.detach().to(exact), -torch.inf) + 0.0  # −0 and 0 tie
        found["critical"] = sharpness.critical_inverse_temperature(filled)
    alive = visible.any(-1)
    return {name: _numpy(torch.where(alive, value, torch.nan)) for name, value in found.items()}


def _output_norm(weights: Tensor, visible: Tensor, values: Tensor) -> Tensor:
    exact = torch.promote_types(torch.promote_types(weights.dtype, values.dtype), torch.float32)
    masked = torch.where(visible, weights, 0.0).to(exact)
    return torch.linalg.vector_norm(masked @ values.to(exact), dim=-1)


def _numpy(numbers: Tensor) -> np.ndarray:
    return numbers.cpu().double().numpy()
