"""Rows 11, 11' and 13 to 14': the norm of softmax's Jacobian, and Algorithm 5's differences."""

import itertools
import math

import numpy as np
import torch
from scipy import integrate
from torch import Tensor

from headgauge.claims import sampling
from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import Draws, close, doubles, flat, full, highest, lowest, violated
from headgauge.theory.normalization import finite_difference, sensitivity


def covariance(weights: Tensor) -> Tensor:
    """C(p) = diag p − ppᵀ, dense."""
    return torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]


@claim("11", "Corollary 3", Verdict.FALSE)
def quarter() -> Finding:
    """For softmax, ‖∇α‖₂ ≤ 1/(4T).

    Two equal logits give exactly 1/(2T). 1/4 is the largest possible entry of the Jacobian, not its
    norm.

    ‖∇α‖₂ ≤ 1/(2T), sharp.

    In theory.normalization.sensitivity: corollary_3_printed, corollary_3.
    """
    temperatures = (0.1, 1.0, 10.0)
    at_tie = [sensitivity.spectral_norm(flat(2), t).item() for t in temperatures]
    draw = Draws(20)
    norms, entries, dense = [doubles(at_tie[1])], [], []
    for sharpness, length in itertools.product(sampling.SHARPNESS, (2, 5, 100)):
        alpha = draw.weights(400, length, sharpness=sharpness)
        norm = sensitivity.spectral_norm(alpha)
        norms.append(norm)
        entries.append(alpha * (1 - alpha))
        dense.append(close(norm[:5], torch.linalg.eigvalsh(covariance(alpha[:5]))[:, -1]))
    largest, entry = highest(norms), highest(entries)
    # 1/(4T) up to √2, as printed: half of what two equal logits have.
    printed = [sensitivity.corollary_3_printed(t) for t in temperatures]
    corrected = [sensitivity.corollary_3(t) for t in temperatures]
    return Finding(
        printed=not (close(printed, [math.sqrt(2), 0.25, 0.025]) and close(at_tie[1], 0.5)),
        corrected=largest <= corrected[1] + 1e-12
        and close(at_tie, corrected)
        and all(dense)
        and entry <= 0.25 + 1e-12,
        numbers={
            "norm at two equal logits, T=1": at_tie[1],
            "printed bound, T=1": printed[1],
            "largest norm in 6000 random rows": largest,
            "largest single entry, which 1/4 does bound": entry,
        },
    )


@claim("11'", "Lemma 2 and Corollary 3, the cap", Verdict.FALSE)
def cap_on_the_norm() -> Finding:
    """‖∇α‖₂ ≤ √2.

    T = 0.1 gives 5.0; it fails for every T < 0.354.

    √2 caps ‖α−α′‖: g(T,ε) ≤ (√2/ε)tanh(ε/(2√2T)) ≤ min{1/(2T), √2/ε}, sharp.

    In theory.normalization.finite_difference: sharp_bound.
    """
    norm, below, above = (
        sensitivity.spectral_norm(flat(2), temperature).item()
        for temperature in (0.1, 0.353, 0.354)
    )
    draw, broken, attained = Draws(21), 0, []
    for at in itertools.product((1e-3, 0.1, 1.0, 10.0), (0.05, 0.3, 1.0, 10.0)):
        epsilon, temperature = at
        bound = finite_difference.sharp_bound(*at)
        logits = torch.cat([*(s * draw.normal(50, 12) for s in (0.1, 1.0, 5.0)), full(0.0, 1, 12)])
        random = finite_difference.random_direction(logits, draw.source)
        values = finite_difference.sensitivity(logits, random, *at)
        broken += violated(values, finite_difference.direction_bound(random, *at))
        broken += violated(finite_difference.worst_sensitivity(logits, *at), bound)
        # Two keys, moved symmetrically across the tie, attain it.
        swap = doubles([1.0, -1.0]) / math.sqrt(2)
        reached = finite_difference.sensitivity(-epsilon / 2 * swap, swap, *at)
        attained += [reached / bound, reached / finite_difference.direction_bound(swap, *at)]
        if epsilon < temperature / 10:
            attained.append(finite_difference.worst_sensitivity(full(0.0, 2), *at) / bound)
    cap = sensitivity.corollary_3_printed(0.1)
    return Finding(
        printed=not (close(cap, math.sqrt(2)) and close(norm, 5.0) and below > cap > above),
        corrected=broken == 0 and lowest(attained) > 1 - 1e-2 and highest(attained) < 1 + 1e-9,
        numbers={
            "norm at two equal logits, T=0.1": norm,
            "the cap": cap,
            "violations of (sqrt2/eps) tanh(eps/(2 sqrt2 T))": broken,
            "share of it that two keys attain, smallest": lowest(attained),
        },
    )


