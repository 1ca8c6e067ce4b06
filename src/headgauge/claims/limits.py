"""Rows 6 to 8: Corollary 2, linear growth, and the collapse of the distance."""

import itertools
import math

import torch

from headgauge.claims import sampling
from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import Draws, close, flat, flat_ones, full, highest, slope, violated
from headgauge.theory.normalization import distance_bounds, expected_distance, expected_limits
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import context_vector, top_n, weighted


def _cap_broken(seed: int, length: int) -> int:
    """Violations of the cap where E is known exactly."""
    return sum(
        violated(expected_distance.exact(alpha, x, n), expected_limits.cap(alpha, x, n))
        for alpha, x in Draws(seed).rows(3, length, 3)
        for n in range(1, length + 1)
    )


@claim("6", "Corollary 2(i)", Verdict.FALSE)
def sum_of_norms() -> Finding:
    """For fixed N ≪ L, E ≈ Σ‖α_i x_i‖.

    Flat weights: E/S → √(N+1) for orthonormal vectors and |N−1| for identical ones; a one-hot row
    tends to N+1.

    0 ≤ E ≤ (1−N/L)(N+1)S with S = Σ‖α_i x_i‖, both ends approached.

    In theory.normalization.expected_limits: corollary_2_printed, cap.
    """
    length, n = 400, 5
    # At finite L each limit comes with the share 1 − N/L of keys that are left out.
    limits = {
        "orthonormal, flat": (1 - n / length) * math.sqrt(n + 1),
        "identical, flat": (1 - n / length) * (n - 1),
        "one-hot, L=12, N=2": (1 - 2 / 12) * 3,
    }
    ratios = []
    for alpha, x in (sampling.orthonormal(length), flat_ones(length)):
        # All sets are alike here, so any one of them gives the expectation.
        value = distance(alpha, x, top_n(alpha, n))
        ratios.append((value / expected_limits.corollary_2_printed(alpha, x)).item())
    one_hot = sampling.one_winner(12, 1.0), full(1.0, 12, 1), 2
    ratios.append(expected_distance.exact(*one_hot).item())
    attained = ratios[-1] / expected_limits.cap(*one_hot).item()
    broken = _cap_broken(8, 7)
    return Finding(
        printed=not close(ratios, list(limits.values())),
        corrected=broken == 0 and close(attained, 1.0),
        numbers={
            **sampling.named("E over the sum of norms: {}", limits, ratios),
            "sqrt(N+1), the limit for the first": math.sqrt(n + 1),
            "violations of the cap": broken,
            "share of the cap that the one-hot row attains": attained,
        },
    )


@claim("6'", "Section 3.1(i)", Verdict.FALSE)
def linear_in_length() -> Finding:
    """The distance scales linearly with L, exactly as Corollary 2(i) predicts.

    S ≤ max‖x‖ does not grow with L, and E ≤ (N+1)max‖x‖; it is the misprinted expression of row 4
    that grows linearly.

    d̃ ≈ (L−N)‖s‖ grows linearly only while ‖s‖ stays of order one. Where Lemma 1 applies it does
    not: there d̃ ≤ (N·C₂+1)max‖x‖.

    In theory.normalization.expected_limits: cap; in theory.normalization.expected_distance:
    printed.
    """
    draw = Draws(9)
    n, dim, lengths = 5, 32, [32, 128, 512, 2048]
    sums, upper, caps, misprint, actual = [], [], [], [], []
    for length in lengths:
        alpha = torch.softmax(draw.uniform(length) * 2 - 1, -1)
        x = draw.sphere(length, dim) + sampling.one_winner(dim, 1.0)
        x = x / x.norm(dim=-1, keepdim=True)
        sums.append(expected_limits.corollary_2_printed(alpha, x).item())
        upper.append(expected_distance.sandwich(alpha, x, n)[1].item())
        # Vectors of length 2: S = 2.
        caps.append(close(expected_limits.cap(alpha, 2 * x, n), (1 - n / length) * (n + 1) * 2))
        misprint.append(expected_distance.printed(alpha, x, n).item())
        actual.append(distance(alpha, x, top_n(alpha, n)).item())
    # Unit vectors, logits in [−1, 1]: C₂ = e². N of them at 1 and the rest at −1 approach the cap,
    # when the rest point the other way.
    cap = n * math.e**2 + 1
    logits = full(-1.0, 100_000)
    logits[:n] = 1.0
    alpha = torch.softmax(logits, -1)
    most = distance(alpha, logits[:, None], top_n(alpha, n)).item()
    # Flat weights, orthonormal vectors: the upper side of the sandwich is E itself.
    open_end = expected_distance.sandwich(*sampling.orthonormal(50), n)[1]
    return Finding(
        printed=not (
            close(sums, 1.0)
            and slope(lengths, misprint) > 0.9
            and close(expected_distance.printed(*flat_ones(5), 2), 0.9)
        ),
        corrected=highest(upper) <= n + 1
        and all(caps)
        and close(open_end, 0.9 * math.sqrt(n + 1))
        and highest([*actual, most]) <= cap
        and close(most / cap, 1.0, 1e-3),
        numbers={
            "exponent of the sum of norms in L": slope(lengths, sums),
            "exponent of E's upper bound": slope(lengths, upper),
            "E's upper bound at L=2048 (cap 6)": upper[-1],
            "exponent of the main-text misprint": slope(lengths, misprint),
            "misprint at L=2048": misprint[-1],
            "exponent of the distance, bounded logits": slope(lengths, actual),
            "share of (N C2 + 1) max|x| that a row attains, L=100000": most / cap,
        },
    )


