"""Rows 12 to 12'': Lemma 2, the Jacobian of any normaliser of the form (3)."""

import itertools
import math

import torch

from headgauge.claims.record import Finding, Verdict, claim
from headgauge.claims.sampling import Draws, close, doubles, flat, full, highest, violated
from headgauge.claims.sensitivity import covariance
from headgauge.theory.normalization import general_normalizer as general
from headgauge.theory.normalization import sensitivity


@claim("12", "Lemma 2, eq. (13)", Verdict.FALSE)
def lemma_2() -> Finding:
    """‖∇α‖₂ ≤ max|F′| (1/(L min F) + max F/(L² min F²)) for every F.

    The second term lacks a factor L: softplus with values (5L, 10, …, 10), L = 400, has ‖∇α‖₂ =
    1.12e−3 against 3.75e−4. The appendix has no proof of it.

    ∇α = C(p)diag((log F)′), so ‖∇α‖₂ ≤ λ₁(C(p))·max|F′/F| ≤ ½max|F′/F|; also ≤ max|F′|√L‖F‖₂/(ΣF)².
    The printed form is true with Euclidean norms.

    In theory.normalization.general_normalizer: lemma_2_printed, logarithmic_bound, projector_bound.
    """
    values = full(10.0, 400)
    values[0] = 5.0 * 400
    slopes = -torch.expm1(-values)  # softplus'(l) = 1 − e^{−softplus(l)}
    norm = general.spectral_norm(values, slopes).item()
    printed = general.lemma_2_printed(values, slopes).item()

    draw, broken = Draws(22), 0
    functions = (
        (torch.exp, torch.exp),
        (torch.nn.functional.softplus, torch.sigmoid),
        (lambda z: 1 + z**2, lambda z: 2 * z),
    )
    bounds = (
        general.logarithmic_bound,
        general.projector_bound,
        general.smallest_value_bound,
        general.euclidean_bound,
    )
    for spread in (0.1, 1.0, 5.0):
        logits = spread * draw.normal(50, 20)
        for (function, derivative), bound in itertools.product(functions, bounds):
            row = function(logits), derivative(logits)
            broken += violated(general.spectral_norm(*row), bound(*row))
    # Two of them are attained: by softmax, and by a constant slope.
    exponential = torch.exp(draw.normal(50, 20))
    off = highest(
        (bound(exponential, df) / general.spectral_norm(exponential, df) - 1).abs()
        for bound, df in (
            (general.logarithmic_bound, 2 * exponential),
            (general.projector_bound, torch.full_like(exponential, 0.7)),
        )
    )
    # One value, one slope: the norm is F'/(LF), which the smallest value alone then gives; and
    # ‖F′‖ = 2, ‖F‖ = 4: 2·(1/8 + 4/64).
    equal = full(2.0, 4), full(1.0, 4)
    forms = general.spectral_norm, general.smallest_value_bound, general.euclidean_bound
    by_hand = close([form(*equal) for form in forms], [1 / 8, 1 / 8, 3 / 8])
    capped = general.lemma_2_printed(equal[0] / 1000, equal[1])
    return Finding(
        # max|F'| = 1: 1/4000 + 2000/4000².
        printed=not (norm > printed and close(printed, 3.75e-4) and close(capped, math.sqrt(2))),
        corrected=broken == 0 and off < 1e-9 and by_hand,
        numbers={
            "norm, softplus with values (2000, 10, ..., 10), L=400": norm,
            "printed bound": printed,
            "corrected bound there": general.projector_bound(values, slopes).item(),
            "violations of the corrected forms": broken,
            "relative distance of the attained ones from the norm": off,
        },
    )


@claim("12'", "After Lemma 2; section 4", Verdict.FALSE)
def small_f_is_unstable() -> Finding:
    """A logit that pushes F towards zero makes the Jacobian large.

    Softmax at T = 1 with min F = e^(−60): ‖∇α‖₂ = 0.489 while the printed expression is about 1e51.

    The Jacobian is governed by (log F)′, not by how small F is.

    In theory.normalization.general_normalizer: logarithmic_bound.
    """
    rows = [torch.exp(doubles([0.0, 0.3, least])) for least in (-6.0, -60.0)]
    norm_6, norm_60 = (general.spectral_norm(f, f).item() for f in rows)
    printed_6, printed_60 = (general.uncapped_lemma_2_printed(f, f).item() for f in rows)
    governed = [general.logarithmic_bound(f, f) for f in rows]
    # Two keys are left: 2p(1−p). The printed second term alone is e^(.3+.3+120)/9.
    left = 2 * math.exp(0.3) / (1 + math.exp(0.3)) ** 2
    colder = general.logarithmic_bound(rows[1], 2 * rows[1])
    return Finding(
        printed=not (close(norm_60, left) and close(printed_60 * 9 * math.exp(-120.6), 1.0)),
        # For softmax (log F)' = 1, and the bound it gives is the norm itself.
        corrected=close([norm_6, norm_60], governed) and close(colder, 2 * norm_60),
        numbers={
            "norm, smallest F = e^-6": norm_6,
            "printed expression there": printed_6,
            "norm, smallest F = e^-60": norm_60,
            "printed expression at e^-60": printed_60,
        },
    )


@claim("12''", "Introduction, section 2.3", Verdict.NOT_IMPLIED)
def corollary_from_lemma() -> Finding:
    """Lemma 2 specialised to softmax gives Corollary 3.

    With F = e^(l/T) Lemma 2 reads (ρ/L + ρ²/L²)/T, ρ = max F/min F, which exceeds 1/(4T), already
    at two equal logits.

    1/(2T) follows from ∇α = C(p)/T directly.

    In theory.normalization.general_normalizer: uncapped_lemma_2_printed.
    """
    # Corollary 3 would follow if Lemma 2's right side never exceeded it.
    f, temperature = torch.exp(Draws(23).normal(200, 10)), 0.5
    corollary = sensitivity.corollary_3_printed(1.0)
    exceeding = int((general.lemma_2_printed(f, f) > corollary).sum())
    ratio = f.amax(-1) / f.amin(-1) / 10
    uncapped = general.uncapped_lemma_2_printed(f, f / temperature)
    at_flat = general.uncapped_lemma_2_printed(full(1.0, 2), full(1.0, 2)).item()
    # Directly: the Jacobian of softmax is C(p), and λ₁(C) ≤ ‖C‖_F ≤ ½, attained at the tie.
    p = f / f.sum(-1, keepdim=True)
    frobenius = sensitivity.frobenius_norm(p)
    broken = violated(general.spectral_norm(f, f), frobenius, 0.5)
    at_tie = sensitivity.frobenius_norm(flat(2)).item()
    return Finding(
        # It reads (ρ/L + ρ²/L²)/T, which is ¾ at two equal logits, and Corollary 3 would be ¼.
        printed=not (
            close(uncapped / (ratio + ratio**2), 1 / temperature)
            and exceeding > 0
            and close([at_flat, corollary], [0.75, 0.25])
        ),
        corrected=broken == 0
        and close(at_tie, 0.5)
        and close(frobenius, torch.linalg.matrix_norm(covariance(p))),
        numbers={
            "rows of 200 where Lemma 2 allows more than 1/(4T)": exceeding,
            "Lemma 2 at two equal logits, T=1": at_flat,
            "Corollary 3 there": corollary,
            "violations of norm <= Frobenius norm <= 1/2": broken,
            "Frobenius norm at two equal logits": at_tie,
        },
    )
