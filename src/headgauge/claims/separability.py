"""Rows 9 to 10: Theorem 2 and the 80 % that is drawn from it."""

import math

import torch

from headgauge.claims.record import Claim, Finding, Verdict
from headgauge.claims.sampling import (
    SHARPNESS,
    generator,
    highest,
    lowest,
    sphere,
    violated,
    weights,
)
from headgauge.theory import separability, separability_bounds
from headgauge.theory.distance import distances_to_context
from headgauge.theory.selection import top_n


def _unit_rows(seed: int, batch: int = 60, length: int = 20):
    """Rows under the paper's assumptions: unit vectors, top-N sets, r and δ from the data."""
    source = generator(seed)
    for sharpness in SHARPNESS:
        for dim in (2, 8, 64):
            alpha = weights(batch, length, sharpness=sharpness, source=source)
            x = sphere(batch, length, dim, source=source)
            for n in (1, 2, 5, 12):
                yield alpha, x, top_n(alpha, n)


def lower_bound() -> Finding:
    broken = dominated = useful = better = total = 0
    for alpha, x, selected in _unit_rows(12):
        delta = separability.minimum_separation(x)
        xi = separability.xi(alpha, selected, delta)
        own = separability.radius(alpha, x, selected)
        for ball in (own, torch.full_like(own, 0.3), torch.full_like(own, 2.0)):
            inside = distances_to_context(alpha, x, selected) <= ball[..., None] + 1e-12
            fraction = (inside & selected).sum(-1) / selected.sum(-1)
            printed = separability.printed_lower_bound(xi, selected, ball)
            counted = separability.deterministic_lower_bound(xi, selected, ball)
            broken += violated(printed, fraction)
            dominated += violated(printed, counted) + violated(counted, fraction)
            useful += int(((printed > 0) & (selected.sum(-1) > 1)).sum())
            better += int((counted > printed.clamp(min=0) + 1e-9).sum())
            total += len(fraction)
    return Finding(
        printed=broken == 0,
        informative=useful > 0,
        corrected=dominated == 0 and better > 0,
        numbers={
            f"violations in {total} rows, own and fixed radii": broken,
            "rows with N > 1 where it is above zero": useful,
            "rows where counting says more": better,
            "violations of the counting bound or of its being better": dominated,
        },
    )


def _fixed_radius_check() -> tuple[int, int, int]:
    """Corrected bounds for a fixed r against simulated frequencies, with four standard errors.

    How many settings break them, how many there are, and in how many a bound says something.
    """
    source = generator(13)
    draws, n, broken, tried, useful = 2000, 8, 0, 0, 0
    for sharpness in (0.0, 1.0, 3.0):
        alpha = weights(40, sharpness=sharpness, source=source)
        selected = top_n(alpha, n)
        for dim in (3, 16, 64):
            x = sphere(draws, 40, dim, source=source)
            each = distances_to_context(alpha.expand(draws, 40), x, selected.expand(draws, 40))
            for ball in (0.02, 0.05, 0.1, 0.2, 0.5):
                inside = ((each <= ball) & selected).sum(-1) / n
                mean, error = inside.mean().item(), inside.std().item() / math.sqrt(draws)
                bounds = separability_bounds.fixed_radius_bounds(alpha, selected, ball, dim)
                lower, upper = (bound.item() for bound in bounds)
                slack = 4 * error + 1e-9
                broken += int(not lower - slack <= mean <= upper + slack)
                useful += int(lower > 0.1 or upper < 0.9)
                tried += 1
    return broken, tried, useful


def _random_radius_check() -> float:
    """Largest deviation, in standard errors, of simulated N_s from its conditional expectation."""
    source = generator(14)
    draws, length, n, deviations = 4000, 30, 6, []
    for sharpness, dim in ((0.0, 4), (1.0, 16), (0.5, 64)):
        alpha = weights(length, sharpness=sharpness, source=source)
        selected = top_n(alpha, n)
        x = sphere(length, dim, source=source)
        expected = separability_bounds.expected_count_given_selected(alpha, x, selected)
        fresh = sphere(draws, length, dim, source=source)
        fresh = torch.where(selected[:, None], x, fresh)
        rows, chosen = alpha.expand(draws, length), selected.expand(draws, length)
        counted = separability.separable_count(rows, fresh, chosen).to(torch.float64)
        error = counted.std() / math.sqrt(draws)
        deviations.append((counted.mean() - expected).abs() / (error + 1e-9))
    return highest(deviations)


