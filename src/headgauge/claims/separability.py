"""Rows 9 to 10: Theorem 2 and the 80 % that is drawn from it."""

import math

import numpy as np
import torch
from scipy import special
from torch import Tensor

from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import Draws, close, doubles, flat, highest, lowest, named, violated
from headgauge.theory.normalization import separability, separability_bounds
from headgauge.theory.normalization.distance import distances_to_context
from headgauge.theory.normalization.selection import top_n


def _triangle() -> tuple[Tensor, Tensor, Tensor, float]:
    """Three selected vectors at 120°, each of weight .3: X_i = ξ_i = .3 with δ = √3."""
    angle = doubles([0.0, 2 * math.pi / 3, 4 * math.pi / 3])
    x = torch.cat([torch.stack([angle.cos(), angle.sin()], -1), doubles([[0.6, 0.8]])])
    alpha = doubles([0.3, 0.3, 0.3, 0.1])
    return alpha, x, top_n(alpha, 3), math.sqrt(3)


def xi_of(alpha: Tensor, x: Tensor, selected: Tensor) -> Tensor:
    """ξ with the δ of the row itself."""
    return separability.xi(alpha, selected, separability.minimum_separation(x))


@claim("9", "Theorem 2, lower bound", Verdict.TRUE)
def lower_bound() -> Finding:
    """E[N_s]/N ≥ 1 − (1/rN) Σ ξ_i.

    True for every realisation, not only on average, and for the random r too: X_i ≤ ξ_i holds
    surely. Assumption 1 is not used.

    N_s ≥ #{i : ξ_i ≤ r}, never worse.

    In theory.normalization.separability: printed_lower_bound, deterministic_lower_bound.
    """
    broken = dominated = useful = better = total = 0
    for row in Draws(12).unit_rows():
        selected, xi, distances = row[-1], xi_of(*row), distances_to_context(*row)
        count = selected.sum(-1)
        own = separability.radius(*row)
        for r in (own, torch.full_like(own, 0.3), torch.full_like(own, 2.0)):
            fraction = ((distances <= r[..., None] + 1e-12) & selected).sum(-1) / count
            printed = separability.printed_lower_bound(xi, selected, r)
            counted = separability.deterministic_lower_bound(xi, selected, r)
            broken += violated(printed, fraction)
            dominated += violated(printed, counted, fraction)
            useful += int(((printed > 0) & (count > 1)).sum())
            better += int((counted > printed.clamp(min=0) + 1e-9).sum())
            total += len(fraction)
    alpha, _, selected, delta = _triangle()
    xi = separability.xi(alpha, selected, delta)
    # X_i = ξ_i = .3 there: at r = .31 all three count, at .29 none.
    counts = [separability.deterministic_lower_bound(xi, selected, r) for r in (0.29, 0.31)]
    return Finding(
        printed=broken == 0 and close(separability.printed_lower_bound(xi, selected, 0.6), 0.5),
        informative=useful > 0,
        corrected=dominated == 0 and better > 0 and close(counts, [0.0, 1.0]),
        numbers={
            f"violations in {total} rows, own and fixed radii": broken,
            "rows with N > 1 where it is above zero": useful,
            "rows where counting says more": better,
            "violations of the counting bound or of its being better": dominated,
        },
    )


