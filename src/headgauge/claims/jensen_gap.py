"""Rows 5 to 5'': the error term of Theorem 1.2."""

from collections import defaultdict

import torch
from torch import Tensor

from headgauge.claims.expected_distance import enumerations, moments_are_exact
from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import Draws, close, doubles, flat, flat_ones, orthonormal, violated
from headgauge.theory.normalization import expected_distance, jensen_gap


def _gaps() -> dict[str, Tensor]:
    """The gap of small rows to eq. (24) and to the main text, and every bound on it."""
    columns = defaultdict(list)
    for row, truth in enumerations():
        alpha, _, n = row
        if n == alpha.shape[-1] - 1:
            continue  # The gap is zero there and no ratio exists.
        columns["gap"].append(truth - expected_distance.appendix(*row))
        columns["main"].append((truth - expected_distance.printed(*row)).abs())
        columns["printed"].append(jensen_gap.printed(*row))
        columns["appendix"].append(jensen_gap.appendix(*row))
        columns["corrected"].append(jensen_gap.corrected(*row))
    return {name: torch.cat(values) for name, values in columns.items()}


def _corrected_holds(gaps: dict[str, Tensor]) -> bool:
    """It is a bound, of the gap's size, and of orthonormal vectors it is the gap itself."""
    return (
        violated(gaps["gap"], gaps["corrected"]) == 0
        and _median_ratio(gaps, "corrected") < 3
        and _corrected_is_attained()
    )


def _corrected_is_attained() -> bool:
    row = *orthonormal(6), 2
    gap = expected_distance.exact(*row) - expected_distance.appendix(*row)
    return close(jensen_gap.corrected(*row), gap) and moments_are_exact()


def _median_ratio(gaps: dict[str, Tensor], bound: str) -> float:
    return (gaps[bound] / gaps["gap"])[gaps["gap"] > 1e-9].median().item()


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
    nested = violated(gaps["corrected"], gaps["printed"])
    # By hand for L = 5, N = 2: ν = ½, ‖m_i‖ = .2 and ½·(3/5)·5·½·(4/25)/.2; and for L = 2, N = 1:
    # ν = 1, y = ½ and 1, and ½·½·(1 + ¼)/½.
    five = jensen_gap.printed(*flat_ones(5), 2)
    two = jensen_gap.printed(flat(2), doubles([[1.0], [2.0]]), 1)
    return Finding(
        printed=as_printed == 0,
        conditional=to_24 == 0 and close([five, two], [0.6, 0.625]),
        corrected=nested == 0 and _corrected_holds(gaps),
        numbers={
            "violations as the gap to the main-text expression": as_printed,
            "violations as the gap to eq. (24)": to_24,
            "printed bound over true gap, median": _median_ratio(gaps, "printed"),
            "corrected bound over true gap, median": _median_ratio(gaps, "corrected"),
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
    broken, ratio = violated(gaps["gap"], gaps["appendix"]), _median_ratio(gaps, "appendix")
    return Finding(
        # By hand for L = 5, N = 2: what row 5 has, times (L−1)(L−N−1).
        printed=broken == 0 and close(jensen_gap.appendix(*flat_ones(5), 2), 4.8),
        informative=not ratio > 10,
        corrected=_corrected_holds(gaps),
        numbers={
            "violations": broken,
            "eq. (25) over true gap, median for L <= 6": ratio,
            "corrected bound over true gap, median": _median_ratio(gaps, "corrected"),
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
    draw, alpha = Draws(7), flat(300)
    x = draw.sphere(300, 64)

    def row(vectors: Tensor) -> tuple[Tensor, Tensor, float, float]:
        """E and its standard error, eq. (24) and the mean of V/m²."""
        mean, error = expected_distance.monte_carlo(alpha, vectors, 5, 200, draw.source)
        centre, variance = expected_distance.conditional_moments(alpha, vectors, 5)
        lower = expected_distance.appendix(alpha, vectors, 5)
        return mean, error, lower.item(), (variance / centre**2).mean().item()

    mean, error, lower, ratio = row(x)
    near, _, near_lower, near_ratio = row(x * 0.05 + torch.eye(64, dtype=torch.float64)[0])
    return Finding(
        printed=not (mean - 4 * error).item() > 2 * lower,
        corrected=near.item() < 1.01 * near_lower
        and near_ratio < 0.01
        and ratio > 1
        and _corrected_is_attained(),
        numbers={
            "E, flat weights, isotropic x, L=300, N=5 (Monte Carlo)": mean.item(),
            "its standard error": error.item(),
            "eq. (24) there": lower,
            "V/m^2 there": ratio,
            "E over eq. (24) for nearly parallel x": (near / near_lower).item(),
            "V/m^2 for nearly parallel x": near_ratio,
        },
    )