@claim("7", "Corollary 2(ii), eq. (9)", Verdict.VACUOUS)
def full_selection() -> Finding:
    """For fixed L, E → 0 as N → L.

    At N = L the sum is empty. E is not monotone on the way, and with one token left out it tends to
    1, not 0, as L grows (flat weights, x = 1).

    E ≤ (1−N/L)(N+1)S.

    In theory.normalization.expected_limits: cap.
    """
    at_l = [expected_distance.exact(alpha, x, 6) for alpha, x in Draws(10).rows(3, 6, 3)]
    broken = _cap_broken(10, 6)
    alpha, ones = flat_ones(2000)
    one_left = distance(alpha, ones, top_n(alpha, 1999)).item()
    course = [expected_distance.exact(*flat_ones(6), n).item() for n in range(1, 7)]
    cap = expected_limits.cap(*flat_ones(6), 5).item()
    # By hand: each of the L−N others is |N−1|/L away, and one token left out is 1 − 2/L away.
    by_hand = close(course, [(6 - n) * (n - 1) / 6 for n in range(1, 7)])
    monotone = all(a >= b for a, b in itertools.pairwise(course))
    return Finding(
        printed=highest(at_l) == 0,
        # It says that an empty sum is zero, and nothing of how E gets there.
        informative=monotone or not (by_hand and close(one_left, 1 - 2 / 2000)),
        # A one-hot row attains the cap (row 6); here it is (1 − 5/6)·6.
        corrected=broken == 0 and close(cap, 1.0),
        numbers={
            "E at N = L": highest(at_l),
            "E with one token left out, L=2000": one_left,
            "E at N=1, L=6, flat, x=1": course[0],
            "E at N=3": course[2],
            "E at N=5, and its cap": f"{course[4]:.3g}, {cap:.3g}",
            "violations of the cap": broken,
        },
    )


@claim("8", "Introduction, sections 4 and 5; slides, corollary", Verdict.FALSE)
def collapse() -> Finding:
    """If N = Θ(L), the distance d̃ collapses to zero.

    With half of the tokens selected by flat weights, d̃ = L/4 − ½ for identical vectors, and on the
    sphere it grows like √L. So does the bound of Theorem 1.1.

    |d̃ − (L−N)‖s‖| ≤ Σ_{i∉I}‖α_i x_i‖. As N → L the terms become few, not small.

    In theory.normalization.distance: distance; in theory.normalization.distance_bounds:
    printed_bound.
    """
    draw, lengths = Draws(11), [64, 256, 1024]
    numbers: dict[str, float | int | str] = {}
    growing, bounds, broken, by_hand, attained = [], [], 0, [], []
    for length in lengths:
        alpha = flat(length)
        selected = top_n(alpha, length // 2)
        for name, x in (
            ("identical x", full(1.0, length, 1)),
            ("x on the sphere", draw.sphere(length, 64)),
        ):
            value = distance(alpha, x, selected)
            norms = weighted(alpha, x).norm(dim=-1)
            slack = (norms * ~selected).sum(-1)
            context = context_vector(alpha, x, selected).norm(dim=-1)
            away = (value - length // 2 * context).abs()
            broken += violated(away, slack)
            numbers[f"distance at N = L/2, flat, {name}, L={length}"] = value.item()
            if name == "identical x":
                by_hand.append(close(value, length / 4 - 0.5))
                attained.append(close(away, slack))
            else:
                growing.append(value.item())
                bounds.append(distance_bounds.printed_bound(alpha, x, selected).item())
    numbers["exponent in L, x on the sphere"] = growth = slope(lengths, growing)
    numbers["exponent of Theorem 1.1's bound there"] = slope(lengths, bounds)
    numbers["violations of |d - n|s|| <= sum of outside norms"] = broken
    return Finding(
        # Not a collapse but the growth that the record tells of, and the theorem's bound grows too.
        printed=not (all(by_hand) and abs(growth - 0.5) < 0.1 and slope(lengths, bounds) > 0.9),
        corrected=broken == 0 and all(attained),
        numbers=numbers,
    )
