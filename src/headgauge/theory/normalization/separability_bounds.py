"""Theorem 2 corrected: what can be said of N_s/N under Assumption 1.

Assumption 1: x_i iid uniform on the sphere of radius M in R^d, independent of the weights.
Paper → code: X_i = ‖α_i x_i − s‖, M → `sphere_radius`, d → `dim`.

For a fixed r (`fixed_radius_bounds`). With A_i = Σ_{j≠i} α_j² and A4_i = Σ_{j≠i} α_j⁴ over the
selected keys, E X_i² = M²A_i and Var X_i² = v_i = (2M⁴/d)(A_i² − A4_i), both exact: X_i² is M²A_i
plus Σ_{j≠k} α_jα_k⟨x_j, x_k⟩, whose terms are uncorrelated with E⟨x_j, x_k⟩² = M⁴/d. Jensen and
Hölder (E X² ≤ (E X)^{2/3} (E X⁴)^{1/3}) bracket the mean: μ_i = M√A_i/√(1 + v_i/(M⁴A_i²)) ≤ E X_i ≤
M√A_i; at d = 1 with two equal weights, where X_i is 0 or 2α, the left side is the mean itself. As a
function of the selected points, X_i has the Lipschitz constant √A_i, and the product of their
spheres inherits the log-Sobolev constant (d − 1)/M² of one sphere (a known fact, cited and not
proved here). Herbst's argument and Cantelli's inequality then give

    P(X_i ≤ r) ≤ min{ exp(−(d−1)(μ_i − r)₊²/(2M²A_i)),  v_i/(v_i + (M²A_i − r²)₊²) },
    P(X_i ≤ r) ≥ max{ 1{r ≥ ξ_i},  1 − exp(−(d−1)(r − M√A_i)₊²/(2M²A_i)),
                      1 − v_i/(v_i + (r² − M²A_i)₊²) }.

How sharp. For Lipschitz functions in general no multiple of (d − 1)/M² will do for all d: a
coordinate of one vector has the Lipschitz constant 1 and exceeds t with the probability
1 − F_d(t/M), whose exponent tends to dt²/(2M²). X_i is not the worst of them: its variance is about
M²A_i/(2d) or less. For many flat weights (X_i ≈ M√(A_i/d)·χ_d) four times the constant fails at
probabilities of a few per cent, and twice the constant only in the upper tail, below 1e−9.

For the paper's own random r = min_{j∉I}‖α_j x_j − s‖ (`expected_count_given_selected`). Given the
selected vectors, the unselected ones are still uniform, and ‖α_j x_j − s‖ ≥ X_i is a cap: the
cosine of x_j and s is at most c_ij = (‖s‖² + α_j²M² − X_i²)/(2α_jM‖s‖). Independence over j gives

    E[N_s | x_I] = Σ_{i∈I} Π_{j∉I} F_d(c_ij),   F_d(c) = ½(1 + sgn(c) I_{c²}(½, (d−1)/2)),   d ≥ 2.

What N_s/N is (`flat_weight_law`). For flat weights and N > 1 it is about E Φ(√(d/N) − max of L−N
normals): an approximation, not a theorem. Its transition lies near N = d/(2 ln L), and 80 % is one
point on the way.
"""

import math

import numpy as np
import torch
from jaxtyping import Float
from scipy import special
from torch import Tensor

from headgauge.theory.checks import PerKey, PerRow, Selected, Vectors, check_whole, is_whole
from headgauge.theory.normalization.distance import distances_to_context
from headgauge.theory.normalization.selection import context_vector, leave_one_out_sum
from headgauge.theory.normalization.separability import xi


def fixed_radius_probabilities(
    weights: PerKey, selected: Selected, r: float, dim: int, sphere_radius: float = 1.0
) -> tuple[PerKey, PerKey]:
    """Lower and upper bounds on P(X_i ≤ r) for each selected key, r fixed; zero elsewhere."""
    square, variance = square_moments(weights, selected, dim, sphere_radius)
    lowest_mean, highest_mean = mean_bounds(square, variance)
    # X_i is √A_i-Lipschitz, and M²A_i is its mean square.
    alone = square == 0
    safe = torch.where(alone, 1.0, square) / sphere_radius**2
    above, below = (
        deviation_bound(gap, safe, dim, sphere_radius)
        for gap in (r - highest_mean, lowest_mean - r)
    )
    upper = torch.minimum(below, cantelli(square - r**2, variance))
    # δ = 0: to assume more would be to draw the vectors from another distribution.
    surely = (r >= xi(weights, selected, 0.0, sphere_radius)).to(weights.dtype)
    lower = torch.stack([surely, 1 - above, 1 - cantelli(r**2 - square, variance)]).amax(0)
    # N = 1: X_i is exactly zero.
    lower = torch.where(alone, 1.0, lower)
    upper = torch.where(alone, 1.0, upper)
    return lower * selected, upper * selected


def square_moments(
    weights: PerKey, selected: Selected, dim: int, sphere_radius: float = 1.0
) -> tuple[PerKey, PerKey]:
    """E X_i² = M²A_i and Var X_i² = (2M⁴/d)(A_i² − A4_i), both exact under Assumption 1."""
    check_whole("dim", dim, 1)
    chosen = weights * selected
    spread = leave_one_out_sum(chosen**2)  # A_i
    fourth = leave_one_out_sum(chosen**4)  # A4_i
    variance = 2 * sphere_radius**4 / dim * (spread**2 - fourth).clamp(min=0)
    return sphere_radius**2 * spread, variance


