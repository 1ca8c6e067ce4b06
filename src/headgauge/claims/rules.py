"""Rows 19 to 21: what the slides and section 4 say of sparse, length-aware and gradient-controlled
rules."""

import itertools
import math

import torch

from headgauge import normalizers
from headgauge.claims import sampling
from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import LENGTHS, Draws, close, full, highest, lowest, named, winners
from headgauge.theory.normalization import random_logits, self_adjusted, sensitivity, trade_off


def _price(lead: float, length: int) -> float:
    """How far the weights move over how far the logits do, from flat to one-hot, when sparsemax
    takes the logits over the lead."""
    sparsemax = normalizers.get("sparsemax")
    moved = sampling.one_winner(length, lead)
    moved = moved - moved.mean()
    change = sparsemax(moved / lead) - sparsemax(torch.zeros_like(moved))
    return (change.norm() / moved.norm()).item()


def _stability() -> tuple[float, float]:
    """Sparsemax in random rows: the largest Jacobian norm, and the largest ratio of differences."""
    draw, sparsemax = Draws(28), normalizers.get("sparsemax")
    norms, moves = [], []
    for sharpness, length in itertools.product(sampling.SHARPNESS, (10, 1_000)):
        logits = sharpness * draw.normal(50, length)
        norms.append(sparsemax.spectral_norm(logits))
        other = logits + 0.3 * draw.normal(50, length)
        change = (sparsemax(logits) - sparsemax(other)).norm(dim=-1)
        moves.append(change / (logits - other).norm(dim=-1))
    return highest(norms), highest(moves)


@claim("19", "Slides, trade-off and closing sentence", Verdict.FALSE)
def sharp_stable_scalable() -> Finding:
    """No normalization rule can be simultaneously sharp, stable, and long-context scalable.

    Sparsemax is all three on rows in which one logit leads by 1 or more: that logit gets the weight
    1 at every L (sharp, scalable), and on all rows the Jacobian norm is at most 1 at every L
    (stable), because a projection onto a convex set never increases distances. Without the lead it
    is stable but not scalable (row 19').

    Sharpness has a price that does not depend on L: a rule that treats keys alike, ignores a common
    shift and turns a lead of R into a one-hot row has a Lipschitz constant of at least 1/R, and
    sparsemax on logits over R pays exactly that. What gets worse with L is the form (3): softmax
    needs T ≤ R/log((L−1)(1−η)/η) for a weight 1−η, so its 1/(2T) grows like log L.

    In normalizers.entmax: Sparsemax; in theory.normalization.trade_off: lipschitz_price,
    softmax_temperature.
    """
    # Sparsemax at a lead of 1: one-hot at every length; and its Jacobian norm is at most 1.
    lead, confidence = 1.0, 0.99
    one_hot = winners(normalizers.get("sparsemax"), lead)
    norm, ratio = _stability()
    stable = norm <= 1 + 1e-9 and ratio <= 1 + 1e-9
    leads = (0.5, 1.0, 2.0)
    prices = [_price(each, 1_000) for each in leads]
    pays = close(prices, [trade_off.lipschitz_price(each) for each in leads])
    # Softmax reaches the same confidence only at a temperature that falls with the length.
    softmax, reached = normalizers.get("softmax"), []
    for length in LENGTHS:
        temperature = trade_off.softmax_temperature(0.7 * lead, confidence, length)
        reached.append(softmax(sampling.one_winner(length, 0.7 * lead) / temperature)[0])
    colder = [trade_off.softmax_temperature(lead, confidence, length) for length in LENGTHS]
    bounds = [sensitivity.corollary_3(temperature) for temperature in colder]
    softmax_pays = (
        close(reached, confidence)
        and close(bounds[-1], sensitivity.spectral_norm(sampling.flat(2), colder[-1]))
        and bounds[-1] > 2 * bounds[0]
    )
    return Finding(
        printed=not (close(one_hot, 1.0) and stable),
        corrected=stable and pays and softmax_pays,
        numbers={
            "smallest weight of sparsemax for a lead of 1, L up to 100000": lowest(one_hot),
            "largest Jacobian norm of sparsemax in random rows": norm,
            "largest finite-difference ratio": ratio,
            "what sparsemax pays for a lead of 1; the least is": f"{prices[1]:.6g}; 1",
            **named("softmax's 1/(2T) for weight .99 at a lead of 1, L={}", LENGTHS, bounds),
        },
    )


