"""Rows 19 to 21: what the slides and section 4 say of sparse, length-aware and gradient-controlled
rules."""

import math

import torch

from headgauge import normalizers
from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import (
    LENGTHS,
    SHARPNESS,
    close,
    doubles,
    flat,
    generator,
    highest,
    lowest,
    normal,
    one_winner,
    violated,
)
from headgauge.theory.normalization import random_logits, self_adjusted, sensitivity, trade_off


def _price(lead: float, length: int) -> float:
    """How far the weights move over how far the logits do, from flat to one-hot, when sparsemax
    takes the logits over the lead."""
    sparsemax = normalizers.get("sparsemax")
    moved = one_winner(length, lead)
    moved = moved - moved.mean()
    change = sparsemax(moved / lead) - sparsemax(torch.zeros_like(moved))
    return (torch.linalg.vector_norm(change) / torch.linalg.vector_norm(moved)).item()


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
    source = generator(28)
    sparsemax, softmax = normalizers.get("sparsemax"), normalizers.get("softmax")
    lead, confidence = 1.0, 0.99
    winners = [sparsemax(one_winner(length, lead))[0] for length in LENGTHS]
    norms, moves, reached, softmax_norms = [], [], [], {}
    for length in LENGTHS:
        # Softmax reaches the same confidence only at a temperature that falls with the length.
        temperature = trade_off.softmax_temperature(0.7 * lead, confidence, length)
        reached.append(softmax(one_winner(length, 0.7 * lead) / temperature)[0].item())
        temperature = trade_off.softmax_temperature(lead, confidence, length)
        softmax_norms[length] = sensitivity.corollary_3(temperature)
    for sharpness in SHARPNESS:
        for length in (10, 1_000):
            logits = sharpness * normal(50, length, source=source)
            norms.append(sparsemax.spectral_norm(logits))
            other = logits + 0.3 * normal(50, length, source=source)
            change = torch.linalg.vector_norm(sparsemax(logits) - sparsemax(other), dim=-1)
            moved = torch.linalg.vector_norm(logits - other, dim=-1)
            moves.append(change / moved)
    largest_norm, lipschitz = highest(norms), highest(moves)
    stable = largest_norm <= 1 + 1e-9 and lipschitz <= 1 + 1e-9
    leads = (0.5, 1.0, 2.0)
    pays = all(close(_price(each, 1_000), trade_off.lipschitz_price(each)) for each in leads)
    coldest = trade_off.softmax_temperature(lead, confidence, LENGTHS[-1])
    softmax_pays = (
        close(reached, confidence)
        and close(softmax_norms[LENGTHS[-1]], sensitivity.spectral_norm(flat(2), coldest))
        and softmax_norms[LENGTHS[-1]] > 2 * softmax_norms[LENGTHS[0]]
    )
    return Finding(
        printed=not (close(winners, 1.0) and stable),
        corrected=stable and pays and softmax_pays,
        numbers={
            "smallest weight of sparsemax for a lead of 1, L up to 100000": lowest(winners),
            "largest Jacobian norm of sparsemax in random rows": largest_norm,
            "largest finite-difference ratio": lipschitz,
            "what sparsemax pays for a lead of 1; the least is": f"{_price(1.0, 1_000):.6g}; 1",
            **{
                f"softmax's 1/(2T) for weight .99 at a lead of 1, L={length}": value
                for length, value in softmax_norms.items()
            },
        },
    )


ALPHAS = (2.0, 1.5, 1.25)