@claim("9''", "Eq. (12); slides", Verdict.MISPRINT)
def xi_index() -> Finding:
    """ξ_i sums over 'j ≠ k ≠ i'; the slides exclude only j = i.

    With k = i allowed ξ_i is no bound once δ² > 2M²: an equilateral triangle with weights .3 has X
    = .3 and ξ = 0.

    j and k both differ from i: ξ_i² = M²a + (M²−δ²/2)(b²−a), a = Σ_{j≠i}α_j², b = Σ_{j≠i}α_j.

    In theory.normalization.separability: xi_slides, xi.
    """
    alpha, x, selected, delta = _triangle()
    true = distances_to_context(alpha, x, selected)[0].item()
    slides = separability.xi_slides(alpha, selected, delta)[0].item()
    fixed = separability.xi(alpha, selected, delta)[0].item()
    broken = sum(
        violated(distances_to_context(*row) * row[-1], xi_of(*row)) for row in Draws(17).unit_rows()
    )
    # ξ² = M²·.09·(2 + 2) at δ = 0, and of degree two in M.
    wide = separability.xi(alpha, selected, 0.0, sphere_radius=2.0)[0]
    # ξ² = .18 + ½(.6·.9 − .18) at δ = 1.
    allowed = separability.xi_slides(alpha, selected, 1.0)[0]
    return Finding(
        printed=not (close(true, 0.3) and close(slides, 0.0, 1e-6) and close(allowed, 0.6)),
        corrected=close(fixed, true) and broken == 0 and close(wide, 1.2),
        numbers={
            "X for an equilateral triangle, weights .3": true,
            "xi with k = i allowed": slides,
            "xi with j and k both different from i": fixed,
            "violations of the latter in random rows": broken,
        },
    )


def _law_is_its_integral() -> bool:
    """E Φ(√(d/N) − max of k normals): Φ(√(d/2N)) for one, and by the maximum's density for many."""
    grid = np.linspace(-12.0, 12.0, 20_001)
    density = 24 * np.exp(-(grid**2) / 2 + 23 * special.log_ndtr(grid)) / math.sqrt(2 * math.pi)
    many = float(np.sum(special.ndtr(math.sqrt(40 / 8) - grid) * density) * (grid[1] - grid[0]))
    alone = float(special.ndtr(math.sqrt(6 / 8)))
    law = separability_bounds.flat_weight_law
    return close([law(5, 4, 6), law(32, 8, 40)], [alone, many], 1e-5)


@claim("10", "Introduction, section 3.2, conclusions; slides", Verdict.FALSE)
def eighty_percent() -> Finding:
    """By Theorem 2 at most about 80 % of the selected tokens can be distinguished.

    Not a consequence: with the paper's r the printed upper bound is at least e^(−1/16) = 0.939. Nor
    a law: orthonormal vectors have N_s = N for every N and every α, flat weights in the plane
    nearly 0.

    An empirical value. Under Assumption 1 with flat weights N_s/N is about E Φ(√(d/N) − max of L−N
    normals) for N > 1, a curve whose transition from 1 to 0 lies near N = d/(2 ln L).

    In theory.normalization.separability_bounds: flat_weight_law; in
    theory.normalization.separability: separability.
    """
    draw = Draws(18)
    floor = lowest(
        separability.printed_upper_bound(xi_of(*row), row[-1], separability.radius(*row))
        for row in Draws(19).unit_rows()
    )
    alpha, identity = draw.weights(64), torch.eye(64, dtype=torch.float64)
    orthonormal = lowest(
        separability.separability(alpha, identity, top_n(alpha, n)) for n in (1, 8, 32, 63)
    )
    alpha = flat(512)
    selected, simulated = top_n(alpha, 20), {}
    for dim in (2, 64, 768):
        shares = [
            separability.separability(alpha, draw.sphere(512, dim), selected).item()
            for _ in range(20)
        ]
        simulated[dim] = sum(shares) / len(shares)
    law = separability_bounds.flat_weight_law
    gap = highest(abs(law(512, 20, dim) - share) for dim, share in simulated.items())
    return Finding(
        printed=not (orthonormal == 1.0 and floor >= math.exp(-1 / 16) and simulated[2] < 0.05),
        corrected=gap < 0.12 and _law_is_its_integral(),
        numbers={
            "smallest printed upper bound with the paper's r": floor,
            "exp(-1/16), below which it cannot fall": math.exp(-1 / 16),
            "N_s/N for orthonormal vectors, smallest over N": orthonormal,
            **named("N_s/N simulated, flat, L=512, N=20, d={}", simulated, simulated.values()),
            "largest deviation from the flat-weight law": gap,
        },
    )
