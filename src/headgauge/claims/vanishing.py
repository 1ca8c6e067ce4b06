"""Rows 1 to 2: Lemma 1, the introduction's stronger reading of it, Corollary 1."""

import functools
import math

import torch
from torch import Tensor

from headgauge import normalizers
from headgauge.claims import sampling
from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import LENGTHS, Draws, close, doubles, highest, one_winner, violated
from headgauge.theory.normalization import vanishing
from headgauge.theory.normalization.general_normalizer import normalise


def _positive_only(logits: Tensor) -> Tensor:
    """F(z) = e^{−1/z} for z > 0, else 0: smooth and non-negative, but not positive."""
    positive = logits > 0
    return torch.where(positive, torch.exp(-1 / torch.where(positive, logits, 1.0)), 0.0)


@claim("1", "Lemma 1, eq. (4); slides, F ≥ 0", Verdict.CONDITION)
def lemma_1() -> Finding:
    """Bounded logits and an F that does not depend on L give C₁/L ≤ α_i ≤ C₂/L.

    Needs F continuous and strictly positive, and a bound a that does not grow with L. The slides' F
    ≥ 0 is not enough: F(z) = e^(−1/z) for z > 0, else 0, keeps α₁ = 1 at every L; with a = ½ log L,
    α₁ → ½.

    m/(m+(L−1)M) ≤ α_i ≤ M/(M+(L−1)m) with m, M the extremes of F on [−a, a]; C₁ = m/M and C₂ = M/m
    are the best constants free of L.

    In theory.normalization.vanishing: lemma_1_bounds, lemma_1_constants.
    """
    draw, bound = Draws(1), 2.0
    softplus = torch.nn.functional.softplus
    broken, attained, best = 0, [], []
    for function, least, most in (
        (torch.exp, math.exp(-bound), math.exp(bound)),
        (softplus, math.log1p(math.exp(-bound)), math.log1p(math.exp(bound))),
    ):
        c1, c2 = vanishing.lemma_1_constants(least, most)
        for length in LENGTHS:
            lower, upper = vanishing.lemma_1_bounds(least, most, length)
            alpha = normalise(function, (2 * draw.uniform(20, length) - 1) * bound)
            broken += violated(lower, alpha, upper, tolerance=1e-12)
            broken += int(not (c1 <= lower * length and upper * length <= c2 * (1 + 1e-12)))
            for top, reached in ((bound, upper), (-bound, lower)):
                extreme = normalise(function, one_winner(length, top, -top))[0].item()
                attained.append(abs(extreme / reached - 1))
        lower, upper = vanishing.lemma_1_bounds(least, most, LENGTHS[-1])
        best += [c1 / (lower * LENGTHS[-1]), c2 / (upper * LENGTHS[-1])]
    zero_allowed = sampling.winners(functools.partial(normalise, _positive_only), 1.0, -1.0)
    half = 0.5 * math.log(LENGTHS[-1])
    growing = torch.softmax(one_winner(LENGTHS[-1], half, -half), -1)[0].item()
    return Finding(
        # The two counterexamples are what the record tells of them.
        printed=not (close(zero_allowed, 1.0) and close(growing, 0.5, 1e-5)),
        conditional=broken == 0,
        # Sharp at every L; the constants free of L are approached, so none better will do.
        corrected=broken == 0 and highest(attained) < 1e-9 and close(best, 1.0, 1e-3),
        numbers={
            "violations with F > 0 and a fixed": broken,
            "relative distance of the extreme row from the sharp bound": highest(attained),
            "alpha_1 at L=100000 when F may be 0": zero_allowed[-1],
            "alpha_1 at L=100000 when a = log(L)/2": growing,
        },
    )


@claim("1'", "Introduction", Verdict.FALSE)
def any_length_independent_rule() -> Finding:
    """Any length-independent normaliser has this limit.

    sparsemax does not know the length and gives (1, 0, …, 0) the weight 1 at every L; it is not of
    the form (3).

    The limit holds for normalisers of the form (3), α_i = F(l_i)/Σ F(l_j).

    In normalizers.entmax: Sparsemax; in theory.normalization.vanishing: lemma_1_bounds.
    """
    sparse = sampling.winners(normalizers.get("sparsemax"), 1.0)
    # Softmax is of the form (3). Logits of .5 and 1.5 make F go from e^.5 to e^1.5, and one that
    # differs from the others attains the sharp bound, on either side.
    bounds = [vanishing.lemma_1_bounds(math.exp(0.5), math.exp(1.5), each) for each in LENGTHS]
    softmax = normalizers.get("softmax")
    sides = [sampling.winners(softmax, top, 2 - top) for top in (0.5, 1.5)]
    most = sides[1][-1] * LENGTHS[-1]
    return Finding(
        printed=not close(sparse, 1.0),
        corrected=close(doubles(sides) / doubles(bounds).mT, 1.0) and close(most, math.e, 1e-4),
        numbers={
            **sampling.named("sparsemax weight of the winner, L={}", LENGTHS, sparse),
            "softmax weight times L for the same lead, L=100000": most,
            "e, which it does not exceed": math.e,
        },
    )


