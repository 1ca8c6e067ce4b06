"""Rows 11 to 12'': Corollary 3 and Lemma 2, the norm of the Jacobian."""

import math

import torch

from headgauge.claims.record import Claim, Finding, Verdict
from headgauge.claims.sampling import (
    SHARPNESS,
    generator,
    highest,
    lowest,
    normal,
    violated,
    weights,
)
from headgauge.theory import finite_difference, general_normalizer, sensitivity

TWO_EQUAL = torch.full((2,), 0.5, dtype=torch.float64)


def quarter() -> Finding:
    attained = sensitivity.spectral_norm(TWO_EQUAL).item()
    source = generator(20)
    norms: list[float | torch.Tensor] = [attained]
    entries = []
    for sharpness in SHARPNESS:
        for length in (2, 5, 100):
            alpha = weights(400, length, sharpness=sharpness, source=source)
            norms.append(sensitivity.spectral_norm(alpha))
            entries.append(alpha * (1 - alpha))
    largest, entry = highest(norms), highest(entries)
    bound = sensitivity.corollary_3(1.0)
    return Finding(
        printed=attained <= sensitivity.corollary_3_printed(1.0) + 1e-12,
        corrected=largest <= bound + 1e-12
        and abs(attained - bound) < 1e-12
        and entry <= 0.25 + 1e-12,
        numbers={
            "norm at two equal logits, T=1": attained,
            "printed bound, T=1": sensitivity.corollary_3_printed(1.0),
            "largest norm in 6000 random rows": largest,
            "largest single entry, which 1/4 does bound": entry,
        },
    )


def cap_on_the_norm() -> Finding:
    norm = sensitivity.spectral_norm(TWO_EQUAL, temperature=0.1).item()
    source = generator(21)
    broken, attained = 0, []
    for epsilon in (1e-3, 0.1, 1.0, 10.0):
        for temperature in (0.05, 0.3, 1.0, 10.0):
            bound = finite_difference.sharp_bound(epsilon, temperature)
            logits = torch.cat(
                [s * normal(50, 12, source=source) for s in (0.1, 1.0, 5.0)]
                + [torch.zeros(1, 12, dtype=torch.float64)]
            )
            random = finite_difference.random_direction(logits, source)
            values = finite_difference.sensitivity(logits, random, epsilon, temperature)
            per_row = finite_difference.direction_bound(random, epsilon, temperature)
            worst = finite_difference.worst_sensitivity(logits, epsilon, temperature)
            broken += violated(values, per_row) + violated(worst, torch.full_like(worst, bound))
            # Two keys, moved symmetrically across the tie, attain it.
            half = epsilon / (2 * math.sqrt(2))
            pair = torch.tensor([-half, half], dtype=torch.float64)
            swap = torch.tensor([1.0, -1.0], dtype=torch.float64) / math.sqrt(2)
            reached = finite_difference.sensitivity(pair, swap, epsilon, temperature)
            attained.append(reached / bound)
            attained.append(reached / finite_difference.direction_bound(swap, epsilon, temperature))
            small = finite_difference.worst_sensitivity(pair * 0, epsilon, temperature)
            attained.append(small / bound if epsilon < temperature / 10 else 1.0)
    return Finding(
        printed=norm <= math.sqrt(2),
        corrected=broken == 0 and lowest(attained) > 1 - 1e-2 and highest(attained) < 1 + 1e-9,
        numbers={
            "norm at two equal logits, T=0.1": norm,
            "the cap": math.sqrt(2),
            "violations of (sqrt2/eps) tanh(eps/(2 sqrt2 T))": broken,
            "share of it that two keys attain, smallest": lowest(attained),
        },
    )


def lemma_2() -> Finding:
    length = 400
    values = torch.full((length,), 10.0, dtype=torch.float64)
    values[0] = 5.0 * length
    slopes = -torch.expm1(-values)  # softplus'(l) = 1 − e^{−softplus(l)}
    norm = general_normalizer.spectral_norm(values, slopes).item()
    printed = general_normalizer.lemma_2_printed(values, slopes).item()

    source = generator(22)
    broken = 0
    for spread in (0.1, 1.0, 5.0):
        logits = spread * normal(50, 20, source=source)
        for function, derivative in (
            (torch.exp, torch.exp),
            (torch.nn.functional.softplus, torch.sigmoid),
            (lambda z: 1 + z**2, lambda z: 2 * z),
        ):
            f, df = function(logits), derivative(logits)
            exact = general_normalizer.spectral_norm(f, df)
            for bound in (
                general_normalizer.logarithmic_bound,
                general_normalizer.projector_bound,
                general_normalizer.smallest_value_bound,
                general_normalizer.euclidean_bound,
            ):
                broken += violated(exact, bound(f, df))
    # Two of them are attained: by softmax, and by a constant slope.
    exponential = torch.exp(normal(50, 20, source=source))
    constant = torch.full_like(exponential, 0.7)
    off = highest(
        (bound(exponential, df) / general_normalizer.spectral_norm(exponential, df) - 1).abs()
        for bound, df in (
            (general_normalizer.logarithmic_bound, exponential),
            (general_normalizer.projector_bound, constant),
        )
    )
    return Finding(
        printed=norm <= printed,
        corrected=broken == 0 and off < 1e-9,
        numbers={
            "norm, softplus with values (2000, 10, ..., 10), L=400": norm,
            "printed bound": printed,
            "corrected bound there": general_normalizer.projector_bound(values, slopes).item(),
            "violations of the corrected forms": broken,
            "relative distance of the attained ones from the norm": off,
        },
    )


