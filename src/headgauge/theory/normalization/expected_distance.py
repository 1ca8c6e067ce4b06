"""Theorem 1.2: E, the mean of d̃ over a uniformly random N-subset I.

Paper → code: N → `n`, x̄ = Σ α_i x_i, ν = N/(L − 1), and three forms under their own names:

* `printed`: the main text's (L−N)/L Σ‖(α_i + ν)x_i − x̄‖. False.
* `appendix`: eq. (24), (L−N)/L Σ‖m_i‖ with m_i = (1 + ν)y_i − νx̄. True as a lower bound.
* `sandwich`: the appendix form below, the exact second moment above.

Proof. Given i ∉ I, I is a uniform N-subset of the other L − 1 keys, so y_i − s has the mean
m_i = y_i − ν(x̄ − y_i) and, by the variance of a sum drawn without replacement, E‖y_i − s‖² is
‖m_i‖² + V_i with

    V_i = N(L−1−N)/((L−1)(L−2)) · [Σ_{j≠i}‖y_j‖² − ‖x̄ − y_i‖²/(L−1)].

The norm is convex (Jensen: at least ‖m_i‖) and the root is concave (at most √(‖m_i‖² + V_i)); each
i is left out with probability (L − N)/L. V_i = 0 at N = L − 1, where eq. (24) is exact.

Stratified. With a sink, whether the heavy token was drawn decides everything. Conditioning on
which of the K heaviest were drawn (hypergeometric weights) and bounding each case lies inside the
plain sandwich, because Jensen's two inequalities are then applied to smaller averages.
"""

import itertools
import math

import torch
from torch import Tensor

from headgauge.theory.checks import PerKey, PerRow, Vectors, check_n, check_whole
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import leave_one_out_sum, top_n_indices, weighted

EXACT_LIMIT = 200_000


def printed(weights: PerKey, vectors: Vectors, n: int) -> PerRow:
    """Theorem 1.2's main term as printed in the main text. False; ε aside, it is off both ways."""
    check_n(n, weights)
    length = weights.shape[-1]
    return (length - n) / length * _printed_norms(weights, vectors, n).sum(-1)


def slides(weights: PerKey, vectors: Vectors, n: int) -> PerRow:
    """The same with squared norms, as on the slides. False: E is of degree one in the vectors."""
    check_n(n, weights)
    length = weights.shape[-1]
    return (length - n) / length * (_printed_norms(weights, vectors, n) ** 2).sum(-1)


def _printed_norms(weights: Tensor, vectors: Tensor, n: int) -> Tensor:
    """‖(α_i + N/(L−1))x_i − x̄‖ for every i."""
    length = weights.shape[-1]
    mean = weighted(weights, vectors).sum(-2, keepdim=True)
    nu = n / (length - 1) if length > 1 else 0.0
    return ((weights + nu)[..., None] * vectors - mean).norm(dim=-1)


def conditional_moments(weights: PerKey, vectors: Vectors, n: int) -> tuple[PerKey, PerKey]:
    """‖m_i‖ and V_i: mean and variance of y_i − s given that i was not drawn."""
    check_n(n, weights)
    y = weighted(weights, vectors)
    mean, variance = _sum_of_others(y, n)
    return (y - mean).norm(dim=-1), variance


def _sum_of(vectors: Tensor, drawn: int) -> tuple[Tensor, Tensor]:
    """Mean and variance of the sum of `drawn` of the vectors.

    The variance does not change when all vectors move alike, so it is taken around their mean:
    squares of nearly equal vectors would otherwise leave only rounding.
    """
    size = vectors.shape[-2]
    mean = vectors.mean(-2) if size else vectors.sum(-2)
    squares = ((vectors - mean[..., None, :]) ** 2).sum((-2, -1))
    return drawn * mean, _variance_factor(drawn, size) * squares


def _sum_of_others(vectors: Tensor, drawn: int) -> tuple[Tensor, Tensor]:
    """For every i, mean and variance of the sum of `drawn` of the vectors other than i."""
    size = vectors.shape[-2] - 1
    if size <= 0:
        return torch.zeros_like(vectors), torch.zeros_like(vectors[..., 0])
    mean = vectors.mean(-2, keepdim=True)
    centred = vectors - mean
    squares = (centred**2).sum(-1)
    # The centred vectors sum to zero, so those without i sum to −z_i.
    spread = (leave_one_out_sum(squares) - squares / size).clamp(min=0)
    return drawn * (mean - centred / size), _variance_factor(drawn, size) * spread


