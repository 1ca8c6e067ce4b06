"""Rows 3 to 3'': Theorem 1.1, the bound on d̃ for a fixed set."""

from collections.abc import Callable

import torch
from torch import Tensor

from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import Draws, close, doubles, flat, full, highest, lowest, violated
from headgauge.theory.normalization import distance_bounds
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import top_n


def _attained(bound: Callable[..., Tensor], alpha: Tensor, selected: Tensor) -> bool:
    """Whether a bound of Theorem 1.1 is exact in both of its terms.

    Identical vectors leave only the second term, selected vectors at the origin only the first.
    """
    same = doubles([0.6, 0.8]).expand(*alpha.shape, 2)
    apart = torch.where(selected[..., None], 0.0, 2 * same)
    rows = [(alpha, x, selected) for x in (same, apart)]
    return all(close(bound(*row), distance(*row)) for row in rows)


@claim("3", "Theorem 1.1", Verdict.TRUE)
def top_n_set() -> Finding:
    """For the top-N set, d̃ ≤ (1−ᾱ)d₁ + max_I‖x_j‖[ᾱ(L−N) − (1−ᾱ)].

    No violation exists; the '=' between (17) and (18) should be '≤'. The bracket is non-negative
    for a top-N set. Identical vectors attain the bound.

    The centroid bound Σα_i‖x_i−c‖ + ‖c‖Σ|ᾱ−α_i|, c = s/ᾱ, is never worse and cheaper; ‖ns−u‖ ≤ d̃ ≤
    √(n(n‖s‖²−2⟨u,s⟩+Q)) is two-sided, and tighter still with the heaviest unselected token counted
    exactly.

    In theory.normalization.distance_bounds: printed_bound, centroid_bound, sandwich.
    """
    broken = worse = sandwich_broken = peeled_broken = 0
    ratios, widths, closest = [], [], []
    for alpha, x in Draws(3).rows(40, 24, 6):
        for n in (1, 2, 5, 12, 23):
            row = alpha, x, top_n(alpha, n)
            value = distance(*row)
            printed = distance_bounds.printed_bound(*row)
            centroid = distance_bounds.centroid_bound(*row)
            lower, upper = distance_bounds.sandwich(*row)
            inner_lower, inner_upper = distance_bounds.sandwich(*row, peel=1)
            broken += violated(value, printed)
            worse += violated(value, centroid, printed)
            sandwich_broken += violated(lower, value, upper)
            peeled_broken += violated(lower, inner_lower, value, inner_upper, upper)
            ratios.append(printed / value)
            closest.append(centroid / value)
            widths.append(inner_upper / inner_lower)
    width = torch.cat(widths).median().item()
    alpha = Draws(3).weights(40, 24)
    selected = top_n(alpha, 5)
    # Equal y_i outside I: both sides of the sandwich are the distance; and of the peeled one even
    # if the last token, which is not selected, is of another kind.
    equal, x = flat(24), doubles([0.6, 0.8]).repeat(24, 1)
    plain = equal, x, top_n(equal, 5)
    heavy = equal, torch.cat([x[:-1], -10 * x[-1:]]), plain[2]
    return Finding(
        printed=broken == 0,
        # Holding is not enough: a bound that says something is close to what it bounds.
        corrected=worse == sandwich_broken == peeled_broken == 0
        and width < 1.1
        and lowest(closest) < 1.01
        and _attained(distance_bounds.centroid_bound, alpha, selected)
        and close(distance_bounds.sandwich(*plain), distance(*plain))
        and close(distance_bounds.sandwich(*heavy, peel=1), distance(*heavy)),
        informative=_attained(distance_bounds.printed_bound, alpha, selected),
        numbers={
            "violations in 3000 rows": broken,
            "printed bound over distance, smallest": lowest(ratios),
            "printed bound over distance, largest": highest(ratios),
            "peeled sandwich, upper over lower side, median": width,
            "violations of the centroid bound or of its being below": worse,
            "violations of the sandwich": sandwich_broken,
            "violations of the peeled sandwich or of its being nested": peeled_broken,
        },
    )


@claim("3'", "Theorem 1.1, 'if I_N is fixed'", Verdict.FALSE)
def arbitrary_set() -> Finding:
    """The same bound for an arbitrary fixed set I.

    L = 2, I = {2}, α = (.9, .1), x = 1: d̃ = 0.8 and the bound is −0.8.

    Needs α_i ≤ ᾱ for every i ∉ I; otherwise put Σ_{i∉I}|ᾱ−α_i| in place of the bracket.

    In theory.normalization.distance_bounds: absolute_bound.
    """
    example = doubles([0.9, 0.1]), full(1.0, 2, 1), torch.tensor([False, True])
    value = distance(*example).item()
    printed = distance_bounds.printed_bound(*example).item()

    draw = Draws(4)
    bounds = distance_bounds.absolute_bound, distance_bounds.centroid_bound
    broken = total = corrected_broken = 0
    ratios, attained = [], []
    for alpha, x in draw.rows(40, 12, 4):
        chosen = draw.events(0.3, *alpha.shape)
        chosen[..., 0] = True
        row = alpha, x, chosen
        d = distance(*row)
        absolute, centroid = (bound(*row) for bound in bounds)
        broken += violated(d, distance_bounds.printed_bound(*row))
        corrected_broken += violated(d, absolute) + violated(d, centroid)
        ratios.append(absolute / d)
        attained += [_attained(bound, alpha, chosen) for bound in bounds]
        total += len(alpha)
    return Finding(
        printed=not (close(value, 0.8) and close(printed, -0.8) and broken > 0),
        corrected=corrected_broken == 0 and all(attained),
        numbers={
            "distance for L=2, I={2}, alpha=(.9,.1), x=1": value,
            "printed bound there": printed,
            f"violations in {total} random sets": broken,
            "violations of the corrected bounds": corrected_broken,
            "corrected bound over distance, smallest": lowest(ratios),
        },
    )


@claim("3''", "Slides, Theorem 1", Verdict.FALSE)
def slides_square() -> Finding:
    """The same bound with max‖x_j‖² in place of max‖x_j‖.

    Not homogeneous: flat weights and all x = ½ (L = 12, N = 4) have d̃ = 1, twice the bound. The
    index of d₁ there, 'i∉I, i∈I', is a slip for j∈I.

    The norm, not its square, as in the paper.

    In theory.normalization.distance_bounds: slides_bound, printed_bound.
    """
    alpha = flat(12)
    row = alpha, full(0.5, 12, 1), top_n(alpha, 4)
    value = distance(*row).item()
    slides = distance_bounds.slides_bound(*row).item()
    printed = distance_bounds.printed_bound(*row).item()
    return Finding(
        printed=not (close(value, 1.0) and close(slides, value / 2)),
        corrected=close(printed, value),
        numbers={
            "distance, flat weights, all x = 1/2, L=12, N=4": value,
            "slides' bound": slides,
            "bound with the norm": printed,
        },
    )