@claim("2", "Corollary 1, eq. (5)", Verdict.CONDITION)
def corollary_1() -> Finding:
    """For softmax, e^(−2Δ/T)/L ≤ α_i ≤ e^(2Δ/T)/L with Δ = ‖q‖‖k‖.

    True if ‖k‖ is the largest key norm. With k = k_i it fails: q = 1, k = (0, 3, 3) would have to
    give α₀ = 1/3.

    α_i lies in [1/(1+(L−1)e^R), 1/(1+(L−1)e^(−R))], attained, for R = 2‖q‖ max‖k_j‖/T or, better,
    (l_max − l_min)/T; also α_i ≤ e^((l_i − mean l)/T)/L ≤ e^(‖q‖‖k_i − mean k‖/T)/L. e^(2Δ/T) is
    the best constant free of L.

    In theory.normalization.vanishing: corollary_1_printed, corollary_1_sharp, jensen_upper_bound.
    """
    draw, temperature = Draws(2), 0.5
    broken, sharp_broken, tight = 0, 0, []
    for sharpness in sampling.SHARPNESS:
        query, keys = sharpness * draw.normal(200, 8), draw.normal(200, 50, 8)
        logits = (keys @ query[..., None])[..., 0]
        alpha = torch.softmax(logits / temperature, -1)
        least, most = alpha.amin(-1), alpha.amax(-1)
        for spread in (
            vanishing.corollary_1_range(query, keys, temperature),
            vanishing.logit_range(logits, temperature),
        ):
            lower, upper = vanishing.corollary_1_printed(spread, 50)
            broken += violated(lower, least, most, upper)
            lower, upper = vanishing.corollary_1_sharp(spread, 50)
            sharp_broken += violated(lower, least, most, upper)
        jensen = vanishing.jensen_upper_bound(logits, temperature)
        by_norms = vanishing.key_spread_upper_bound(query, keys, temperature)
        sharp_broken += violated(alpha, jensen, by_norms)
        tight.append((jensen / alpha).median())
    spread, long = doubles(6.0), 10**6
    extremes = [torch.softmax(one_winner(50, top, -top), -1)[0] for top in (-3.0, 3.0)]
    pairs = zip(
        vanishing.corollary_1_sharp(spread, long),
        vanishing.corollary_1_printed(spread, long),
        strict=True,
    )
    best = [(sharp / printed).item() for sharp, printed in pairs]
    # Keys along the query: Δ is the largest logit and every inequality between norms is equality.
    query, keys = doubles([1.5]), doubles([[1.0], [-1.0]])
    logits = keys[:, 0] * query
    aligned = (
        close(vanishing.corollary_1_range(query, keys, temperature), 6.0)
        and close(vanishing.logit_range(logits, temperature), 6.0)
        and close(
            vanishing.key_spread_upper_bound(query, keys, temperature)[0],
            vanishing.jensen_upper_bound(logits, temperature)[0],
        )
    )
    own_key = torch.softmax(doubles([0.0, 3.0, 3.0]), -1)[0].item()
    return Finding(
        # With k read as k_i, Δ = 0 for the first key and the statement says exactly 1/3.
        printed=not close(own_key, 1 / (1 + 2 * math.exp(3))),
        conditional=broken == 0,
        # The flat rows attain Jensen's bound; e^{±R} are approached: no other constant will do.
        corrected=sharp_broken == 0
        and close(vanishing.corollary_1_sharp(spread, 50), extremes, 1e-12)
        and close(tight[0], 1.0)
        and close(best, 1.0, 1e-3)
        and aligned,
        numbers={
            "violations with the largest key norm": broken,
            "violations of the sharp and the data-dependent forms": sharp_broken,
            "L times the largest weight over e^R, R=6, L=1000000": best[1],
            "alpha_0 for q=1, k=(0,3,3)": own_key,
            "what the bound with k_i says": 1 / 3,
        },
    )