def _variance_factor(drawn: int, size: int) -> float:
    """N(L − N)/(L(L − 1)): how the spread of `size` vectors shows in the sum of `drawn` of them."""
    return drawn * (size - drawn) / (size * (size - 1)) if 0 < drawn < size else 0.0


def appendix(weights: PerKey, vectors: Vectors, n: int) -> PerRow:
    """Eq. (24): (L−N)/L Σ‖(1 + ν)y_i − νx̄‖, a lower bound on E."""
    length = weights.shape[-1]
    centre, _ = conditional_moments(weights, vectors, n)
    return (length - n) / length * centre.sum(-1)


def sandwich(weights: PerKey, vectors: Vectors, n: int) -> tuple[PerRow, PerRow]:
    """(n/L)Σ‖m_i‖ ≤ E ≤ (n/L)Σ√(‖m_i‖² + V_i)."""
    length = weights.shape[-1]
    centre, variance = conditional_moments(weights, vectors, n)
    left_out = (length - n) / length
    return left_out * centre.sum(-1), left_out * (centre**2 + variance).sqrt().sum(-1)


def stratified_sandwich(
    weights: PerKey, vectors: Vectors, n: int, strata: int = 2
) -> tuple[PerRow, PerRow]:
    """The sandwich, conditioned on which of the `strata` heaviest keys (largest ‖y‖) were drawn."""
    check_n(n, weights)
    check_whole("strata", strata, 0)
    length = weights.shape[-1]
    y = weighted(weights, vectors)
    order = top_n_indices(y.norm(dim=-1), length)
    y = y.gather(-2, order[..., None].expand(y.shape))
    strata = min(strata, length)
    heavy, light = y[..., :strata, :], y[..., strata:, :]
    lower = torch.zeros_like(weights[..., 0])
    upper = torch.zeros_like(lower)
    subsets = math.comb(length, n)
    for drawn in itertools.product([False, True], repeat=strata):
        rest = n - sum(drawn)
        if not 0 <= rest <= length - strata:
            continue
        probability = math.comb(length - strata, rest) / subsets
        flags = torch.tensor(drawn, device=y.device)
        fixed = (heavy * flags[:, None]).sum(-2)
        # A heavy key that was not drawn is certainly outside I ...
        mean, variance = _sum_of(light, rest)
        centre = (heavy - (fixed + mean)[..., None, :]).norm(dim=-1)[..., ~flags]
        case_lower = centre.sum(-1)
        case_upper = (centre**2 + variance[..., None]).sqrt().sum(-1)
        # ... a light one with the probability that the rest of the draw leaves it out.
        if length > strata:
            left_out = (length - strata - rest) / (length - strata)
            mean, variance = _sum_of_others(light, rest)
            centre = (light - fixed[..., None, :] - mean).norm(dim=-1)
            case_lower = case_lower + left_out * centre.sum(-1)
            case_upper = case_upper + left_out * (centre**2 + variance).sqrt().sum(-1)
        lower = lower + probability * case_lower
        upper = upper + probability * case_upper
    return lower, upper


def exact(weights: PerKey, vectors: Vectors, n: int) -> PerRow:
    """E by enumerating all N-subsets: the oracle for small L."""
    check_n(n, weights)
    length = weights.shape[-1]
    subsets = math.comb(length, n)
    if subsets > EXACT_LIMIT:
        raise ValueError(
            f"{length} keys have {subsets} subsets of size {n}, more than {EXACT_LIMIT}: "
            "use sandwich, stratified_sandwich or monte_carlo"
        )
    total = torch.zeros_like(weights[..., 0])
    for subset in itertools.combinations(range(length), n):
        selected = torch.zeros_like(weights, dtype=torch.bool)
        selected[..., list(subset)] = True
        total = total + distance(weights, vectors, selected)
    return total / subsets


def monte_carlo(
    weights: PerKey,
    vectors: Vectors,
    n: int,
    draws: int = 1000,
    generator: torch.Generator | None = None,
) -> tuple[PerRow, PerRow]:
    """Mean of d̃ over random N-subsets, and its standard error.

    With a sink the standard error misleads: the rare draws that carry the mean may be missing.
    Prefer `stratified_sandwich` there.
    """
    check_n(n, weights)
    check_whole("draws", draws, 1)
    length = weights.shape[-1]
    samples = []
    for _ in range(draws):
        chosen = torch.randperm(length, generator=generator, device=weights.device)[:n]
        selected = torch.zeros_like(weights, dtype=torch.bool)
        selected[..., chosen] = True
        samples.append(distance(weights, vectors, selected))
    values = torch.stack(samples)
    return values.mean(0), values.std(0) / math.sqrt(draws)
