"""Rows 13 to 14': the example of section 2.3 and the finite differences of Algorithm 5."""

import math

import torch

from headgauge.claims.record import Claim, Finding, Verdict
from headgauge.claims.sampling import generator, highest, lowest, normal
from headgauge.theory import finite_difference, sensitivity


def swap_example() -> Finding:
    length, a, temperature, epsilon = 20, 40.0, 1.0, 1e-6
    first = torch.zeros(length, dtype=torch.float64)
    first[-2], first[-1] = a, a + epsilon
    second = torch.zeros(length, dtype=torch.float64)
    second[-2], second[-1] = a + 2 * epsilon, a
    change = torch.softmax(second, -1) - torch.softmax(first, -1)
    measured = torch.linalg.vector_norm(change).item() / epsilon
    formula = sensitivity.example_first_order(length, a, 1.0, temperature)
    near = sensitivity.example_first_order(length, 1.0, 1.0, temperature)
    base = torch.zeros(length, dtype=torch.float64)
    base[-2:] = 1.0
    direction = torch.zeros(length, dtype=torch.float64)
    direction[-2], direction[-1] = 2.0, -1.0
    p = torch.softmax(base, -1)
    dense = (torch.diag(p) - torch.outer(p, p)) @ direction
    largest = math.sqrt(5) / 2
    return Finding(
        printed=abs(measured - math.sqrt(2)) < 0.01,
        corrected=abs(measured - formula) < 1e-4
        and abs(near - torch.linalg.vector_norm(dense).item()) < 1e-9,
        numbers={
            "measured change over eps/T, a=40": measured,
            "exact first order": formula,
            "3/(2 sqrt 2)": 3 / (2 * math.sqrt(2)),
            "printed": sensitivity.example_first_order_printed(1.0, 1.0),
            "largest possible, sqrt5/2": largest,
        },
    )


def random_direction() -> Finding:
    source = generator(24)
    numbers: dict[str, float | int | str] = {}
    short, deviations = [], []
    for length in (64, 256):
        for sharpness in (1.0, 3.0):
            logits = sharpness * normal(length, source=source)
            alpha = torch.softmax(logits, -1)
            batch = logits.expand(4000, length)
            v = finite_difference.random_direction(batch, source)
            g = finite_difference.sensitivity(batch, v, 1e-4)
            norm = sensitivity.spectral_norm(alpha)
            mean = finite_difference.mean_over_directions(alpha)
            square = finite_difference.root_mean_square_over_directions(alpha) ** 2
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
    return Finding(
        printed=not lowest(short) > 1.1,
        corrected=highest(deviations) < 4
        and abs(at_tie / math.sqrt(math.pi * 1024 / 2) - 1) < 1e-3,
        numbers=numbers,
    )


def one_over_t() -> Finding:
    source = generator(25)
    logits = normal(20_000, 32, source=source)
    ordered = logits.topk(2, -1).values
    gap = ordered[..., 0] - ordered[..., 1]
    width = 0.05
    density = (gap < width).to(torch.float64).mean().item() / width
    means = {}
    for temperature in (0.1, 0.01):
        alpha = torch.softmax(logits / temperature, -1)
        means[temperature] = sensitivity.spectral_norm(alpha, temperature).mean().item()
    growth = means[0.01] / means[0.1]
    return Finding(
        printed=not growth <= 5,
        corrected=abs(means[0.01] / density - 1) < 0.15,
        numbers={
            "mean norm at T=0.1": means[0.1],
            "mean norm at T=0.01": means[0.01],
            "growth, where 1/T grows by 10": growth,
            "density of the gap of the two top logits at 0": density,
        },
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
            "theory.sensitivity.example_first_order_printed",
            "theory.sensitivity.example_first_order",
        ),
        check=swap_example,
    ),
    Claim(
        id="14",
        where="Section 3.3, Algorithm 5",
        statement="g(T, ε) along a random direction approximates ‖∇α‖₂.",
        verdict=Verdict.FALSE,
        because="E‖∇α v‖² = ‖∇α‖_F²/L ≤ 1/(4T²L): the mean g falls short of the norm, 5 to 18 "
        "times in the four rows of the check and by √(πL/2) at two equal logits.",
        corrected="The norm is the largest eigenvalue, computed exactly; the mean over directions "
        "is a one-dimensional integral and needs no sampling.",
        code=(
            "theory.finite_difference.mean_over_directions",
            "theory.sensitivity.spectral_norm",
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
        code=("theory.sensitivity.spectral_norm",),
        check=one_over_t,
    ),
)