def mean_bounds(
    square: Float[Tensor, "*shape"], variance: Float[Tensor, "*shape"]
) -> tuple[Float[Tensor, "*shape"], Float[Tensor, "*shape"]]:
    """Hölder's lower and Jensen's upper bound on E X, from E X² and Var X²."""
    safe = torch.where(square > 0, square, 1.0)
    return square.sqrt() / (1 + variance / safe**2).sqrt(), square.sqrt()


def deviation_bound(
    gap: Float[Tensor, "*shape"],
    lipschitz_square: Float[Tensor, "*#shape"],
    dim: int,
    sphere_radius: float = 1.0,
) -> Float[Tensor, "*shape"]:
    """exp(−(d−1)t²/(2M²A)): how rarely a √A-Lipschitz function on spheres is t from its mean.

    One side, for independent uniform points on spheres of radius M in R^d; 1 for t ≤ 0.
    """
    check_whole("dim", dim, 1)
    exponent = (dim - 1) * gap.clamp(min=0) ** 2 / (2 * sphere_radius**2 * lipschitz_square)
    return torch.exp(-exponent)


def cantelli(
    gap: Float[Tensor, "*shape"], variance: Float[Tensor, "*#shape"]
) -> Float[Tensor, "*shape"]:
    """v/(v + t²): how rarely a variable is t above (or below) its mean; 1 for t ≤ 0."""
    reach = gap.clamp(min=0) ** 2
    return torch.where(reach > 0, variance / (variance + reach), 1.0)


def fixed_radius_bounds(
    weights: PerKey, selected: Selected, r: float, dim: int, sphere_radius: float = 1.0
) -> tuple[PerRow, PerRow]:
    """Lower and upper bound on E[N_s]/N for a fixed radius r under Assumption 1."""
    lower, upper = fixed_radius_probabilities(weights, selected, r, dim, sphere_radius)
    count = selected.sum(-1)
    return lower.sum(-1) / count, upper.sum(-1) / count


def cap_probability(cosine: Float[Tensor, "*shape"], dim: int) -> Float[Tensor, "*shape"]:
    """F_d(c): the probability that a uniform direction in R^d has cosine ≤ c with a fixed one."""
    if not is_whole(dim, 2):
        raise ValueError(f"F_d needs d >= 2 and whole (on a line a cosine is 1 or −1), got d={dim}")
    inside = cosine.clamp(-1, 1)
    share = special.betainc(0.5, (dim - 1) / 2, (inside**2).cpu().numpy())
    return 0.5 * (1 + torch.sign(inside) * torch.as_tensor(share).to(cosine))


def _cap_cosines(
    weights: Tensor, vectors: Tensor, selected: Tensor, sphere_radius: float
) -> Tensor:
    """c_ij for every pair of keys (i, j); ±∞ where ‖α_j x_j − s‖ does not depend on x_j."""
    context = context_vector(weights, vectors, selected).norm(dim=-1)
    own = distances_to_context(weights, vectors, selected)  # X_i
    numerator = (
        context[..., None, None] ** 2
        + (weights[..., None, :] * sphere_radius) ** 2
        - own[..., :, None] ** 2
    )
    denominator = 2 * weights[..., None, :] * sphere_radius * context[..., None, None]
    fixed = torch.where(numerator >= 0, math.inf, -math.inf)
    return torch.where(denominator > 0, numerator / denominator, fixed)


def expected_count_given_selected(
    weights: PerKey, vectors: Vectors, selected: Selected, sphere_radius: float = 1.0
) -> PerRow:
    """E[N_s | x_I] for the paper's random r and d ≥ 2; of `vectors` only the selected matter."""
    dim = vectors.shape[-1]
    outside = cap_probability(_cap_cosines(weights, vectors, selected, sphere_radius), dim)
    joint = torch.where(~selected[..., None, :], outside, 1.0).prod(-1)
    joint = torch.where(selected.sum(-1, keepdim=True) == 1, 1.0, joint)
    return (joint * selected).sum(-1)


def expected_count_lower_bound(
    weights: PerKey, vectors: Vectors, selected: Selected, sphere_radius: float = 1.0
) -> PerRow:
    """Σ_{i∈I} (1 − Σ_{j∉I} e^{−d(c_ij)₊²/2})₊ ≤ E[N_s | x_I], in elementary functions.

    By the union bound and the known estimate e^{−dc²/2} for the share of a sphere beyond cosine c.
    """
    dim = vectors.shape[-1]
    cosines = _cap_cosines(weights, vectors, selected, sphere_radius).clamp(min=0)
    # Beyond 1 the cap is empty; the exponential need not know.
    miss = torch.where(cosines >= 1, 0.0, torch.exp(-dim * cosines.clamp(max=1) ** 2 / 2))
    total = torch.where(~selected[..., None, :], miss, 0.0).sum(-1)
    return ((1 - total).clamp(min=0) * selected).sum(-1)


def flat_weight_law(length: int, n: int, dim: int, nodes: int = 400) -> float:
    """E Φ(√(d/N) − max of L−N standard normals): N_s/N for flat weights and N > 1, approximately.

    The maximum of k normals is Φ⁻¹(U^{1/k}) for a uniform U; the mean is a Gauss–Legendre sum in U.
    """
    if not (is_whole(n, 1) and is_whole(length, n + 1)):
        raise ValueError(f"the flat-weight law needs whole 0 < N < L, got N={n}, L={length}")
    check_whole("dim", dim, 1)
    check_whole("nodes", nodes, 1)
    points, gauss = np.polynomial.legendre.leggauss(nodes)
    uniform = (points + 1) / 2
    largest = special.ndtri_exp(np.log(uniform) / (length - n))
    return float(np.sum(gauss / 2 * special.ndtr(math.sqrt(dim / n) - largest)))
