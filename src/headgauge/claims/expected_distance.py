"""Rows 4 to 5'': Theorem 1.2, the expectation over random sets and its error term."""

import math

import torch

from headgauge.claims.record import Claim, Finding, Verdict
from headgauge.claims.sampling import generator, highest, rows, sphere, violated
from headgauge.theory import expected_distance, jensen_gap

SMALL = tuple((length, n) for length in (3, 5, 7) for n in range(1, length))


def _enumerations():
    """Small rows for which E is known exactly."""
    source = generator(5)
    for length, n in SMALL:
        for alpha, x in rows(3, length, 3, source):
            yield alpha, x, n, expected_distance.exact(alpha, x, n)


def _flat_ones(length: int) -> tuple[torch.Tensor, torch.Tensor]:
    alpha = torch.full((length,), 1 / length, dtype=torch.float64)
    return alpha, torch.ones(length, 1, dtype=torch.float64)


def main_text() -> Finding:
    alpha, x = _flat_ones(10)
    exact = expected_distance.exact(alpha, x, 9).item()
    printed = expected_distance.printed(alpha, x, 9).item()
    epsilon = jensen_gap.printed(alpha, x, 9).item()
    ratios, widths, broken = [], [], 0
    for weights, vectors, n, truth in _enumerations():
        ratios.append(expected_distance.printed(weights, vectors, n) / truth)
        lower, upper = expected_distance.sandwich(weights, vectors, n)
        broken += violated(lower, truth) + violated(truth, upper)
        widths.append(upper / lower)
    ratio, width = torch.cat(ratios), torch.cat(widths).median().item()
    return Finding(
        printed=exact <= printed + epsilon,
        corrected=broken == 0 and width < 1.5,
        numbers={
            "E for L=10, N=9, flat, x=1": exact,
            "printed main term": printed,
            "printed bound on its error": epsilon,
            f"printed over exact in {len(ratio)} enumerations, smallest": ratio.min().item(),
            "the same, largest": ratio.max().item(),
            "violations of the sandwich": broken,
            "sandwich, upper over lower side, median": width,
        },
    )


def equation_24() -> Finding:
    broken, last = 0, []
    for weights, vectors, n, truth in _enumerations():
        lower = expected_distance.appendix(weights, vectors, n)
        broken += violated(lower, truth)
        if n == weights.shape[-1] - 1:
            last.append((truth - lower).abs() / truth)
    return Finding(
        printed=broken == 0,
        corrected=highest(last) < 1e-9,
        numbers={"violations": broken, "relative gap at N = L-1, where it is exact": highest(last)},
    )


def probability_left_out() -> Finding:
    length, n = 6, 2
    printed = (length - n) / n
    counted = math.comb(length - 1, n) / math.comb(length, n)
    return Finding(
        printed=abs(printed - counted) < 1e-12,
        corrected=abs((length - n) / length - counted) < 1e-12,
        numbers={"printed, L=6, N=2": printed, "counted": counted},
    )


def slides_square() -> Finding:
    source = generator(6)
    alpha, x = next(iter(rows(1, 6, 3, source)))
    exact = expected_distance.exact(alpha, 2 * x, 2) / expected_distance.exact(alpha, x, 2)
    slides = expected_distance.slides(alpha, 2 * x, 2) / expected_distance.slides(alpha, x, 2)
    eq24 = expected_distance.appendix(alpha, 2 * x, 2) / expected_distance.appendix(alpha, x, 2)
    return Finding(
        printed=abs(exact.item() - slides.item()) < 1e-9,
        corrected=abs(exact.item() - eq24.item()) < 1e-9,
        numbers={
            "factor on E when x doubles": exact.item(),
            "factor on the slides' expression": slides.item(),
        },
    )


def _gaps() -> dict[str, torch.Tensor]:
    columns: dict[str, list[torch.Tensor]] = {}
    for weights, vectors, n, truth in _enumerations():
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


def _median_ratio(bound: torch.Tensor, gap: torch.Tensor) -> float:
    return (bound / gap)[gap > 1e-9].median().item()


def error_term() -> Finding:
    gaps = _gaps()
    as_printed = violated(gaps["main"], gaps["printed"])
    to_24 = violated(gaps["gap"], gaps["printed"])
    corrected = violated(gaps["gap"], gaps["corrected"])
    nested = violated(gaps["corrected"], gaps["printed"])
    return Finding(
        printed=as_printed == 0,
        conditional=to_24 == 0,
        corrected=corrected == nested == 0 and _median_ratio(gaps["corrected"], gaps["gap"]) < 3,
        numbers={
            "violations as the gap to the main-text expression": as_printed,
            "violations as the gap to eq. (24)": to_24,
            "printed bound over true gap, median": _median_ratio(gaps["printed"], gaps["gap"]),
            "corrected bound over true gap, median": _median_ratio(gaps["corrected"], gaps["gap"]),
        },
    )


def error_term_25() -> Finding:
    gaps = _gaps()
    ratio = _median_ratio(gaps["appendix"], gaps["gap"])
    return Finding(
        printed=violated(gaps["gap"], gaps["appendix"]) == 0,
        informative=not ratio > 10,
        corrected=violated(gaps["gap"], gaps["corrected"]) == 0
        and _median_ratio(gaps["corrected"], gaps["gap"]) < 3,
        numbers={
            "violations": violated(gaps["gap"], gaps["appendix"]),
            "eq. (25) over true gap, median for L <= 7": ratio,
            "corrected bound over true gap, median": _median_ratio(gaps["corrected"], gaps["gap"]),
        },
    )