def upper_bound() -> Finding:
    broken = total = single = 0
    for alpha, x, selected in _unit_rows(15):
        delta = separability.minimum_separation(x)
        xi = separability.xi(alpha, selected, delta)
        ball = separability.radius(alpha, x, selected)
        fraction = separability.separability(alpha, x, selected)
        failed = violated(fraction, separability.printed_upper_bound(xi, selected, ball))
        broken += failed
        single += failed if bool((selected.sum(-1) == 1).all()) else 0
        total += len(fraction)
    source = generator(16)
    alpha = weights(20, sharpness=1.0, source=source)
    selected = top_n(alpha, 5)
    xi = separability.xi(alpha, selected, 0.0)
    large_lower = separability.printed_lower_bound(xi, selected, 10.0).item()
    large_upper = separability.printed_upper_bound(xi, selected, 10.0).item()
    fixed_broken, fixed_tried, fixed_useful = _fixed_radius_check()
    deviation = _random_radius_check()
    return Finding(
        printed=broken == 0 and large_upper >= 1,
        corrected=fixed_broken == 0 and fixed_useful > fixed_tried / 2 and deviation < 4,
        numbers={
            "r = 10M: true fraction": 1.0,
            "r = 10M: printed lower bound": large_lower,
            "r = 10M: printed upper bound": large_upper,
            f"violations in {total} rows with the paper's r": broken,
            "of those with N = 1": single,
            f"violations of the corrected bounds, fixed r, {fixed_tried} settings": fixed_broken,
            "settings in which one of the corrected bounds says something": fixed_useful,
            "random r: exact expectation against simulation, in standard errors": deviation,
        },
    )


def xi_index() -> Finding:
    angle = torch.tensor([0.0, 2 * math.pi / 3, 4 * math.pi / 3], dtype=torch.float64)
    x = torch.stack([angle.cos(), angle.sin()], -1)
    x = torch.cat([x, torch.tensor([[0.6, 0.8]], dtype=torch.float64)])
    alpha = torch.tensor([0.3, 0.3, 0.3, 0.1], dtype=torch.float64)
    selected = top_n(alpha, 3)
    delta = math.sqrt(3)
    true = distances_to_context(alpha, x, selected)[0].item()
    slides = separability.xi_slides(alpha, selected, delta)[0].item()
    fixed = separability.xi(alpha, selected, delta)[0].item()
    broken = 0
    for row, vectors, chosen in _unit_rows(17):
        bound = separability.xi(row, chosen, separability.minimum_separation(vectors))
        broken += violated(distances_to_context(row, vectors, chosen) * chosen, bound)
    return Finding(
        printed=true <= slides + 1e-9,
        corrected=abs(true - fixed) < 1e-9 and broken == 0,
        numbers={
            "X for an equilateral triangle, weights .3": true,
            "xi with k = i allowed": slides,
            "xi with j and k both different from i": fixed,
            "violations of the latter in random rows": broken,
        },
    )


