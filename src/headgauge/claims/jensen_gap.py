"""Rows 5 to 5'': the error term of Theorem 1.2."""

import torch

from headgauge.claims.expected_distance import enumerations, moments_are_exact
from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import (
    close,
    flat,
    flat_ones,
    generator,
    orthonormal,
    sphere,
    violated,
)
from headgauge.theory.normalization import expected_distance, jensen_gap


def _gaps() -> dict[str, torch.Tensor]:
    columns: dict[str, list[torch.Tensor]] = {}
    for weights, vectors, n, truth in enumerations():
        if n == weights.shape[-1] - 1:
            continue  # The gap is zero there and no ratio exists.
        forms = {
            "gap": truth - expected_distance.appendix(weights, vectors, n),
            "main": (truth - expected_distance.printed(weights, vectors, n)).abs(),
            "printed": jensen_gap.printed(weights, vectors, n),
            "appendix": jensen_gap.appendix(weights, vectors, n),
            "corrected": jensen_gap.corrected(weights, vectors, n),
        }
        for name, value in forms.items():
            columns.setdefault(name, []).append(value)
    return {name: torch.cat(values) for name, values in columns.items()}


def _corrected_is_attained() -> bool:
    """Orthonormal vectors have a gap that is the corrected bound itself."""
    alpha, x = orthonormal(6)
    gap = expected_distance.exact(alpha, x, 2) - expected_distance.appendix(alpha, x, 2)
    return close(jensen_gap.corrected(alpha, x, 2), gap) and moments_are_exact()


def _median_ratio(bound: torch.Tensor, gap: torch.Tensor) -> float:
    return (bound / gap)[gap > 1e-9].median().item()


@claim("5", "Theorem 1.2, bound on ε", Verdict.CONDITION)
def error_term() -> Finding:
    """ε ≤ ½(1−N/L) Σ_i ν Σ_{j≠i}‖α_j x_j‖² / ‖α_i x_i − ν Σ_{j≠i}α_j x_j‖ with ν = N/(L−1).

    True and loose as the gap between E and eq. (24); false as the gap to the main-text expression.
    Infinite where a denominator vanishes.

    ε ≤ (L−N)/L Σ(√(‖m_i‖²+V_i) − ‖m_i‖): smaller, never infinite.

    In theory.normalization.jensen_gap: printed, corrected.
    """
    gaps = _gaps()
    as_printed = violated(gaps["main"], gaps["printed"])
    to_24 = violated(gaps["gap"], gaps["printed"])
    corrected = violated(gaps["gap"], gaps["corrected"])
    nested = violated(gaps["corrected"], gaps["printed"])
    # By hand for L = 5, N = 2: ν = ½, ‖m_i‖ = .2 and ½·(3/5)·5·½·(4/25)/.2.
    by_hand = jensen_gap.printed(*flat_ones(5), 2)
    # For L = 2, N = 1: ν = 1, y = ½ and 1, and ½·½·(1 + ¼)/½.
    pair = flat(2), torch.tensor([[1.0], [2.0]]).double()
    two = jensen_gap.printed(*pair, 1)
    return Finding(
        printed=as_printed == 0,
        conditional=to_24 == 0 and close(by_hand, 0.6) and close(two, 0.625),
        corrected=corrected == nested == 0
        and _median_ratio(gaps["corrected"], gaps["gap"]) < 3
        and _corrected_is_attained(),
        numbers={
            "violations as the gap to the main-text expression": as_printed,
            "violations as the gap to eq. (24)": to_24,
            "printed bound over true gap, median": _median_ratio(gaps["printed"], gaps["gap"]),
            "corrected bound over true gap, median": _median_ratio(gaps["corrected"], gaps["gap"]),
        },
    )


@claim("5'", "Appendix A, eq. (25)", Verdict.VACUOUS)
def error_term_25() -> Finding:
    """ε_i ≤ ½ N(L−N−1) Σ_{j≠i}‖α_j x_j‖² / ‖α_i x_i − s_i‖.

    Lacks 1/((L−1)(L−2)), so it is about L² times too large, and s_i is not defined.

    As for 5.

    In theory.normalization.jensen_gap: appendix, corrected.
    """
    gaps = _gaps()
    ratio = _median_ratio(gaps["appendix"], gaps["gap"])
    return Finding(
        # By hand for L = 5, N = 2: what row 5 has, times (L−1)(L−N−1).
        printed=violated(gaps["gap"], gaps["appendix"]) == 0
        and close(jensen_gap.appendix(*flat_ones(5), 2), 4.8),
        informative=not ratio > 10,
        corrected=violated(gaps["gap"], gaps["corrected"]) == 0
        and _median_ratio(gaps["corrected"], gaps["gap"]) < 3
        and _corrected_is_attained(),
        numbers={
            "violations": violated(gaps["gap"], gaps["appendix"]),
            "eq. (25) over true gap, median for L <= 6": ratio,
            "corrected bound over true gap, median": _median_ratio(gaps["corrected"], gaps["gap"]),
        },
    )


@claim("5''", "After Theorem 1", Verdict.FALSE)
def small_when_not_concentrated() -> Finding:
    """ε is small whenever the weights are not too concentrated.

    Flat weights and isotropic vectors, the least concentrated case of all: E is more than twice eq.
    (24).

    ε is small when V_i ≪ ‖m_i‖²: for N > 1, nearly parallel vectors, whatever the weights.

    In theory.normalization.jensen_gap: corrected; in theory.normalization.expected_distance:
    conditional_moments.
    """
    source = generator(7)
    length, n = 300, 5
    alpha = flat(length)
    x = sphere(length, 64, source=source)
    mean, error = expected_distance.monte_carlo(alpha, x, n, draws=200, generator=source)
    lower = expected_distance.appendix(alpha, x, n)
    centre, variance = expected_distance.conditional_moments(alpha, x, n)
    parallel = x * 0.05 + torch.eye(64, dtype=torch.float64)[0]
    near, _ = expected_distance.monte_carlo(alpha, parallel, n, draws=200, generator=source)
    near_lower = expected_distance.appendix(alpha, parallel, n)
    near_centre, near_variance = expected_distance.conditional_moments(alpha, parallel, n)
    return Finding(
        printed=not (mean - 4 * error).item() > 2 * lower.item(),
        corrected=near.item() < 1.01 * near_lower.item()
        and (near_variance / near_centre**2).mean().item() < 0.01
        and (variance / centre**2).mean().item() > 1
        and _corrected_is_attained(),
        numbers={
            "E, flat weights, isotropic x, L=300, N=5 (Monte Carlo)": mean.item(),
            "its standard error": error.item(),
            "eq. (24) there": lower.item(),
            "V/m^2 there": (variance / centre**2).mean().item(),
            "E over eq. (24) for nearly parallel x": (near / near_lower).item(),
            "V/m^2 for nearly parallel x": (near_variance / near_centre**2).mean().item(),
        },
    )
