"""Rows 15 to 19: the discussion, the appendices' slips, and the slides' closing sentence."""

import math

import torch

from headgauge import normalizers
from headgauge.claims.record import Claim, Finding, Verdict
from headgauge.claims.sampling import (
    SHARPNESS,
    generator,
    highest,
    lowest,
    normal,
    sphere,
    weights,
)
from headgauge.theory import coverage, sensitivity, trade_off
from headgauge.theory.distance import distances_to_context
from headgauge.theory.selection import top_n


def heads_cover() -> Finding:
    source = generator(26)
    tokens, p, heads = 200_000, 0.8, 3
    seen = torch.rand(heads, tokens, generator=source) < p
    shared = seen.any(0).to(torch.float64).mean().item()
    # Heads that choose for themselves: another head looks at half of this head's top-N tokens.
    own = torch.rand(heads, tokens, generator=source) < 0.5
    own[0] = True
    apart = (seen & own).any(0).to(torch.float64).mean().item()
    formula = coverage.multi_head_coverage(p, heads)
    return Finding(
        printed=abs(apart - formula) < 0.01,
        conditional=abs(shared - formula) < 0.002 and coverage.heads_needed(p, 0.99) == heads,
        corrected=coverage.heads_needed(0.7, 0.99) == 4,
        numbers={
            "1-(1-p)^H, p=.8, H=3": formula,
            "simulated, independent heads with one top-N set": shared,
            "simulated, independent heads that share half of it": apart,
            "heads needed for 99 % at p=.7": coverage.heads_needed(0.7, 0.99),
        },
    )


def appendix_slips() -> Finding:
    """Eqs. (29), (31) and (34): each printed form must fail and each mended one hold."""
    source = generator(27)
    alpha = weights(12, sharpness=1.0, source=source)
    x = sphere(12, 4, source=source)
    selected = top_n(alpha, 5)
    others = [j for j in range(12) if bool(selected[j])]
    i = others.pop(0)
    true = distances_to_context(alpha, x, selected)[i].item() ** 2
    pairs = [(j, k) for j in others for k in others]
    eq31 = sum((alpha[j] * alpha[k] * (x[i] @ x[j])).item() for j, k in pairs)
    mended31 = sum((alpha[j] * alpha[k] * (x[j] @ x[k])).item() for j, k in pairs)

    # (29) bounds log E e^{t(X − EX)} by 4M²t². X = 0 or 2M with equal chance is the extreme case
    # of Hoeffding's lemma, M²t²/2 to second order.
    t = 1e-3
    extreme = math.log(math.cosh(t)) / t**2
    # (34) about P(X ≤ r), for the distances of many random rows.
    rows = sphere(4000, 12, 4, source=source)
    distances = distances_to_context(alpha.expand(4000, 12), rows, selected.expand(4000, 12))[:, i]
    above = below = 0
    for radius in (0.2, 0.3, 0.4, 0.6):
        share = (distances <= radius).to(torch.float64).mean().item()
        markov = 1 - distances.mean().item() / radius
        above += int(share > markov)
        below += int(not share >= markov)
    slips = (abs(eq31 - true) > 1e-3, 1.01 * extreme < 4, above > 0)
    return Finding(
        printed=not all(slips),
        corrected=abs(mended31 - true) < 1e-12 and abs(extreme - 0.5) < 1e-6 and below == 0,
        numbers={
            "squared distance X_i^2": true,
            "eq. (31) as printed": eq31,
            "eq. (31) with <x_j, x_k>": mended31,
            "constant of (29) over what the extreme case needs": 4 / extreme,
            "radii of 4 at which P(X <= r) exceeds what (34) allows": above,
            "radii at which the mended (34) fails": below,
        },
    )


