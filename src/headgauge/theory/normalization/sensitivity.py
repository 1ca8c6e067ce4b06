"""Corollary 3: the Jacobian of softmax, C(p)/T with C(p) = diag(p) − ppᵀ, and its norm.

Paper → code: α = p → `weights`, T → `temperature`, ‖∇α‖₂ → `spectral_norm`.

As printed, ‖∇α‖₂ ≤ min{1/(4T), √2}. Both halves are false: two equal logits give exactly
1/(2T), and at T = 0.1 that is 5 > √2. Corrected: ‖∇α‖₂ ≤ 1/(2T), sharp.

Proof. Let σ_k = Σ p_i^k. Then ‖C‖_F² = σ₂ − 2σ₃ + σ₂², and Cauchy–Schwarz gives σ₃ ≥ σ₂², so
‖C‖_F² ≤ σ₂(1 − σ₂) ≤ 1/4 and λ₁(C) ≤ ‖C‖_F ≤ 1/2, with equality at p = (½, ½, 0, …). The
printed 1/4 is the largest possible *entry* of C, and √2 is a cap on ‖α − α′‖, not on a derivative.

1/(2T) is the worst case, reached at ties. A typical row does not follow it: if the gap G of the two
largest logits has a density f near 0, then E‖∇α‖₂ → f(0) as T → 0. Proof. For T → 0 only the two
largest weights remain, where ‖∇α‖₂ = (2/T)·σ(G/T)(1 − σ(G/T)) with σ the logistic function. Its
mean ∫ (2/T) σ(1 − σ)(g/T) f(g) dg tends to 2f(0) ∫₀^∞ σ(1 − σ) = 2f(0)(1 − ½).

Rows that sum to less than one, as under softmax-1 or a sink, are the same matrix with a key left
out, whose weight is the missing mass; everything here holds for them too. A sum above one is NaN.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from headgauge.theory.checks import PerKey, PerRow, check_keys, check_positive, check_whole
from headgauge.theory.normalization.selection import leave_one_out_sum, missing_mass


class Secular(NamedTuple):
    """The root λ = p₂ + ν of the secular equation, kept in the parts that do not cancel."""

    ordered: Tensor  # p₁ ≥ p₂ ≥ …
    order: Tensor  # the keys in that order
    nu: Tensor  # ν = λ − p₂
    below: Tensor  # p₁ − λ = (p₁ − p₂) − ν


def solve_secular(weights: PerKey, missing: PerRow | None = None) -> Secular:
    """Largest eigenvalue of diag(p) − ppᵀ by Newton's method on a function without poles.

    λ is the zero of Σ p_i/(p_i − λ) between p₂ and p₁. With λ = p₂ + ν, g = p₁ − p₂ and
    δ_i = p₂ − p_i it is the zero in [0, g] of

        f(ν) = (g − ν) Σ_{i≥2} p_i ν/(ν + δ_i) − p₁ν,

    which is concave and has no poles there, so Newton's steps from the right go down to it without
    ever crossing it. Each step is O(keys); five are usual. Nothing is subtracted from a number of
    its own size, so a nearly one-hot row keeps its digits.

    Weights that sum to 1 − c act as if a key that carries c but does not count had been left out:
    c·ν/(ν + p₂) joins the sum. `missing` gives c where it is known better than as 1 − Σp.
    """
    check_keys(weights)
    missing = missing_mass(weights) if missing is None else missing.to(weights.dtype)
    ordered, order = torch.sort(weights, dim=-1, descending=True, stable=True)
    first, rest = ordered[..., 0], ordered[..., 1:]
    if rest.shape[-1] == 0:
        rest = torch.zeros_like(ordered)
    second = rest[..., 0]
    gap = first - second
    below_second = second[..., None] - rest
    mass = torch.cat([rest, missing[..., None]], dim=-1)
    offset = torch.cat([below_second, second[..., None]], dim=-1)

    # Gershgorin's 2p₁(1 − p₁) is to the right of λ and of its size; starting from g ≈ 1 next to a
    # root near 1e-18 would lose that root in the first subtraction.
    start = (2 * first * mass.sum(-1) - second) * (1 + 8 * torch.finfo(gap.dtype).eps)
    nu = gap.minimum(start.clamp(min=0))
    for _ in range(100):
        shifted = nu[..., None] + offset
        safe = torch.where(shifted > 0, shifted, 1.0)
        # ν/(ν + 0) is 1, also in the limit ν → 0.
        share = torch.where(offset > 0, nu[..., None] / safe, 1.0)
        total = (mass * share).sum(-1)
        # Not mass·offset/safe²: next to a one-hot row the square is below the smallest number.
        slope = torch.where(offset > 0, (mass / safe) * (offset / safe), 0.0).sum(-1)
        value = (gap - nu) * total - first * nu
        derivative = -total + (gap - nu) * slope - first
        step = torch.where(derivative < 0, value / derivative, 0.0)
        updated = (nu - step).clamp(min=0).minimum(gap)
        if bool(((nu - updated).abs() <= 4 * torch.finfo(nu.dtype).eps * (nu + second)).all()):
            nu = updated
            break
        nu = updated
    return Secular(ordered, order, nu, gap - nu)


def largest_eigenvalue(weights: PerKey, missing: PerRow | None = None) -> PerRow:
    """λ₁ of diag(p) − ppᵀ, exact to rounding, in O(keys) per row after a sort."""
    if weights.shape[-1] == 1:
        # One key: the matrix is p − p² = p·c, and the secular equation has nothing to bracket.
        missing = missing_mass(weights) if missing is None else missing.to(weights.dtype)
        return weights[..., 0] * missing
    solved = solve_secular(weights, missing)
    return solved.ordered[..., 1] + solved.nu


def spectral_norm(weights: PerKey, temperature: float = 1.0) -> PerRow:
    """‖∇α‖₂ of softmax at the rows `weights`: λ₁(C(p))/T."""
    return largest_eigenvalue(weights) / temperature


def leading_direction(weights: PerKey) -> PerKey:
    """The unit eigenvector of λ₁: the perturbation of the logits to which a row reacts most.

    Its entries are p_i/(p_i − λ). At a tie of the two largest weights it is (1, −1)/√2 on them;
    a one-hot row does not react to any direction and gets the same one.
    """
    solved = solve_secular(weights)
    ordered, nu, below = solved.ordered, solved.nu, solved.below
    if ordered.shape[-1] == 1:
        return torch.ones_like(weights)
    offset = ordered[..., 1:2] - ordered[..., 1:]
    degenerate = (below <= 0) | (nu <= 0)
    # Scaled by (p₁ − λ)·ν, which keeps every entry finite.
    head = ordered[..., :1] * nu[..., None]
    shifted = nu[..., None] + offset
    share = torch.where(offset > 0, nu[..., None] / torch.where(shifted > 0, shifted, 1.0), 1.0)
    tail = -ordered[..., 1:] * share * below[..., None]
    vector = torch.cat([head, tail], dim=-1)
    pair = torch.zeros_like(vector)
    pair[..., 0], pair[..., 1] = 1.0, -1.0
    vector = torch.where(degenerate[..., None], pair, vector)
    vector = vector / vector.abs().amax(-1, keepdim=True)
    vector = vector / vector.norm(dim=-1, keepdim=True)
    return torch.zeros_like(vector).scatter(-1, solved.order, vector)


def frobenius_norm(weights: PerKey, temperature: float = 1.0) -> PerRow:
    """‖∇α‖_F as a sum of non-negative terms.

    Σ p_i² [(1 − p_i)² + Σ_{j≠i} p_j²], with q = 1 − p₁ taken out so that squares of what is left
    beside a one-hot entry do not vanish. The textbook σ₂ − 2σ₃ + σ₂² has no digits left there.
    """
    first, rest, q = _largest_and_rest(weights)
    scaled = torch.where(q[..., None] > 0, rest / q[..., None], 0.0)
    complement = first[..., None] + q[..., None] - rest
    own = (scaled**2 * complement**2).sum(-1)
    pairs = (scaled**2 * leave_one_out_sum(rest**2)).sum(-1) if rest.shape[-1] else 0.0
    with_first = 2 * first**2 * (scaled**2).sum(-1)
    return q * (first**2 + own + with_first + pairs).sqrt() / temperature


def _largest_and_rest(weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """p₁, the others in falling order, and 1 − p₁ as the sum of all that is not p₁."""
    check_keys(weights)
    ordered = torch.sort(weights, dim=-1, descending=True, stable=True).values
    first, rest = ordered[..., 0], ordered[..., 1:]
    return first, rest, rest.sum(-1) + missing_mass(weights)


def closed_lower_bound(weights: PerKey, temperature: float = 1.0) -> PerRow:
    """The best of four closed lower bounds on ‖∇α‖₂.

    p₁(1 − p₁) and (p₁ + p₂ − (p₁ − p₂)²)/2 are Rayleigh quotients of e₁ and (e₁ − e₂)/√2, p₂ is
    interlacing, and p₁√((1 − p₁)² + Σ_{i≥2} p_i²) is ‖Ce₁‖. 1 − p₁ is the sum of the rest.
    """
    first, rest, q = _largest_and_rest(weights)
    second = rest[..., 0] if rest.shape[-1] else torch.zeros_like(first)
    spread = torch.where(q[..., None] > 0, rest / q[..., None], 0.0)
    candidates = torch.stack(
        [
            first * q,
            second,
            (first * q + second * (1 - second) + 2 * first * second) / 2,
            first * q * (1 + (spread**2).sum(-1)).sqrt(),
        ]
    )
    return candidates.amax(0) / temperature


def closed_upper_bound(weights: PerKey, temperature: float = 1.0) -> PerRow:
    """min{p₁, 2p₁(1 − p₁)}/T, which is at most 1/(2T): C is below diag(p), and Gershgorin."""
    first, _, q = _largest_and_rest(weights)
    return torch.minimum(first, 2 * first * q) / temperature


def corollary_3_printed(temperature: float) -> float:
    """Corollary 3 as printed: min{1/(4T), √2}. False."""
    check_positive("temperature", temperature)
    return min(1 / (4 * temperature), math.sqrt(2))


def corollary_3(temperature: float) -> float:
    """Corollary 3 corrected: 1/(2T), attained by two equal logits."""
    check_positive("temperature", temperature)
    return 1 / (2 * temperature)


def example_first_order_printed(epsilon: float, temperature: float) -> float:
    """Section 2.3's estimate √2·ε/T for the swap of two nearly equal top logits. False."""
    check_positive("temperature", temperature)
    return math.sqrt(2) * epsilon / temperature


def example_first_order(length: int, a: float, epsilon: float, temperature: float) -> float:
    """The same first-order change, exactly.

    At ℓ = (0, …, 0, a, a), and the change (2ε, −ε) of its last two logits, with p the weight of
    each of the two and q that of each other token,

        ‖C(p)Δ‖/T = p √((2 − p)² + (1 + p)² + (L − 2) q²) ε/T → 3/(2√2) ε/T as a/T → ∞.
    """
    check_whole("length", length, 2)
    check_positive("temperature", temperature)
    scale = math.exp(-a / temperature)
    total = 2 + (length - 2) * scale
    p, q = 1 / total, scale / total
    root = math.sqrt((2 - p) ** 2 + (1 + p) ** 2 + (length - 2) * q**2)
    return p * root * epsilon / temperature