def eighty_percent() -> Finding:
    source = generator(18)
    bounds = []
    for alpha, x, selected in _unit_rows(19):
        xi = separability.xi(alpha, selected, separability.minimum_separation(x))
        ball = separability.radius(alpha, x, selected)
        bounds.append(separability.printed_upper_bound(xi, selected, ball))
    floor = lowest(bounds)
    length = 64
    alpha = weights(length, sharpness=1.0, source=source)
    identity = torch.eye(length, dtype=torch.float64)
    orthonormal = lowest(
        separability.separability(alpha, identity, top_n(alpha, n)) for n in (1, 8, 32, 63)
    )
    simulated, gaps = {}, []
    for dim in (2, 64, 768):
        flat = torch.full((512,), 1 / 512, dtype=torch.float64)
        selected = top_n(flat, 20)
        draws = [
            separability.separability(flat, sphere(512, dim, source=source), selected).item()
            for _ in range(20)
        ]
        simulated[dim] = sum(draws) / len(draws)
        law = separability_bounds.flat_weight_law(512, 20, dim)
        gaps.append(abs(law - simulated[dim]))
    return Finding(
        printed=not (orthonormal > 0.85 and floor > 0.85),
        corrected=highest(gaps) < 0.12,
        numbers={
            "smallest printed upper bound with the paper's r": floor,
            "exp(-1/16), below which it cannot fall": math.exp(-1 / 16),
            "N_s/N for orthonormal vectors, smallest over N": orthonormal,
            **{
                f"N_s/N simulated, flat, L=512, N=20, d={dim}": value
                for dim, value in simulated.items()
            },
            "largest deviation from the flat-weight law": highest(gaps),
        },
    )


CLAIMS = (
    Claim(
        id="9",
        where="Theorem 2, lower bound",
        statement="E[N_s]/N ≥ 1 − (1/rN) Σ ξ_i.",
        verdict=Verdict.TRUE,
        because="True for every realisation, not only on average, and for the random r too: "
        "X_i ≤ ξ_i holds surely. Assumption 1 is not used.",
        corrected="N_s ≥ #{i : ξ_i ≤ r}, never worse.",
        code=(
            "theory.separability.printed_lower_bound",
            "theory.separability.deterministic_lower_bound",
        ),
        check=lower_bound,
    ),
    Claim(
        id="9'",
        where="Theorem 2, upper bound",
        statement="E[N_s]/N ≤ (1/N) Σ exp(−(r−ξ_i)²/16M²).",
        verdict=Verdict.FALSE,
        because="r = 10M: the fraction is 1, the printed upper bound is about 0.003 and lies below "
        "the printed lower bound. With the paper's own r every row with N = 1 violates it.",
        corrected="Fixed r: log-Sobolev and Cantelli bounds on both sides. The paper's random r: "
        "E[N_s | x_I] = Σ_{i∈I} Π_{j∉I} F_d(c_ij), exactly.",
        code=(
            "theory.separability.printed_upper_bound",
            "theory.separability_bounds.fixed_radius_bounds",
            "theory.separability_bounds.expected_count_given_selected",
        ),
        check=upper_bound,
    ),
    Claim(
        id="9''",
        where="Eq. (12); slides",
        statement="ξ_i sums over 'j ≠ k ≠ i'; the slides exclude only j = i.",
        verdict=Verdict.MISPRINT,
        because="With k = i allowed ξ_i is no bound once δ² > 2M²: an equilateral triangle with "
        "weights .3 has X = .3 and ξ = 0.",
        corrected="j and k both differ from i: ξ_i² = M²a + (M²−δ²/2)(b²−a), a = Σ_{j≠i}α_j², "
        "b = Σ_{j≠i}α_j.",
        code=("theory.separability.xi_slides", "theory.separability.xi"),
        check=xi_index,
    ),
    Claim(
        id="10",
        where="Introduction, section 3.2, conclusions; slides",
        statement="By Theorem 2 at most about 80 % of the selected tokens can be distinguished.",
        verdict=Verdict.FALSE,
        because="Not a consequence: with the paper's r the printed upper bound is at least "
        "e^(−1/16) = 0.939. Nor a law: orthonormal vectors have N_s = N for every N and every α, "
        "flat weights in the plane nearly 0.",
        corrected="An empirical value. Under Assumption 1 with flat weights N_s/N is about "
        "E Φ(√(d/N) − max of L−N normals) for N > 1, a curve whose transition from 1 to 0 lies "
        "near N = d/(2 ln L).",
        code=("theory.separability_bounds.flat_weight_law", "theory.separability.separability"),
        check=eighty_percent,
    ),
)
