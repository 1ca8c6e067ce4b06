"""One attention layer over a long context (arXiv 2510.05554): when do its outputs become one?

n tokens of norm 1 with ⟨θ_i, θ_j⟩ = ρ, and β = γ log n. A token attends to itself with the weight w
and to each other one with u = w·e^{−β(1−ρ)}, so A_i = (w−u)θ_i + uS with S = Σθ_k. Since
⟨θ_i, S⟩ = T and ‖S‖² = nT for T = 1 + (n−1)ρ,

    ‖A‖²/(w−u)² = N = 1 + 2qT + q²nT,  q = u/(w−u) = 1/(e^{β(1−ρ)} − 1)
    cos(A_i, A_j) = 1 − (1−ρ)/N                                        exact at every n

Limit for ρ > 0: qn → κ = lim n^{1−γ(1−ρ)}, which is ∞, 1 or 0, and T ~ nρ, so N → 1 + 2κρ + κ²ρ:
the cosine goes to 1 below γ = 1/(1−ρ), to 4ρ/(1+3ρ) there, and to ρ above.

ρ = 0 is not the limit ρ → 0 of this. There T = 1 and N = 1 + 2q + q²n with q ~ n^{−γ}, so the
threshold is γ = 1/2 and not 1, with the cosine 1/2 at it: with nothing in common S is √n long.
"""

import math


def output_cosine(tokens: int | float, cosine: float, gamma: float) -> float:
    """cos(A_i, A_j) for n = `tokens`, ρ = `cosine` and β = γ log n; n may be as large as 1e300."""
    _check(cosine, gamma)
    if not tokens >= 2:
        raise ValueError(f"an output cosine needs at least 2 tokens, got {tokens:g}")
    fall = gamma * (1 - cosine) * math.log(tokens)
    shared = 1 + (tokens - 1) * cosine
    # q can be 1e-300 while n is 1e300: only their product has a size.
    q = 1 / math.expm1(fall) if fall < 700 else 0.0
    reach = 2 * q * shared + (q * tokens) * (q * shared)
    return 1 - (1 - cosine) / (1 + reach)


def threshold(cosine: float) -> float:
    """The γ at which the limit jumps: 1/(1−ρ), and 1/2 for orthogonal tokens."""
    _check(cosine, 1.0)
    return 1 / (1 - cosine) if cosine > 0 else 0.5


def limit(cosine: float, gamma: float) -> float:
    """The output cosine as n → ∞."""
    if cosine > 0:
        return limit_stated(cosine, gamma)
    critical = threshold(cosine)
    return 0.5 if math.isclose(gamma, critical, rel_tol=1e-12) else float(gamma < critical)


def limit_stated(cosine: float, gamma: float) -> float:
    """The same with 1/(1−ρ) as the threshold for every ρ, 0 included."""
    _check(cosine, gamma)
    critical = 1 / (1 - cosine)
    if math.isclose(gamma, critical, rel_tol=1e-12):
        return 4 * cosine / (1 + 3 * cosine)
    return 1.0 if gamma < critical else cosine


def _check(cosine: float, gamma: float) -> None:
    if not 0 <= cosine < 1:
        raise ValueError(f"long contexts need a cosine of at least 0 and below 1, got {cosine:g}")
    if not gamma > 0:
        raise ValueError(f"β = γ log n needs a γ above 0, got {gamma:g}")
