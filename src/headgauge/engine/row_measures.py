"""The measures of a row that need no N: concentration, sensitivity, logits, output.

>>> row_measures(torch.tensor([[0.25, 0.25, 0.25, 0.25]])).effective_n
array([4.])
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headgauge.engine import concentration_rows
from headgauge.errors import InputError
from headgauge.normalizers import kernels
from headgauge.theory import concentration, sensitivity, sharpness


@dataclass(frozen=True)
class RowMeasures:
    """One number per row (float64); NaN where a row sees no key or its input was not given."""

    entropy: np.ndarray  # nats
    effective_n: np.ndarray  # exp(entropy)
    sink_weight: np.ndarray  # the weight on the first token of the sequence
    jacobian_norm: np.ndarray  # ‖diag(α) − ααᵀ‖₂, exact; NaN for weights that sum to more than 1
    max_logit: np.ndarray
    sharpness: np.ndarray  # 1/Λ: above 1 the row is sharp, below 1 its top weights merge
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
    `first_key` is the place of the sequence's first token, after left padding."""
    for name, given in (("visible", visible), ("logits", logits), ("uncapped", uncapped)):
        allowed = (weights.shape, (1, weights.shape[-1])) if name == "visible" else (weights.shape,)
        if given is not None and tuple(given.shape) not in allowed:
            shapes = f"{tuple(weights.shape)} like the weights, got {tuple(given.shape)}"
            raise InputError(f"{name} must be {shapes}")
    seen = torch.ones_like(weights, dtype=torch.bool) if visible is None else visible
    seen = seen.expand(weights.shape)
    exact = torch.float32 if weights.device.type == "mps" else torch.float64
    masked = torch.where(seen, weights.detach().to(exact), 0.0)
    alive = seen.any(-1)
    nothing = torch.full_like(masked[:, 0], torch.nan)
    entropy, jacobian = _concentration(masked, alive)
    found = {
        "entropy": entropy,
        "effective_n": entropy.exp(),
        "sink_weight": masked[:, first_key],
        "jacobian_norm": jacobian,
        "max_logit": nothing,
        "sharpness": nothing,
        "output_norm": nothing,
    }
    highest = logits if uncapped is None else uncapped
    if highest is not None:
        filled = highest.detach().masked_fill(~seen, -torch.inf)
        found["max_logit"] = concentration.max_logit(filled).to(exact)
    if logits is not None:
        found["sharpness"] = 1 / _critical(logits.detach(), seen, alive).to(exact)
    if values is not None:
        found["output_norm"] = torch.linalg.vector_norm(masked @ values.detach().to(exact), dim=-1)
    return RowMeasures(
        **{
            name: torch.where(alive, value, torch.nan).cpu().double().numpy()
            for name, value in found.items()
        }
    )


def _concentration(masked: Tensor, alive: Tensor) -> tuple[Tensor, Tensor]:
    if not kernels.serves(masked):
        return concentration.entropy(masked), sensitivity.largest_eigenvalue(masked)
    out = np.full((2, len(masked)), np.nan)
    kernels.over_rows(
        concentration_rows.concentration,
        len(masked),
        masked.numel(),
        masked.contiguous().numpy(),
        alive.numpy(),
        out,
    )
    return torch.from_numpy(out[0]), torch.from_numpy(out[1])


def _critical(logits: Tensor, seen: Tensor, alive: Tensor) -> Tensor:
    if not kernels.serves(logits) or logits.dtype not in (torch.float32, torch.float64):
        filled = logits.double() if logits.device.type != "mps" else logits.float()
        filled = filled.masked_fill(~seen, -torch.inf) + 0.0  # −0 and 0 tie
        return sharpness.critical_inverse_temperature(filled)
    # numpy sorts rows with vector instructions, several times faster than torch.
    ordered = np.sort((-logits).masked_fill(~seen, torch.inf).numpy(), axis=-1)
    out = np.full(len(ordered), np.nan)
    kernels.over_rows(
        concentration_rows.critical, len(ordered), ordered.size, ordered, alive.numpy(), out
    )
    return torch.from_numpy(out)
