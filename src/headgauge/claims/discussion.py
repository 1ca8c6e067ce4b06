"""Rows 15 to 18 and 22: how many heads it takes, the appendices' slips, what a test can tell."""

import math

import torch
from scipy import special, stats
from torch import Tensor

from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import Draws, close, doubles, full, named, orthonormal
from headgauge.registry.published import GPT2_HEADS as HEADS
from headgauge.registry.published import LEVEL
from headgauge.theory.normalization import coverage, expected_distance, kolmogorov_smirnov
from headgauge.theory.normalization.distance import distance, distances_to_context
from headgauge.theory.normalization.selection import selected_mass, top_n


@claim("15", "Section 4, second point", Verdict.CONDITION)
def heads_cover() -> Finding:
    """H independent heads cover 1−(1−p)^H of the top-N tokens; p = .8 needs H = 3 for 99 %.

    The arithmetic is right (.992). Besides independence it needs heads that share one top-N set:
    independent heads that share half of it cover .93.

    With independence and one top-N set: p = .8 needs 3 heads, p = .7 needs 4.

    In theory.normalization.coverage: multi_head_coverage, heads_needed.
    """
    draw = Draws(26)
    tokens, p, heads = 200_000, 0.8, 3
    seen = draw.events(p, heads, tokens)
    shared = seen.any(0).to(torch.float64).mean().item()
    # Heads that choose for themselves: another head looks at half of this head's top-N tokens.
    own = draw.events(0.5, heads, tokens)
    own[0] = True
    apart = (seen & own).any(0).to(torch.float64).mean().item()
    formula = coverage.multi_head_coverage(p, heads)
    counted = {0.5: 7, 0.7: 4, 0.8: 3, 0.95: 2, 0.995: 1, 1.0: 1}
    return Finding(
        # 1 − .2·.6·.6 instead of .992.
        printed=not (abs(apart - 0.928) < 0.002 and close(formula, 0.992)),
        conditional=abs(shared - formula) < 0.002 and coverage.heads_needed(p, 0.99) == heads,
        corrected=all(coverage.heads_needed(p, 0.99) == heads for p, heads in counted.items())
        and close(coverage.multi_head_coverage(0.7, 4), 0.9919),
        numbers={
            "1-(1-p)^H, p=.8, H=3": formula,
            "simulated, independent heads with one top-N set": shared,
            "simulated, independent heads that share half of it": apart,
            "heads needed for 99 % at p=.7": coverage.heads_needed(0.7, 0.99),
        },
    )


@claim("16", "Section 3.1(iii)", Verdict.FALSE, textual=True)
def sub_linear() -> None:
    """The critical-N curve grows sub-linearly (≈ 0.06 L).

    It contradicts itself: 0.06 L is linear in L.

    State either the exponent or the proportion.
    """


@claim("17", "Appendix B; figures and slides", Verdict.MISPRINT, textual=True)
def algorithms() -> None:
    """Algorithms 1–3 take the bound and the expectation from eqs. (9) and (10).

    Those are Corollary 2(ii) and N_s. Also: Algorithm 3's level is .05 where text and figure have
    .01; its list of relative errors is never used; its KS test compares 144 paired, dependent
    heads, and not rejecting is not equality (row 22); the slides swap figures 2(a) and 2(b) and
    renumber 2(c), 3 and 4 as 3, 4 and 5; a closed ball of radius r = min outside distance contains
    the nearest token that it is to keep out.

    The bound is Theorem 1.1, the expectation Theorem 1.2 (here: eq. (24)). An open ball keeps every
    other token out; N_s differs only at ties.

    In theory.normalization.distance_bounds: printed_bound; in
    theory.normalization.expected_distance: appendix.
    """