ALPHAS = (2.0, 1.5, 1.25)
UNIFORM, RISING = "uniform of width 4", "rising"
DENSITY = {UNIFORM: 0.25, RISING: 5 / 3}
"""Of independent bounded logits at their upper end."""


def _bounded(draw: Draws, length: int, kind: str) -> torch.Tensor:
    """Rows of such logits; the rising density is (1 + 4z)/3 on [0, 1], 1 on average."""
    uniform = draw.uniform(24, length)
    return 4 * uniform if kind == UNIFORM else ((1 + 24 * uniform).sqrt() - 1) / 4


def _without_a_lead() -> dict[tuple[float, str, int], tuple[float, float]]:
    """Entmax of such rows: the largest weight and how many keys have one, means over rows."""
    draw, found = Draws(29), {}
    for alpha, kind, length in itertools.product(ALPHAS, DENSITY, (1_000, 100_000)):
        weights = normalizers.get("entmax", alpha=alpha)(_bounded(draw, length, kind))
        count = (weights > 0).sum(-1).to(torch.float64)
        found[alpha, kind, length] = weights.amax(-1).mean().item(), count.mean().item()
    return found


@claim(
    "19'",
    "Section 4, first line of research and guideline 3; slides, 'use adaptive normalization'",
    Verdict.CONDITION,
)
def sparse_rules() -> Finding:
    """Sparse rules (Sparsemax, α-Entmax) decouple selectivity from gradient health: they do not
    share the vanishing of the weights.

    True for rows with a lead of 1/(α−1) or more, one-hot at every L. For independent bounded logits
    the largest weight falls like L^(−1/2) under sparsemax and L^(−2/3) under 1.5-entmax: slower
    than softmax's 1/L, and to zero all the same.

    For independent logits whose density tends to f at their upper end, the largest weight of
    α-entmax is ~ (α/(fL))^(1/α) and about (fL)^(1/α)((β+1)β^β)^(1−1/α) keys keep one, β = 1/(α−1):
    proved, and met within 4 % at L = 100,000.

    In theory.normalization.random_logits: entmax_largest, entmax_support; in
    theory.normalization.trade_off: one_hot_lead.
    """
    numbers: dict[str, float | int | str] = {}
    one_hot, law, slopes = [], [], []
    simulated = _without_a_lead()
    for alpha in ALPHAS:
        rule, enough = normalizers.get("entmax", alpha=alpha), trade_off.one_hot_lead(alpha)
        one_hot += winners(rule, enough)
        # A little less is not enough.
        one_hot += [float(weight < 1) for weight in winners(rule, 0.9 * enough)]
        for kind, density in DENSITY.items():
            (short, _), (long, count) = (simulated[alpha, kind, n] for n in (1_000, 100_000))
            # A density that rises towards its end shows longer the smaller α is.
            if alpha == 2 or kind != RISING:
                law.append(long / random_logits.entmax_largest(alpha, density, 100_000))
                law.append(count / random_logits.entmax_support(alpha, density, 100_000))
            slopes.append(math.log(long / short) / math.log(100) * alpha)
            name = f"largest weight, alpha={alpha:g}, {kind}, L=1000 and 100000"
            numbers[name] = f"{short:.3g}, {long:.3g}"
            name = f"its exponent in L; -1/{alpha:g} is {-1 / alpha:.3g}; {kind}"
            numbers[name] = slopes[-1] / alpha
    numbers["weights and supports over the law at L=100000, smallest"] = lowest(law)
    numbers["the same, largest"] = highest(law)
    return Finding(
        # Without a lead the largest weight falls like L^(−1/α) under these rules as well.
        printed=not close(slopes, -1.0, 0.05),
        conditional=close(one_hot, 1.0),
        corrected=close(law, 1.0, 0.02),
        numbers=numbers,
    )