def _random_rows(length: int, kind: str, source: torch.Generator) -> tuple[torch.Tensor, float]:
    """Independent bounded logits, and their density f at the top."""
    uniform = torch.rand(24, length, dtype=torch.float64, generator=source)
    if kind == "uniform of width 4":
        return 4 * uniform, 0.25
    # The density (1 + 4z)/3 on [0, 1], 5/3 at its end and 1 on average.
    return ((1 + 24 * uniform).sqrt() - 1) / 4, 5 / 3


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
    source = generator(29)
    numbers: dict[str, float | int | str] = {}
    one_hot, law, slopes = [], [], []
    for alpha in ALPHAS:
        rule = normalizers.get("entmax", alpha=alpha)
        enough = trade_off.one_hot_lead(alpha)
        one_hot += [rule(one_winner(length, enough))[0].item() for length in LENGTHS]
        # A little less is not enough.
        one_hot += [float(rule(one_winner(length, 0.9 * enough))[0] < 1) for length in LENGTHS]
        largest = {}
        for kind in ("uniform of width 4", "rising"):
            for length in (1_000, 100_000):
                logits, density = _random_rows(length, kind, source)
                weights = rule(logits)
                largest[length] = weights.amax(-1).mean().item()
                count = (weights > 0).sum(-1).to(torch.float64).mean().item()
                # A density that rises towards its end shows longer the smaller α is.
                if length == 100_000 and (alpha == 2 or kind != "rising"):
                    expected = random_logits.entmax_largest(alpha, density, length)
                    law.append(largest[length] / expected)
                    law.append(count / random_logits.entmax_support(alpha, density, length))
            slopes.append(math.log(largest[100_000] / largest[1_000]) / math.log(100) * alpha)
            numbers[f"largest weight, alpha={alpha:g}, {kind}, L=1000 and 100000"] = (
                f"{largest[1_000]:.3g}, {largest[100_000]:.3g}"
            )
            numbers[f"its exponent in L; -1/{alpha:g} is {-1 / alpha:.3g}; {kind}"] = (
                slopes[-1] / alpha
            )
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
    source = generator(30)
    numbers: dict[str, float | int | str] = {}
    ends, formula = {}, []
    for product in (2.0, 1.0, 0.5):
        for s in (0.5, 2.0):
            rule = normalizers.get("ssmax", s=s)
            lead = product / s
            weights = [rule(one_winner(length, lead))[0].item() for length in LENGTHS]
            laws = [trade_off.ssmax_weight(s, lead, length) for length in LENGTHS]
            formula += [close(a, b) for a, b in zip(weights, laws, strict=True)]
            ends[product] = weights[-1]
        numbers[f"SSMax weight for sR={product:g}, L=10"] = weights[0]
        numbers[f"SSMax weight for sR={product:g}, L=100000"] = weights[-1]
    kept = ends[2.0] > 0.9999 and close(ends[1.0], 0.5, 1e-5)
    lost = close(ends[0.5], 100_000**-0.5, 1e-4)
    spread = []
    for s in (0.5, 2.0):
        logits, density = _random_rows(100_000, "uniform of width 4", source)
        largest = normalizers.get("ssmax", s=s)(logits).amax(-1).mean().item()
        spread.append(largest / random_logits.ssmax_largest(s, density, 100_000))
    # What it costs: two tied logits far above the rest have the norm s log L/2.
    rule = normalizers.get("ssmax", s=2.0)
    tied = torch.full((1_000,), -50.0, dtype=torch.float64)
    tied[:2] = 0.0
    norm = rule.spectral_norm(tied).item()
    numbers["largest weight over s log L/(fL), independent uniform logits, L=100000"] = spread[0]
    numbers["the same for s=2"] = spread[1]
    numbers["Jacobian norm at two tied logits, s=2, L=1000"] = norm
    return Finding(
        # sR = ½ and independent logits: the largest weight tends to 0.
        printed=not (lost and close(spread, 1.0, 0.02)),
        conditional=kept,
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
    source = generator(31)
    rule, other = normalizers.get("sa_softmax"), normalizers.get("sa_softmax_normalized")
    broken, exact, sizes = 0, [], (0.0, 1.0, 10.0, 100.0)
    at_tie = []
    for size in sizes:
        pair = torch.full((2,), size, dtype=torch.float64)
        at_tie.append(rule.spectral_norm(pair).item())
        exact.append(close(at_tie[-1], size / 2 + 0.5))
        exact.append(close(at_tie[-1], self_adjusted.jacobian_bound(pair)))
    for sharpness in SHARPNESS:
        logits = sharpness * normal(100, 20, source=source)
        norm, bound = rule.spectral_norm(logits), self_adjusted.jacobian_bound(logits)
        broken += violated(norm, bound)
        jacobian = torch.autograd.functional.jacobian(rule, logits[0])
        exact.append(close(norm[0], torch.linalg.matrix_norm(jacobian, ord=2)))
    # Next to a one-hot row it is no more than softmax's weight, however large the logits are.
    sharp = doubles([30.0, 0.0])
    exact.append(close(self_adjusted.jacobian_bound(sharp), 1.0, 1e-6))
    # The normalised form divides by the range of the logits, and jumps where there is none.
    unit = doubles([1.0, -1.0, 0.5])
    near = {size: other.spectral_norm(size * unit).item() for size in (1e-2, 1e-4)}
    return Finding(
        printed=not (all(exact) and close(near[1e-4] / near[1e-2], 100.0, 0.05)),
        corrected=broken == 0 and all(exact),
        numbers={
            **{
                f"SA-Softmax, norm at two logits of {size:g}": value
                for size, value in zip(sizes, at_tie, strict=True)
            },
            "violations of max p + max|z| times the norm of C(p)": broken,
            "normalised form, norm for logits of size .01": near[1e-2],
            "normalised form, norm for logits of size .0001": near[1e-4],
        },
    )