@claim("18", "Appendix A, eqs. (28), (29), (31), (34)", Verdict.MISPRINT)
def appendix_slips() -> Finding:
    """The steps of Theorem 2's proof as printed.

    (28) lacks an expectation in the middle; (29)'s 4M² is eight times Hoeffding's constant; (31)
    has ⟨x_i, x_j⟩ for ⟨x_j, x_k⟩; the first '≤' of (34) must be '≥'.

    Each slip mended; even so (29) does not prove the upper bound (row 9').

    In theory.normalization.distance: distances_to_context.
    """
    # Eqs. (29), (31) and (34): each printed form must fail and each mended one hold.
    draw = Draws(27)
    alpha, x = draw.weights(12), draw.sphere(12, 4)
    selected = top_n(alpha, 5)
    i, *others = selected.nonzero()[:, 0].tolist()
    true = distances_to_context(alpha, x, selected)[i].item() ** 2
    pairs = [(j, k) for j in others for k in others]
    eq31 = sum((alpha[j] * alpha[k] * (x[i] @ x[j])).item() for j, k in pairs)
    mended31 = sum((alpha[j] * alpha[k] * (x[j] @ x[k])).item() for j, k in pairs)

    # (29) bounds log E e^{t(X − EX)} by 4M²t². X = 0 or 2M with equal chance is the extreme case
    # of Hoeffding's lemma, M²t²/2 to second order.
    t = 1e-3
    extreme = math.log(math.cosh(t)) / t**2
    # (34) about P(X ≤ r), for the distances of many random rows.
    rows = alpha.expand(4000, 12), draw.sphere(4000, 12, 4), selected.expand(4000, 12)
    distances = distances_to_context(*rows)[:, i]
    above = below = 0
    for radius in (0.2, 0.3, 0.4, 0.6):
        share = (distances <= radius).to(torch.float64).mean().item()
        markov = 1 - distances.mean().item() / radius
        above += int(share > markov)
        below += int(not share >= markov)
    # Four times M² with M = 1, eight times what is needed.
    slips = (abs(eq31 - true) > 1e-3, close(4 / extreme, 8.0, 1e-5), above > 0)
    return Finding(
        printed=not all(slips),
        corrected=close(mended31, true, 1e-12) and close(extreme, 0.5, 1e-6) and below == 0,
        numbers={
            "squared distance X_i^2": true,
            "eq. (31) as printed": eq31,
            "eq. (31) with <x_j, x_k>": mended31,
            "constant of (29) over what the extreme case needs": 4 / extreme,
            "radii of 4 at which P(X <= r) exceeds what (34) allows": above,
            "radii at which the mended (34) fails": below,
        },
    )


def _statistic(first: Tensor, second: Tensor) -> Tensor:
    """sup|F₁ − F₂| of two samples, by rows."""
    both = torch.cat([first, second], -1).sort(-1).values
    one, other = (
        torch.searchsorted(each.sort(-1).values, both, right=True) for each in (first, second)
    )
    return (one - other).abs().amax(-1).to(torch.float64) / first.shape[-1]