def small_when_not_concentrated() -> Finding:
    source = generator(7)
    length, n = 300, 5
    alpha = torch.full((length,), 1 / length, dtype=torch.float64)
    x = sphere(length, 64, source=source)
    mean, error = expected_distance.monte_carlo(alpha, x, n, draws=200, generator=source)
    lower = expected_distance.appendix(alpha, x, n)
    centre, variance = expected_distance.conditional_moments(alpha, x, n)
    parallel = x * 0.05 + torch.eye(64, dtype=torch.float64)[0]
    near, _ = expected_distance.monte_carlo(alpha, parallel, n, draws=200, generator=source)
    near_lower = expected_distance.appendix(alpha, parallel, n)
    near_centre, near_variance = expected_distance.conditional_moments(alpha, parallel, n)
    return Finding(
        printed=(mean - 4 * error).item() < 1.1 * lower.item(),
        corrected=near.item() < 1.01 * near_lower.item()
        and (near_variance / near_centre**2).mean().item() < 0.01
        and (variance / centre**2).mean().item() > 1,
        numbers={
            "E, flat weights, isotropic x, L=300, N=5 (Monte Carlo)": mean.item(),
            "its standard error": error.item(),
            "eq. (24) there": lower.item(),
            "V/m^2 there": (variance / centre**2).mean().item(),
            "E over eq. (24) for nearly parallel x": (near / near_lower).item(),
            "V/m^2 for nearly parallel x": (near_variance / near_centre**2).mean().item(),
        },
    )


CLAIMS = (
    Claim(
        id="4",
        where="Theorem 1.2, main text",
        statement="E = (L−N)/L Σ‖(α_i + N/(L−1))x_i − x̄‖ + ε with the printed bound on ε.",
        verdict=Verdict.FALSE,
        because="L = 10, N = 9, flat weights, x = 1: E = 0.8, the expression is 0.1 and ε ≤ 0.056.",
        corrected="The main term of eq. (24), (L−N)/L Σ‖(1+ν)α_i x_i − νx̄‖ with ν = N/(L−1), as "
        "a lower bound, and (L−N)/L Σ√(‖m_i‖²+V_i) above.",
        code=("theory.expected_distance.printed", "theory.expected_distance.sandwich"),
        check=main_text,
    ),
    Claim(
        id="4'",
        where="Appendix A, eq. (24)",
        statement="E = (L−N)/L Σ‖α_i(1+N/(L−1))x_i − N/(L−1) x̄‖ + ε.",
        verdict=Verdict.TRUE,
        because="By Jensen, with ε ≥ 0: a lower bound on E, exact at N = L−1. The '≈' of (19) and "
        "the '≤' of (26) are equalities.",
        corrected="As printed, read as E ≥ the main term.",
        code=("theory.expected_distance.appendix",),
        check=equation_24,
    ),
    Claim(
        id="4''",
        where="Appendix A, eq. (21)",
        statement="P(i ∉ I_N) = (L−N)/N.",
        verdict=Verdict.MISPRINT,
        because="L = 6, N = 2 would give a probability of 2.",
        corrected="(L−N)/L.",
        code=("theory.expected_distance.exact",),
        check=probability_left_out,
    ),
    Claim(
        id="4'''",
        where="Slides, Theorem 1",
        statement="The same expectation with squared norms.",
        verdict=Verdict.FALSE,
        because="E is of degree one in the vectors, the expression of degree two.",
        corrected="Norms, not squares, and eq. (24).",
        code=("theory.expected_distance.slides", "theory.expected_distance.appendix"),
        check=slides_square,
    ),
    Claim(
        id="5",
        where="Theorem 1.2, bound on ε",
        statement="ε ≤ ½(1−N/L) Σ_i ν Σ_{j≠i}‖α_j x_j‖² / ‖α_i x_i − ν Σ_{j≠i}α_j x_j‖ with "
        "ν = N/(L−1).",
        verdict=Verdict.CONDITION,
        because="True and loose as the gap between E and eq. (24); false as the gap to the "
        "main-text expression. Infinite where a denominator vanishes.",
        corrected="ε ≤ (L−N)/L Σ(√(‖m_i‖²+V_i) − ‖m_i‖): smaller, never infinite.",
        code=("theory.jensen_gap.printed", "theory.jensen_gap.corrected"),
        check=error_term,
    ),
    Claim(
        id="5'",
        where="Appendix A, eq. (25)",
        statement="ε_i ≤ ½ N(L−N−1) Σ_{j≠i}‖α_j x_j‖² / ‖α_i x_i − s_i‖.",
        verdict=Verdict.VACUOUS,
        because="Lacks 1/((L−1)(L−2)), so it is about L² times too large, and s_i is not defined.",
        corrected="As for 5.",
        code=("theory.jensen_gap.appendix", "theory.jensen_gap.corrected"),
        check=error_term_25,
    ),
    Claim(
        id="5''",
        where="After Theorem 1",
        statement="ε is small whenever the weights are not too concentrated.",
        verdict=Verdict.FALSE,
        because="Flat weights and isotropic vectors, the least concentrated case of all: E is more "
        "than twice eq. (24).",
        corrected="ε is small when V_i ≪ ‖m_i‖²: for N > 1, nearly parallel vectors, whatever the "
        "weights.",
        code=("theory.jensen_gap.corrected", "theory.expected_distance.conditional_moments"),
        check=small_when_not_concentrated,
    ),
)
