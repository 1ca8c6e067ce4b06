"""Rows 13 to 14': the example of section 2.3 and the finite differences of Algorithm 5."""

import math

import numpy as np
import torch
from scipy import integrate

from headgauge.claims.record import Claim, Finding, Verdict
from headgauge.claims.sampling import close, generator, highest, lowest, normal
from headgauge.theory.normalization import finite_difference, sensitivity


def swap_example() -> Finding:
    length, a, temperature, epsilon = 20, 40.0, 0.5, 1e-6
    first = torch.zeros(length, dtype=torch.float64)
    first[-2], first[-1] = a, a + epsilon
    second = torch.zeros(length, dtype=torch.float64)
    second[-2], second[-1] = a + 2 * epsilon, a
    change = torch.softmax(second / temperature, -1) - torch.softmax(first / temperature, -1)
    measured = torch.linalg.vector_norm(change).item() / (epsilon / temperature)
    formula = sensitivity.example_first_order(length, a, temperature, temperature)
    near = sensitivity.example_first_order(length, 1.0, 1.0, temperature)
    printed = sensitivity.example_first_order_printed(temperature, temperature)
    base = torch.zeros(length, dtype=torch.float64)
    base[-2:] = 1.0
    direction = torch.zeros(length, dtype=torch.float64)
    direction[-2], direction[-1] = 2.0, -1.0
    p = torch.softmax(base / temperature, -1)
    dense = (torch.diag(p) - torch.outer(p, p)) @ direction / temperature
    largest = math.sqrt(5) / 2
    return Finding(
        printed=not (close(printed, math.sqrt(2)) and printed > largest > measured + 0.01),
        corrected=close(measured, formula, 1e-5)
        and close(formula, 3 / (2 * math.sqrt(2)))
        and close(near, torch.linalg.vector_norm(dense)),
        numbers={
            "measured change over eps/T, a=40": measured,
            "exact first order": formula,
            "3/(2 sqrt 2)": 3 / (2 * math.sqrt(2)),
            "printed": printed,
            "largest possible, sqrt5/2": largest,
        },
    )


def _mean_is_its_integral() -> bool:
    """E‖Cv‖ by the eigenvalues of C, not its determinant; also for a row that sums to .9."""
    rows = torch.tensor([[0.7, 0.2, 0.1], [0.4, 0.3, 0.2]], dtype=torch.float64)
    for p, mean in zip(rows, finite_difference.mean_over_directions(rows, 2.0, 5), strict=True):
        squares = torch.linalg.eigvalsh(torch.diag(p) - torch.outer(p, p)).numpy() ** 2

        def integrand(log_u: float, squares: np.ndarray = squares) -> float:
            u = math.exp(log_u)
            return -math.expm1(-0.5 * float(np.log1p(u * u * squares).sum())) / u

        total = integrate.quad(integrand, -14.0, 22.0, limit=500)[0]
        # |z| of five normals has the mean √2 Γ(3)/Γ(5/2); T = 2.
        direct = math.sqrt(2 / math.pi) * total * math.gamma(2.5) / (2 * math.sqrt(2)) / 2
        if not close(mean / direct, 1.0, 1e-6):
            return False
    return True


def random_direction() -> Finding:
    source, temperature = generator(24), 0.5
    numbers: dict[str, float | int | str] = {}
    short, deviations = [], []
    for length in (64, 256):
        for sharpness in (1.0, 3.0):
            logits = sharpness * normal(length, source=source)
            alpha = torch.softmax(logits / temperature, -1)
            batch = logits.expand(4000, length)
            v = finite_difference.random_direction(batch, source)
            g = finite_difference.sensitivity(batch, v, 1e-5, temperature)
            norm = sensitivity.spectral_norm(alpha, temperature)
            mean = finite_difference.mean_over_directions(alpha, temperature)
            square = finite_difference.root_mean_square_over_directions(alpha, temperature) ** 2
            error = g.std().item() / math.sqrt(len(g))
            short.append(norm / g.mean())
            deviations.append((g.mean() - mean).abs() / error)
            square_error = (g**2).std().item() / math.sqrt(len(g))
            deviations.append(((g**2).mean() - square).abs() / square_error)
            numbers[f"norm over mean g, L={length}, logits of std {sharpness:g}"] = short[-1].item()
    pair = torch.zeros(1024, dtype=torch.float64)
    pair[:2] = 0.5
    at_tie = (sensitivity.spectral_norm(pair) / finite_difference.mean_over_directions(pair)).item()
    numbers["norm over mean g at two equal logits, L=1024"] = at_tie
    numbers["sqrt(pi L/2) there"] = math.sqrt(math.pi * 1024 / 2)
    numbers["exact means against simulation, in standard errors"] = highest(deviations)
    # Two keys: ∇α v is half the cosine of v and (1, −1)/√2, whose mean size is 2/π.
    two = torch.full((2,), 0.5, dtype=torch.float64)
    by_hand = close(finite_difference.mean_over_directions(two), 1 / math.pi) and close(
        finite_difference.root_mean_square_over_directions(two), 1 / (2 * math.sqrt(2))
    )
    by_hand &= _mean_is_its_integral()
    return Finding(
        printed=not (
            20 > highest(short) > lowest(short) > 7
            and close(at_tie / math.sqrt(512 * math.pi), 1.0, 1e-3)
        ),
        corrected=highest(deviations) < 4 and by_hand,
        numbers=numbers,
    )