def _accepted(shift: float) -> dict[int, float]:
    """How often two normal samples whose means differ by this part of their spread pass, by the
    number of heads."""
    draw, shares = Draws(32), {}
    for heads in (HEADS // 4, HEADS, 4 * HEADS):
        found = _statistic(draw.normal(500, heads), draw.normal(500, heads) + shift)
        passes = found < kolmogorov_smirnov.detectable(heads, LEVEL) - 1e-9
        shares[heads] = passes.to(torch.float64).mean().item()
    return shares


def _sharp_row() -> tuple[float, float, float]:
    """d̃, E and the weight of the two selected keys in a row that is anything but uniform.

    Two opposite unit vectors carry nearly all the weight. Equal weights make them cancel, d̃ < E;
    one of them alone, d̃ > E; between the two d̃ = E.
    """
    length, rest = 12, 0.01
    x = full(1 / math.sqrt(2), length, 2)
    x[:2] = doubles([[1.0, 0.0], [-1.0, 0.0]])

    def row(difference: float) -> tuple[Tensor, Tensor, Tensor]:
        alpha = full(rest / (length - 2), length)
        alpha[0], alpha[1] = (1 - rest + difference) / 2, (1 - rest - difference) / 2
        selected = top_n(alpha, 2)
        mass = selected_mass(alpha, selected)
        return distance(alpha, x, selected), expected_distance.exact(alpha, x, 2), mass

    low, high = 0.0, 0.9
    for _ in range(60):
        middle = (low + high) / 2
        value, expected, _ = row(middle)
        low, high = (middle, high) if bool(value < expected) else (low, middle)
    value, expected, mass = row(low)
    return value.item(), expected.item(), mass.item()


@claim(
    "22",
    "Abstract; section 3.1, critical N and (iii); figure 2(c); slides, top-N plateau",
    Verdict.NOT_IMPLIED,
)
def acceptance() -> Finding:
    """Where the KS test accepts, true and expected distances have become one and attention behaves
    as if weights were uniform: it converges to a uniform selection pattern.

    With 144 heads a test at level .01 accepts every distance below 28/144 = .194: two normals whose
    means differ by .4 of their spread (distance .159) pass, and are told apart with 576 heads. All
    144 heads may have d̃ = 1.3 E, none the other way, and the test accepts, because it forgets
    which head is which. And d̃ = E itself says nothing of the weights: a row whose two selected
    keys hold 99 % has it.

    Accepted means that with so many heads no difference was detected. P(D ≥ k/n) = 2Σ(−1)^(j−1)
    C(2n, n−jk)/C(2n, n) for independent samples; the paper's are paired, so a paired test, or the
    size of d̃/E with its interval, is what tells. How uniform weights are is read off the weights.

    In theory.normalization.kolmogorov_smirnov: p_value, detectable; in
    theory.normalization.expected_distance: exact.
    """
    test = kolmogorov_smirnov
    limit, more = test.detectable(HEADS, LEVEL), test.detectable(4 * HEADS, LEVEL)
    # The quantiles of two normals .4 of their spread apart: exact samples, nothing drawn.
    quantiles = torch.special.ndtri((torch.arange(HEADS, dtype=torch.float64) + 0.5) / HEADS)
    apart = _statistic(quantiles, quantiles + 0.4).item()
    population = 2 * float(special.ndtr(0.2)) - 1
    passes = _accepted(0.3)
    few, own, many = passes.values()
    different = apart < limit and population > more and few > own > 0.5 > many
    # One and the same order of heads: every single one has d̃ above E.
    expected = torch.exp(quantiles)
    paired = _statistic(expected, 1.3 * expected).item()
    value, mean, mass = _sharp_row()
    by_hand = expected_distance.exact(*orthonormal(6), 2)
    uniform = not (close(value, mean) and mass > 0.98 and close(by_hand, 2 / 3 * math.sqrt(3)))
    # The reflection formula against scipy's own enumeration.
    excess = round(limit * HEADS)
    exact = test.p_value(excess, HEADS) <= LEVEL < test.p_value(excess - 1, HEADS)
    for shift in (0.3, 0.5):
        other = quantiles + shift
        oracle = stats.kstest(quantiles.numpy(), other.numpy(), method="exact")[1]
        counted = round(_statistic(quantiles, other).item() * HEADS)
        exact &= close(test.p_value(counted, HEADS), float(oracle))
    # Two samples of three always differ by one count: (15 − 6 + 1)·2 of 20.
    exact &= close([test.p_value(k, 3) for k in (0, 1)], 1.0)
    return Finding(
        printed=uniform or not (different and paired < limit),
        corrected=exact and close([limit, more], [28 / HEADS, 56 / (4 * HEADS)]),
        numbers={
            "smallest distance of two samples that is rejected, 144 heads, level .01": limit,
            "the same with 576 heads": more,
            "distance of two normals .4 of their spread apart": population,
            "of their 144 quantiles": apart,
            **named(
                "share accepted with {} heads when means differ by .3 of the spread",
                passes,
                passes.values(),
            ),
            "distance when every one of 144 heads has 1.3 times its E": paired,
            "a row with d = E: weight of its two selected keys": mass,
            "its d and E": f"{value:.6g}, {mean:.6g}",
        },
    )
