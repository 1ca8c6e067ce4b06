"""Every measure that depends on N, for a block of rows and a whole list of N.

>>> geometry = Geometry.of(torch.eye(4))
>>> block = curves(torch.tensor([[0.4, 0.3, 0.2, 0.1]]), geometry, [1, 2])
>>> block.separability
array([[1., 1.]])
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headgauge import kernels
from headgauge.engine import compiled_curves, torch_rows
from headgauge.engine.checks import check_rows, check_visible, top_ns_of
from headgauge.engine.geometry import Geometry
from headgauge.errors import InputError
from headgauge.theory.normalization import separability
from headgauge.theory.normalization.selection import top_n

Keys = Literal["visible", "all"]


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


_MEASURES = np.dtype([(field.name, np.float64) for field in fields(Curves)])


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
    because what single precision cannot tell is told in double. The compiled rows alone know this
    path; plain torch stays in double.
    """
    ns = _checked(weights, geometry, top_ns, visible, keys)
    asked, back = np.unique(ns, return_inverse=True)
    weights, visible = _placed(weights.detach(), visible, geometry, keys == "all")
    out = np.empty((len(weights), len(asked)), _MEASURES)
    out.view(np.float64).fill(np.nan)  # np.full of records takes ten times longer
    doubtful = np.zeros(out.shape, np.bool_)
    measure = (compiled_curves if kernels.serves(geometry.vectors) else torch_rows).measure
    measure(weights, visible, geometry, asked, keys == "all", out, doubtful)
    for row, at in np.argwhere(doubtful):
        seen = visible[row % len(visible)]
        counting = torch.ones_like(seen) if keys == "all" else seen
        alpha = torch.where(seen, weights[row], 0.0)[counting].to(geometry.vectors)
        vectors, n = geometry.vectors[: len(seen)][counting], int(asked[at])
        held = int(separability.separable_count(alpha, vectors, top_n(alpha, n)))
        out["separable_count"][row, at], out["separability"][row, at] = held, held / n
    table = out.view(np.float64).reshape(*out.shape, len(fields(Curves))).transpose(2, 0, 1)
    return Curves(*table[..., back])


def _placed(
    weights: Tensor, visible: Tensor | None, geometry: Geometry, everything: bool
) -> tuple[Tensor, Tensor]:
    """Weights and visibility where the vectors are, and as wide as the keys that can count."""
    device = geometry.vectors.device
    if visible is None:
        visible = torch.ones(1, weights.shape[1], dtype=torch.bool)
    weights = weights.to(device, geometry.real)
    visible = visible.to(device)
    missing = geometry.keys - weights.shape[1]
    if everything and missing:
        weights = torch.nn.functional.pad(weights, (0, missing))
        visible = torch.nn.functional.pad(visible, (0, missing))
    return weights, visible


def _checked(
    weights: Tensor, geometry: Geometry, top_ns: Sequence[int], visible: Tensor | None, keys: str
) -> np.ndarray:
    if not isinstance(geometry, Geometry):
        kind = type(geometry).__name__
        raise InputError(f"geometry must be made of the vectors by Geometry.of, got {kind}")
    check_rows("weights", weights)
    if weights.shape[1] > geometry.keys:
        width = f"(rows, {geometry.keys}) or narrower for these vectors"
        raise InputError(f"weights must be {width}, got {tuple(weights.shape)}")
    if visible is not None:
        check_visible(visible, weights.shape)
    if keys not in ("visible", "all"):
        raise InputError(f'keys must be "visible" or "all", got {keys!r}')
    return top_ns_of(top_ns, geometry.keys)