def one_over_t() -> Finding:
    source = generator(25)
    # Exponential logits with the mean 1/f: the gap of the two largest is exponential again and has
    # the density f at zero, for every number of keys.
    numbers: dict[str, float | int | str] = {}
    off, growth = [], []
    for density in (0.5, 2.0):
        uniform = torch.rand(40_000, 8, dtype=torch.float64, generator=source)
        logits = -torch.log1p(-uniform) / density
        means = {}
        for temperature in (0.1, 0.01):
            alpha = torch.softmax(logits / temperature, -1)
            norms = sensitivity.spectral_norm(alpha, temperature)
            means[temperature] = norms.mean().item()
        error = norms.std().item() / math.sqrt(len(norms))
        growth.append(means[0.01] / means[0.1])
        off.append(abs(means[0.01] - density) / error)
        numbers[f"mean norm at T=0.1, density {density:g} of the gap at 0"] = means[0.1]
        numbers[f"mean norm at T=0.01, density {density:g}"] = means[0.01]
    numbers["growth, where 1/T grows by 10, largest"] = highest(growth)
    numbers["mean norm at T=0.01 from the density, in standard errors"] = highest(off)
    return Finding(
        printed=not highest(growth) <= 5,
        corrected=highest(off) < 4,
        numbers=numbers,
    )


CLAIMS = (
    Claim(
        id="13",
        where="Section 2.3, example",
        statement="Swapping two nearly equal top logits changes α by about √2 ε/T.",
        verdict=Verdict.FALSE,
        because="The constant is 3/(2√2) = 1.061 for a ≫ T; √2 exceeds even √5/2, the most that "
        "any logits could give. Corollary 3, had it been true, would allow √5/4 = 0.559.",
        corrected="p√((2−p)² + (1+p)² + (L−2)q²)·ε/T, with p the weight of each of the two and q "
        "of each other token.",
        code=(
            "theory.normalization.sensitivity.example_first_order_printed",
            "theory.normalization.sensitivity.example_first_order",
        ),
        check=swap_example,
    ),
    Claim(
        id="14",
        where="Section 3.3, Algorithm 5",
        statement="g(T, ε) along a random direction approximates ‖∇α‖₂.",
        verdict=Verdict.FALSE,
        because="E‖∇α v‖² = ‖∇α‖_F²/L ≤ 1/(4T²L): the mean g falls short of the norm, 8 to 19 "
        "times in the four rows of the check and by √(πL/2) at two equal logits.",
        corrected="The norm is the largest eigenvalue, computed exactly; the mean over directions "
        "is a one-dimensional integral and needs no sampling.",
        code=(
            "theory.normalization.finite_difference.mean_over_directions",
            "theory.normalization.sensitivity.spectral_norm",
        ),
        check=random_direction,
    ),
    Claim(
        id="14'",
        where="Section 3.3, figure 4",
        statement="For T < 0.1 the curves follow the 1/T trend of Corollary 3.",
        verdict=Verdict.NOT_IMPLIED,
        because="1/T is the worst case, at ties. The mean norm over rows tends to a constant as "
        "T → 0: the density of the gap between the two top logits at zero.",
        corrected="E‖∇α‖₂ → f_gap(0) for logits with a continuous distribution.",
        code=("theory.normalization.sensitivity.spectral_norm",),
        check=one_over_t,
    ),
)