def small_f_is_unstable() -> Finding:
    def row(lowest: float) -> tuple[float, float]:
        values = torch.exp(torch.tensor([0.0, 0.3, lowest], dtype=torch.float64))
        norm = general_normalizer.spectral_norm(values, values).item()
        return norm, general_normalizer.uncapped_lemma_2_printed(values, values).item()

    norm_60, printed_60 = row(-60.0)
    norm_6, printed_6 = row(-6.0)
    return Finding(
        printed=not norm_60 <= 10 * norm_6,
        corrected=highest([norm_60, norm_6]) <= 0.5 and printed_60 > 1e50,
        numbers={
            "norm, smallest F = e^-6": norm_6,
            "printed expression there": printed_6,
            "norm, smallest F = e^-60": norm_60,
            "printed expression at e^-60": printed_60,
        },
    )


def corollary_from_lemma() -> Finding:
    """Corollary 3 would follow if Lemma 2's right side never exceeded it."""
    source = generator(23)
    f = torch.exp(normal(200, 10, source=source))
    lemma = general_normalizer.lemma_2_printed(f, f)
    flat = torch.ones(2, dtype=torch.float64)
    at_flat = general_normalizer.uncapped_lemma_2_printed(flat, flat).item()
    exceeding = int((lemma > sensitivity.corollary_3_printed(1.0)).sum())
    # Directly: the Jacobian of softmax is C(p), and λ₁(C) ≤ ‖C‖_F ≤ ½, attained at the tie.
    p = f / f.sum(-1, keepdim=True)
    frobenius = sensitivity.frobenius_norm(p)
    broken = violated(general_normalizer.spectral_norm(f, f), frobenius)
    broken += violated(frobenius, torch.full_like(frobenius, 0.5))
    at_tie = sensitivity.frobenius_norm(TWO_EQUAL).item()
    return Finding(
        printed=exceeding == 0 and at_flat <= 0.25,
        corrected=broken == 0 and abs(at_tie - 0.5) < 1e-12,
        numbers={
            "rows of 200 where Lemma 2 allows more than 1/(4T)": exceeding,
            "Lemma 2 at two equal logits, T=1": at_flat,
            "Corollary 3 there": sensitivity.corollary_3_printed(1.0),
            "violations of norm <= Frobenius norm <= 1/2": broken,
            "Frobenius norm at two equal logits": at_tie,
        },
    )


CLAIMS = (
    Claim(
        id="11",
        where="Corollary 3",
        statement="For softmax, ‖∇α‖₂ ≤ 1/(4T).",
        verdict=Verdict.FALSE,
        because="Two equal logits give exactly 1/(2T). 1/4 is the largest possible entry of the "
        "Jacobian, not its norm.",
        corrected="‖∇α‖₂ ≤ 1/(2T), sharp.",
        code=("theory.sensitivity.corollary_3_printed", "theory.sensitivity.corollary_3"),
        check=quarter,
    ),
    Claim(
        id="11'",
        where="Lemma 2 and Corollary 3, the cap",
        statement="‖∇α‖₂ ≤ √2.",
        verdict=Verdict.FALSE,
        because="T = 0.1 gives 5.0; it fails for every T < 0.354.",
        corrected="√2 caps ‖α−α′‖: g(T,ε) ≤ (√2/ε)tanh(ε/(2√2T)) ≤ min{1/(2T), √2/ε}, sharp.",
        code=("theory.finite_difference.sharp_bound",),
        check=cap_on_the_norm,
    ),
    Claim(
        id="12",
        where="Lemma 2, eq. (13)",
        statement="‖∇α‖₂ ≤ max|F′| (1/(L min F) + max F/(L² min F²)) for every F.",
        verdict=Verdict.FALSE,
        because="The second term lacks a factor L: softplus with values (5L, 10, …, 10), L = 400, "
        "has ‖∇α‖₂ = 1.12e−3 against 3.75e−4. The appendix has no proof of it.",
        corrected="∇α = C(p)diag((log F)′), so ‖∇α‖₂ ≤ λ₁(C(p))·max|F′/F| ≤ ½max|F′/F|; also "
        "≤ max|F′|√L‖F‖₂/(ΣF)². The printed form is true with Euclidean norms.",
        code=(
            "theory.general_normalizer.lemma_2_printed",
            "theory.general_normalizer.logarithmic_bound",
            "theory.general_normalizer.projector_bound",
        ),
        check=lemma_2,
    ),
    Claim(
        id="12'",
        where="After Lemma 2; section 4",
        statement="A logit that pushes F towards zero makes the Jacobian large.",
        verdict=Verdict.FALSE,
        because="Softmax at T = 1 with min F = e^(−60): ‖∇α‖₂ = 0.489 while the printed expression "
        "is about 1e51.",
        corrected="The Jacobian is governed by (log F)′, not by how small F is.",
        code=("theory.general_normalizer.logarithmic_bound",),
        check=small_f_is_unstable,
    ),
    Claim(
        id="12''",
        where="Introduction, section 2.3",
        statement="Lemma 2 specialised to softmax gives Corollary 3.",
        verdict=Verdict.NOT_IMPLIED,
        because="With F = e^(l/T) Lemma 2 reads (ρ/L + ρ²/L²)/T, ρ = max F/min F, which exceeds "
        "1/(4T), already at two equal logits.",
        corrected="1/(2T) follows from ∇α = C(p)/T directly.",
        code=("theory.general_normalizer.uncapped_lemma_2_printed",),
        check=corollary_from_lemma,
    ),
)
