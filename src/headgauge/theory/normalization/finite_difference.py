"""Algorithm 5: the finite-difference sensitivity g(T, ε) and what bounds it.

Paper → code: g → `sensitivity`, Δl = v → `direction`, the random direction of Algorithm 5 →
`random_direction`, the direction that tries hardest → `worst_sensitivity`.

The paper takes g along a random direction for ‖∇α‖₂. It is not: over a random unit v in R^D,
E‖∇α v‖² = ‖C‖_F²/(T²D), which shrinks with D (`mean_over_directions` has the exact mean).

Sharp bound at finite ε: g ≤ (√2/ε) tanh(ε/(2√2 T)), attained at L = 2. Proof. If the logits move
by ε·v/T with range R = max − min, then for every event q(A) ≤ P e^R/(P e^R + 1 − P), so the total
variation is at most tanh(R/4); ‖p − q‖₂ ≤ √2·TV and max v − min v ≤ √2‖v‖. The bound is at most
1/(2T) for small ε and √2/ε for large: the paper's √2 caps ‖α − α′‖, not its derivative.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.theory.checks import PerKey, PerRow, check_keys, check_positive, check_whole
from headgauge.theory.normalization.selection import missing_mass
from headgauge.theory.normalization.sensitivity import frobenius_norm, leading_direction


def sensitivity(
    logits: PerKey,
    direction: Float[Tensor, "*#rows keys"],
    epsilon: float,
    temperature: float = 1.0,
) -> PerRow:
    """g = ‖softmax((l + εv)/T) − softmax(l/T)‖₂/ε for a unit v."""
    change = change_of_weights(logits, epsilon * direction, temperature)
    return change.norm(dim=-1) / epsilon


def change_of_weights(
    logits: PerKey, step: Float[Tensor, "*#rows keys"], temperature: float = 1.0
) -> PerKey:
    """softmax((l + step)/T) − softmax(l/T) without subtracting one weight from another.

    Next to a one-hot row both weights of the winner are 1 to the last digit and their difference
    would be lost. With δ the step of each logit beyond the winner's, log p′ − log p is δ − c with
    c = log Σ p e^δ = log1p(Σ p (e^δ − 1)), and p′ − p follows from it by expm1.
    """
    check_keys(logits)
    log_base = torch.log_softmax(logits / temperature, -1)
    base = log_base.exp()
    winner = base.argmax(-1, keepdim=True)
    delta = (step / temperature).expand(base.shape)
    delta = delta - delta.gather(-1, winner)
    # For steps of many units the sum would overflow; nothing small is left to protect there.
    near = torch.log1p((base * torch.expm1(delta.clamp(max=30))).sum(-1, keepdim=True))
    far = torch.logsumexp(log_base + delta, -1, keepdim=True)
    ratio = delta - torch.where(delta.amax(-1, keepdim=True) > 30, far, near)
    larger = torch.exp(log_base + ratio.clamp(min=0))
    return larger * torch.expm1(-ratio.abs()) * -torch.sign(ratio)


def random_direction(logits: PerKey, generator: torch.Generator | None = None) -> PerKey:
    """A uniform unit vector per row, as Algorithm 5 draws it."""
    check_keys(logits)
    normal = torch.randn(
        logits.shape, dtype=logits.dtype, device=logits.device, generator=generator
    )
    return normal / normal.norm(dim=-1, keepdim=True)


def worst_sensitivity(logits: PerKey, epsilon: float, temperature: float = 1.0) -> PerRow:
    """g along ± the eigenvector of λ₁ at l: of the two directions, the one that moves α more."""
    direction = leading_direction(torch.softmax(logits / temperature, -1))
    return torch.maximum(
        sensitivity(logits, direction, epsilon, temperature),
        sensitivity(logits, -direction, epsilon, temperature),
    )


def sharp_bound(epsilon: float, temperature: float = 1.0) -> float:
    """(√2/ε) tanh(ε/(2√2 T)): the largest g over all logits and directions, attained at L = 2."""
    check_positive("epsilon", epsilon)
    check_positive("temperature", temperature)
    return math.sqrt(2) / epsilon * math.tanh(epsilon / (2 * math.sqrt(2) * temperature))


def direction_bound(direction: PerKey, epsilon: float, temperature: float = 1.0) -> PerRow:
    """(√2/ε) tanh(ε·(max v − min v)/(4T)): the same for a given direction."""
    check_keys(direction)
    check_positive("epsilon", epsilon)
    reach = direction.amax(-1) - direction.amin(-1)
    return math.sqrt(2) / epsilon * torch.tanh(epsilon * reach / (4 * temperature))


def root_mean_square_over_directions(
    weights: PerKey, temperature: float = 1.0, dim: int | None = None
) -> PerRow:
    """√E‖∇α v‖² = ‖C‖_F/(T√D) over unit v in R^D; D counts masked keys too if v covers them."""
    return frobenius_norm(weights, temperature) / math.sqrt(_size(weights, dim))


def mean_over_directions(
    weights: PerKey, temperature: float = 1.0, dim: int | None = None, nodes: int = 121
) -> PerRow:
    """E‖∇α v‖ over uniform unit v in R^D, exactly, by a one-dimensional integral.

    For a normal vector z, E‖Cz‖ = √(2/π) ∫₀^∞ (1 − det(I + θ²C²)^{−½}) θ^{−2} dθ, and a unit v
    divides that by E‖z‖ in R^D. The determinant is |det(I + iθC)|². With p₁ the largest weight and
    a_j = 1/(1 + θ²p_j²) it splits into terms that are all non-negative,

        log det = Σ_{j≥2} log(1 + θ²p_j²) + log(1 + 2Re w + |w|²),
        Re w = θ² Σ_{j≥2} p_j²(p₁ − p_j)a_j,   Im w = θ Σ_{j≥2} p_j(p₁ − p_j)a_j + θp₁(1 − Σp),

    so nothing cancels, not even next to a one-hot row. The trapezoid rule in log θ converges
    geometrically; beyond its ends the integrand is e^{±t} and the rest is a geometric series.
    """
    missing = missing_mass(weights)
    size = _size(weights, dim)
    check_whole("nodes", nodes, 2)
    ordered = torch.sort(weights, dim=-1, descending=True, stable=True).values
    first, rest = ordered[..., :1], ordered[..., 1:]
    scale = frobenius_norm(weights)
    unit = torch.where(scale == 0, 1.0, scale)

    low, high = math.log(1e-5), math.log(1e7)
    step = (high - low) / (nodes - 1)
    # θ = u/‖C‖_F itself overflows next to a one-hot row; its products with the weights do not.
    shares, missing_share = rest / unit[..., None], missing / unit
    total = torch.zeros_like(scale)
    for node in range(nodes):
        log_u = low + node * step
        u = math.exp(log_u)
        squared = (u * shares) ** 2
        damped = u * shares * (first - rest) / (1 + squared)
        real = (u * shares * damped).sum(-1)
        imaginary = damped.sum(-1) + u * first[..., 0] * missing_share
        log_det = torch.log1p(squared).sum(-1) + torch.log1p(2 * real + real**2 + imaginary**2)
        value = -torch.expm1(-0.5 * log_det) * math.exp(-log_u)
        total = total + value
        if node in (0, nodes - 1):
            total = total + value / math.expm1(step)
    mean = math.sqrt(2 / math.pi) * step * total * unit
    chi_mean = math.sqrt(2) * math.exp(math.lgamma((size + 1) / 2) - math.lgamma(size / 2))
    return torch.where(scale == 0, 0.0, mean / chi_mean / temperature)


def _size(weights: Tensor, dim: int | None) -> int:
    """D, the keys of a row unless it is told."""
    if dim is None:
        return weights.shape[-1]
    check_whole("dim", dim, 1)
    return dim