@claim("13", "Section 2.3, example", Verdict.FALSE)
def swap_example() -> Finding:
    """Swapping two nearly equal top logits changes α by about √2 ε/T.

    The constant is 3/(2√2) = 1.061 for a ≫ T; √2 exceeds even √5/2, the most that any logits could
    give. Corollary 3, had it been true, would allow √5/4 = 0.559.

    p√((2−p)² + (1+p)² + (L−2)q²)·ε/T, with p the weight of each of the two and q of each other
    token.

    In theory.normalization.sensitivity: example_first_order_printed, example_first_order.
    """
    length, a, temperature, epsilon = 20, 40.0, 0.5, 1e-6

    def logits(*last: float) -> Tensor:
        return torch.cat([full(0.0, length - 2), doubles(last)])

    first, second = logits(a, a + epsilon), logits(a + 2 * epsilon, a)
    change = torch.softmax(second / temperature, -1) - torch.softmax(first / temperature, -1)
    measured = change.norm().item() / (epsilon / temperature)
    formula = sensitivity.example_first_order(length, a, temperature, temperature)
    near = sensitivity.example_first_order(length, 1.0, 1.0, temperature)
    printed = sensitivity.example_first_order_printed(temperature, temperature)
    p = torch.softmax(logits(1.0, 1.0) / temperature, -1)
    dense = covariance(p) @ logits(2.0, -1.0) / temperature
    largest = math.sqrt(5) / 2
    return Finding(
        printed=not (close(printed, math.sqrt(2)) and printed > largest > measured + 0.01),
        corrected=close(measured, formula, 1e-5)
        and close(formula, 3 / (2 * math.sqrt(2)))
        and close(near, dense.norm()),
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
    rows = doubles([[0.7, 0.2, 0.1], [0.4, 0.3, 0.2]])

    def direct(squares: np.ndarray) -> float:
        def integrand(log_u: float) -> float:
            u = math.exp(log_u)
            return -math.expm1(-0.5 * float(np.log1p(u * u * squares).sum())) / u

        total = integrate.quad(integrand, -14.0, 22.0, limit=500)[0]
        # |z| of five normals has the mean √2 Γ(3)/Γ(5/2); T = 2.
        return math.sqrt(2 / math.pi) * total * math.gamma(2.5) / (2 * math.sqrt(2)) / 2

    expected = [direct(each.numpy() ** 2) for each in torch.linalg.eigvalsh(covariance(rows))]
    means = finite_difference.mean_over_directions(rows, 2.0, 5)
    return close(means / doubles(expected), 1.0, 1e-6)


@claim("14", "Section 3.3, Algorithm 5", Verdict.FALSE)
def random_direction() -> Finding:
    """g(T, ε) along a random direction approximates ‖∇α‖₂.

    E‖∇α v‖² = ‖∇α‖_F²/L ≤ 1/(4T²L): the mean g falls short of the norm, 8 to 19 times in the four
    rows of the check and by √(πL/2) at two equal logits.

    The norm is the largest eigenvalue, computed exactly; the mean over directions is a
    one-dimensional integral and needs no sampling.

    In theory.normalization.finite_difference: mean_over_directions; in
    theory.normalization.sensitivity: spectral_norm.
    """
    draw, temperature = Draws(24), 0.5
    numbers: dict[str, float | int | str] = {}
    short, deviations = [], []
    for length, sharpness in itertools.product((64, 256), (1.0, 3.0)):
        logits = sharpness * draw.normal(length)
        alpha = torch.softmax(logits / temperature, -1)
        batch = logits.expand(4000, length)
        v = finite_difference.random_direction(batch, draw.source)
        g = finite_difference.sensitivity(batch, v, 1e-5, temperature)
        mean = finite_difference.mean_over_directions(alpha, temperature)
        square = finite_difference.root_mean_square_over_directions(alpha, temperature) ** 2
        for values, expected in ((g, mean), (g**2, square)):
            error = values.std().item() / math.sqrt(len(g))
            deviations.append((values.mean() - expected).abs() / error)
        short.append(sensitivity.spectral_norm(alpha, temperature) / g.mean())
        numbers[f"norm over mean g, L={length}, logits of std {sharpness:g}"] = short[-1].item()
    pair = torch.cat([full(0.5, 2), full(0.0, 1022)])
    at_tie = (sensitivity.spectral_norm(pair) / finite_difference.mean_over_directions(pair)).item()
    numbers["norm over mean g at two equal logits, L=1024"] = at_tie
    numbers["sqrt(pi L/2) there"] = math.sqrt(math.pi * 1024 / 2)
    numbers["exact means against simulation, in standard errors"] = highest(deviations)
    # Two keys: ∇α v is half the cosine of v and (1, −1)/√2, whose mean size is 2/π.
    by_hand = close(finite_difference.mean_over_directions(flat(2)), 1 / math.pi) and close(
        finite_difference.root_mean_square_over_directions(flat(2)), 1 / (2 * math.sqrt(2))
    )
    return Finding(
        printed=not (
            20 > highest(short) > lowest(short) > 7
            and close(at_tie / math.sqrt(512 * math.pi), 1.0, 1e-3)
        ),
        corrected=highest(deviations) < 4 and by_hand and _mean_is_its_integral(),
        numbers=numbers,
    )


@claim("14'", "Section 3.3, figure 4", Verdict.NOT_IMPLIED)
def one_over_t() -> Finding:
    """For T < 0.1 the curves follow the 1/T trend of Corollary 3.

    1/T is the worst case, at ties. The mean norm over rows tends to a constant as T → 0: the
    density of the gap between the two top logits at zero.

    E‖∇α‖₂ → f_gap(0) for logits with a continuous distribution.

    In theory.normalization.sensitivity: spectral_norm.
    """
    draw = Draws(25)
    # Exponential logits with the mean 1/f: the gap of the two largest is exponential again and has
    # the density f at zero, for every number of keys.
    numbers: dict[str, float | int | str] = {}
    off, growth = [], []
    for density in (0.5, 2.0):
        logits = -torch.log1p(-draw.uniform(40_000, 8)) / density
        warm, cold = (
            sensitivity.spectral_norm(torch.softmax(logits / temperature, -1), temperature)
            for temperature in (0.1, 0.01)
        )
        growth.append(cold.mean() / warm.mean())
        off.append((cold.mean() - density).abs() / (cold.std() / math.sqrt(len(cold))))
        numbers[f"mean norm at T=0.1, density {density:g} of the gap at 0"] = warm.mean().item()
        numbers[f"mean norm at T=0.01, density {density:g}"] = cold.mean().item()
    numbers["growth, where 1/T grows by 10, largest"] = highest(growth)
    numbers["mean norm at T=0.01 from the density, in standard errors"] = highest(off)
    return Finding(printed=not highest(growth) <= 5, corrected=highest(off) < 4, numbers=numbers)
