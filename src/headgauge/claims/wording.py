"""Rows 15 to 18: how many heads it takes, and the appendices' slips."""

import math

import torch

from headgauge.claims.record import Claim, Finding, Verdict
from headgauge.claims.sampling import (
    close,
    generator,
    sphere,
    weights,
)
from headgauge.theory.normalization import coverage
from headgauge.theory.normalization.distance import distances_to_context
from headgauge.theory.normalization.selection import top_n


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
        code=("theory.normalization.coverage.multi_head_coverage", "theory.normalization.coverage.heads_needed"),
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
        "paired, dependent heads, and not rejecting is not equality (row 22); the slides swap "
        "figures 2(a) and 2(b) and renumber 2(c), 3 and 4 as 3, 4 and 5; a closed ball of radius "
        "r = min outside distance contains the nearest token that it is to keep out.",
        corrected="The bound is Theorem 1.1, the expectation Theorem 1.2 (here: eq. (24)). An open "
        "ball keeps every other token out; N_s differs only at ties.",
        code=("theory.normalization.distance_bounds.printed_bound", "theory.normalization.expected_distance.appendix"),
    ),
    Claim(
        id="18",
        where="Appendix A, eqs. (28), (29), (31), (34)",
        statement="The steps of Theorem 2's proof as printed.",
        verdict=Verdict.MISPRINT,
        because="(28) lacks an expectation in the middle; (29)'s 4M² is eight times Hoeffding's "
        "constant; (31) has ⟨x_i, x_j⟩ for ⟨x_j, x_k⟩; the first '≤' of (34) must be '≥'.",
        corrected="Each slip mended; even so (29) does not prove the upper bound (row 9').",
        code=("theory.normalization.distance.distances_to_context",),
        check=appendix_slips,
    ),
)