@claim("20", "Section 4, second line of research", Verdict.CONDITION)
def length_aware() -> Finding:
    """Scalable-Softmax scales logits by log L so that the maximum attention weight stays roughly
    constant as the sequence grows.

    True for a logit that leads by R with sR ≥ 1: its weight tends to 1, or to ½ at sR = 1. For sR <
    1 it falls like L^(sR−1), and for independent bounded logits like log L/L, hardly slower than
    under softmax.

    A lead of R over equal others has the weight 1/(1+(L−1)L^(−sR)); independent logits with density
    f at their upper end have the largest weight ~ s log L/(fL). The Jacobian norm reaches s log
    L/2.

    In theory.normalization.trade_off: ssmax_weight; in theory.normalization.random_logits:
    ssmax_largest; in normalizers.scaled_softmax: SSMax.
    """
    draw = Draws(30)
    numbers: dict[str, float | int | str] = {}
    ends, formula = {}, []
    for product in (2.0, 1.0, 0.5):
        for s in (0.5, 2.0):
            weights = winners(normalizers.get("ssmax", s=s), product / s)
            laws = [trade_off.ssmax_weight(s, product / s, length) for length in LENGTHS]
            formula.append(close(weights, laws))
        ends[product] = weights[-1]
        numbers[f"SSMax weight for sR={product:g}, L=10"] = weights[0]
        numbers[f"SSMax weight for sR={product:g}, L=100000"] = weights[-1]
    spread = []
    for s in (0.5, 2.0):
        weights = normalizers.get("ssmax", s=s)(_bounded(draw, 100_000, UNIFORM))
        law = random_logits.ssmax_largest(s, DENSITY[UNIFORM], 100_000)
        spread.append(weights.amax(-1).mean().item() / law)
    # What it costs: two tied logits far above the rest have the norm s log L/2.
    tied = full(-50.0, 1_000)
    tied[:2] = 0.0
    norm = normalizers.get("ssmax", s=2.0).spectral_norm(tied).item()
    numbers["largest weight over s log L/(fL), independent uniform logits, L=100000"] = spread[0]
    numbers["the same for s=2"] = spread[1]
    numbers["Jacobian norm at two tied logits, s=2, L=1000"] = norm
    return Finding(
        # sR = ½ and independent logits: the largest weight tends to 0.
        printed=not (close(ends[0.5], 100_000**-0.5, 1e-4) and close(spread, 1.0, 0.02)),
        conditional=ends[2.0] > 0.9999 and close(ends[1.0], 0.5, 1e-5),
        corrected=all(formula) and close(norm, math.log(1_000)),
        numbers=numbers,
    )


@claim("21", "Section 4, third line of research and guideline 3", Verdict.FALSE)
def gradient_controlled() -> Finding:
    """Self-Adjusted Softmax re-weights logits so that the Jacobian spectrum stays in a healthy
    band.

    z∘softmax(z) has the Jacobian norm a/2 + ½ at two equal logits a: it grows without limit, where
    softmax has ½. The form normalised by the range of the logits has no bound either: at logits of
    size ε the norm is of order 1/ε.

    ‖∇α‖₂ ≤ max p + max|z|·λ₁(C(p)), attained there. The rule's own paper aims at gradients that
    vanish, not at an upper bound.

    In theory.normalization.self_adjusted: jacobian_bound; in normalizers: sa_softmax.
    """
    draw, sizes = Draws(31), (0.0, 1.0, 10.0, 100.0)
    rule, other = normalizers.get("sa_softmax"), normalizers.get("sa_softmax_normalized")
    pairs = [full(size, 2) for size in sizes]
    at_tie = [rule.spectral_norm(pair).item() for pair in pairs]
    exact = [
        close(at_tie, [size / 2 + 0.5 for size in sizes]),
        close(at_tie, [self_adjusted.jacobian_bound(pair) for pair in pairs]),
        # Next to a one-hot row it is no more than softmax's weight, however large the logits are.
        close(self_adjusted.jacobian_bound(sampling.doubles([30.0, 0.0])), 1.0, 1e-6),
    ]
    broken = 0
    for sharpness in sampling.SHARPNESS:
        logits = sharpness * draw.normal(100, 20)
        norm = rule.spectral_norm(logits)
        broken += sampling.violated(norm, self_adjusted.jacobian_bound(logits))
        jacobian = torch.autograd.functional.jacobian(rule, logits[0])
        exact.append(close(norm[0], torch.linalg.matrix_norm(jacobian, ord=2)))
    # The normalised form divides by the range of the logits, and jumps where there is none.
    near, nearer = (
        other.spectral_norm(size * sampling.doubles([1.0, -1.0, 0.5])).item()
        for size in (1e-2, 1e-4)
    )
    return Finding(
        printed=not (all(exact) and close(nearer / near, 100.0, 0.05)),
        corrected=broken == 0 and all(exact),
        numbers={
            **named("SA-Softmax, norm at two logits of {:g}", sizes, at_tie),
            "violations of max p + max|z| times the norm of C(p)": broken,
            "normalised form, norm for logits of size .01": near,
            "normalised form, norm for logits of size .0001": nearer,
        },
    )