def sharp_stable_scalable() -> Finding:
    """Sparsemax at gap 1: one-hot at every length, with Jacobian norm at most 1 at every length."""
    source = generator(28)
    sparsemax, softmax = normalizers.get("sparsemax"), normalizers.get("softmax")
    gap, confidence = 1.0, 0.99
    winners, norms, moves = [], [], []
    softmax_reaches, softmax_norms = [], {}
    for length in (10, 1_000, 100_000):
        logits = torch.zeros(length, dtype=torch.float64)
        logits[0] = gap
        winners.append(sparsemax(logits)[0])
        # Softmax reaches the same confidence only at a temperature that falls with the length.
        temperature = trade_off.softmax_temperature(gap, confidence, length)
        softmax_reaches.append(softmax(logits / temperature)[0].item())
        softmax_norms[length] = sensitivity.corollary_3(temperature)
    for sharpness in SHARPNESS:
        for length in (10, 1_000):
            logits = sharpness * normal(50, length, source=source)
            norms.append(sparsemax.spectral_norm(logits))
            other = logits + 0.3 * normal(50, length, source=source)
            change = torch.linalg.vector_norm(sparsemax(logits) - sparsemax(other), dim=-1)
            moved = torch.linalg.vector_norm(logits - other, dim=-1)
            moves.append(change / moved)
    weakest, largest_norm, lipschitz = lowest(winners), highest(norms), highest(moves)
    # From flat to one-hot: what the lead costs any rule, and what it costs sparsemax.
    length = 1_000
    winner = torch.zeros(length, dtype=torch.float64)
    winner[0] = gap
    centred = winner - winner.mean()
    change = sparsemax(centred) - sparsemax(torch.zeros_like(winner))
    price = (torch.linalg.vector_norm(change) / torch.linalg.vector_norm(centred)).item()
    sharp_and_scalable = weakest > confidence
    stable = largest_norm <= 1 + 1e-9 and lipschitz <= 1 + 1e-9
    softmax_pays = all(abs(weight - confidence) < 1e-9 for weight in softmax_reaches)
    softmax_pays &= softmax_norms[100_000] > 2 * softmax_norms[10]
    return Finding(
        printed=not (sharp_and_scalable and stable),
        corrected=stable and abs(price - trade_off.lipschitz_price(gap)) < 1e-9 and softmax_pays,
        numbers={
            "smallest winning weight of sparsemax at gap 1, L up to 100000": weakest,
            "largest Jacobian norm of sparsemax in random rows": largest_norm,
            "largest finite-difference ratio": lipschitz,
            "what sparsemax pays for a lead of 1; the least is": f"{price:.6g}; {1 / gap:g}",
            **{
                f"softmax's 1/(2T) for weight .99 at gap 1, L={length}": value
                for length, value in softmax_norms.items()
            },
        },
    )


CLAIMS = (
    Claim(
        id="15",
        where="Section 4, second point",
        statement="H independent heads cover 1−(1−p)^H of the top-N tokens; p = .8 needs H = 3 for "
        "99 %.",
        verdict=Verdict.CONDITION,
        because="The arithmetic is right (.992). Besides independence it needs heads that share "
        "one top-N set: independent heads that share half of it cover .93.",
        corrected="With independence and one top-N set: p = .8 needs 3 heads, p = .7 needs 4.",
        code=("theory.coverage.multi_head_coverage", "theory.coverage.heads_needed"),
        check=heads_cover,
    ),
    Claim(
        id="16",
        where="Section 3.1(iii)",
        statement="The critical-N curve grows sub-linearly (≈ 0.06 L).",
        verdict=Verdict.FALSE,
        because="It contradicts itself: 0.06 L is linear in L.",
        corrected="State either the exponent or the proportion.",
    ),
    Claim(
        id="17",
        where="Appendix B; figures and slides",
        statement="Algorithms 1–3 take the bound and the expectation from eqs. (9) and (10).",
        verdict=Verdict.MISPRINT,
        because="Those are Corollary 2(ii) and N_s. Also: Algorithm 3's level is .05 where text "
        "and figure have .01; its list of relative errors is never used; its KS test compares 144 "
        "paired, dependent heads, and not rejecting is not equality; the slides swap figures 2(a) "
        "and 2(b) and renumber 2(c), 3 and 4 as 3, 4 and 5.",
        corrected="The bound is Theorem 1.1, the expectation Theorem 1.2 (here: eq. (24)).",
        code=("theory.distance_bounds.printed_bound", "theory.expected_distance.appendix"),
    ),
    Claim(
        id="18",
        where="Appendix A, eqs. (28), (29), (31), (34)",
        statement="The steps of Theorem 2's proof as printed.",
        verdict=Verdict.MISPRINT,
        because="(28) lacks an expectation in the middle; (29)'s 4M² is eight times Hoeffding's "
        "constant; (31) has ⟨x_i, x_j⟩ for ⟨x_j, x_k⟩; the first '≤' of (34) must be '≥'.",
        corrected="Each slip mended; even so (29) does not prove the upper bound (row 9').",
        code=("theory.separability.xi",),
        check=appendix_slips,
    ),
    Claim(
        id="19",
        where="Slides, closing sentence",
        statement="No normalization rule can be simultaneously sharp, stable, and long-context "
        "scalable.",
        verdict=Verdict.FALSE,
        because="Sparsemax is all three: a logit that leads by 1 gets the weight 1 at every L "
        "(sharp, scalable), and its Jacobian norm is at most 1 at every L (stable), because a "
        "projection onto a convex set never increases distances.",
        corrected="Sharpness has a price that does not depend on L: a rule that treats keys alike, "
        "ignores a common shift and turns a lead of R into a one-hot row has a Lipschitz constant "
        "of at least 1/R, and sparsemax pays exactly that. What gets worse with L is the form (3): "
        "softmax needs T ≤ R/log((L−1)(1−η)/η) for a weight 1−η, so its 1/(2T) grows like log L.",
        code=(
            "normalizers.sparsemax",
            "theory.trade_off.lipschitz_price",
            "theory.trade_off.softmax_temperature",
        ),
        check=sharp_stable_scalable,
    ),
)
