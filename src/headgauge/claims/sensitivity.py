"""Rows 11 to 14': Corollary 3, Lemma 2, the example of section 2.3 and Algorithm 5."""

import math

import torch

from headgauge.claims.record import Claim, Finding, Verdict
from headgauge.claims.sampling import SHARPNESS, generator, normal, violated, weights
from headgauge.theory import finite_difference, general_normalizer, sensitivity

TWO_EQUAL = torch.full((2,), 0.5, dtype=torch.float64)


def quarter() -> Finding:
    attained = sensitivity.spectral_norm(TWO_EQUAL).item()
    source = generator(20)
    largest, entry = 0.0, 0.0
    for sharpness in SHARPNESS:
        for length in (2, 5, 100):
            alpha = weights(400, length, sharpness=sharpness, source=source)
            largest = max(largest, sensitivity.spectral_norm(alpha).max().item())
            entry = max(entry, (alpha * (1 - alpha)).max().item())
    return Finding(
        printed=attained <= sensitivity.corollary_3_printed(1.0) + 1e-12,
        corrected=max(largest, attained) <= sensitivity.corollary_3(1.0) + 1e-12
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
    broken, attained = 0, math.inf
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
            reached = finite_difference.sensitivity(pair, swap, epsilon, temperature).item()
            attained = min(attained, reached / bound)
    return Finding(
        printed=norm <= math.sqrt(2),
        corrected=broken == 0 and attained > 1 - 1e-6,
        numbers={
            "norm at two equal logits, T=0.1": norm,
            "the cap": math.sqrt(2),
            "violations of (sqrt2/eps) tanh(eps/(2 sqrt2 T))": broken,
            "share of it that two keys attain, smallest": attained,
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
                general_normalizer.euclidean_bound,
            ):
                broken += violated(exact, bound(f, df))
    return Finding(
        printed=norm <= printed,
        corrected=broken == 0,
        numbers={
            "norm, softplus with values (2000, 10, ..., 10), L=400": norm,
            "printed bound": printed,
            "corrected bound there": general_normalizer.projector_bound(values, slopes).item(),
            "violations of the corrected forms": broken,
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
        printed=norm_60 > 10 * norm_6,
        corrected=max(norm_60, norm_6) <= 0.5,
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
    ratio = f.amax(-1) / f.amin(-1)
    formula = ratio / 10 + ratio**2 / 100
    expression = general_normalizer.uncapped_lemma_2_printed(f, f)
    return Finding(
        printed=exceeding == 0 and at_flat <= 0.25,
        corrected=bool(torch.allclose(formula, expression, rtol=1e-12)),
        numbers={
            "rows of 200 where Lemma 2 allows more than 1/(4T)": exceeding,
            "Lemma 2 at two equal logits, T=1": at_flat,
            "Corollary 3 there": sensitivity.corollary_3_printed(1.0),
        },
    )


def swap_example() -> Finding:
    length, a, temperature, epsilon = 20, 40.0, 1.0, 1e-6
    first = torch.zeros(length, dtype=torch.float64)
    first[-2], first[-1] = a, a + epsilon
    second = torch.zeros(length, dtype=torch.float64)
    second[-2], second[-1] = a + 2 * epsilon, a
    change = torch.softmax(second, -1) - torch.softmax(first, -1)
    measured = torch.linalg.vector_norm(change).item() / epsilon
    formula = sensitivity.example_first_order(length, a, 1.0, temperature)
    near = sensitivity.example_first_order(length, 1.0, 1.0, temperature)
    base = torch.zeros(length, dtype=torch.float64)
    base[-2:] = 1.0
    direction = torch.zeros(length, dtype=torch.float64)
    direction[-2], direction[-1] = 2.0, -1.0
    p = torch.softmax(base, -1)
    dense = (torch.diag(p) - torch.outer(p, p)) @ direction
    largest = math.sqrt(5) / 2
    return Finding(
        printed=abs(measured - math.sqrt(2)) < 0.01,
        corrected=abs(measured - formula) < 1e-4
        and abs(near - torch.linalg.vector_norm(dense).item()) < 1e-9,
        numbers={
            "measured change over eps/T, a=40": measured,
            "exact first order": formula,
            "3/(2 sqrt 2)": 3 / (2 * math.sqrt(2)),
            "printed": sensitivity.example_first_order_printed(1.0, 1.0),
            "largest possible, sqrt5/2": largest,
        },
    )


def random_direction() -> Finding:
    source = generator(24)
    numbers: dict[str, float | int | str] = {}
    smallest, deviation, mean_gap = math.inf, 0.0, 0.0
    for length in (64, 256):
        for sharpness in (1.0, 3.0):
            logits = sharpness * normal(length, source=source)
            alpha = torch.softmax(logits, -1)
            batch = logits.expand(4000, length)
            v = finite_difference.random_direction(batch, source)
            g = finite_difference.sensitivity(batch, v, 1e-4)
            norm = sensitivity.spectral_norm(alpha)
            mean = finite_difference.mean_over_directions(alpha)
            square = finite_difference.root_mean_square_over_directions(alpha) ** 2
            error = g.std().item() / math.sqrt(len(g))
            smallest = min(smallest, (norm / g.mean()).item())
            mean_gap = max(mean_gap, (g.mean() - mean).abs().item() / error)
            square_error = (g**2).std().item() / math.sqrt(len(g))
            deviation = max(deviation, ((g**2).mean() - square).abs().item() / square_error)
            numbers[f"norm over mean g, L={length}, logits of std {sharpness:g}"] = (
                norm / g.mean()
            ).item()
    numbers["exact mean against simulation, in standard errors"] = mean_gap
    numbers["exact mean square against simulation, in standard errors"] = deviation
    numbers["ceiling of the mean at L=1024, T=1"] = 0.5 / math.sqrt(1024)
    return Finding(
        printed=smallest < 1.1,
        corrected=mean_gap < 4 and deviation < 4,
        numbers=numbers,
    )


def one_over_t() -> Finding:
    source = generator(25)
    logits = normal(20_000, 32, source=source)
    ordered = logits.topk(2, -1).values
    gap = ordered[..., 0] - ordered[..., 1]
    width = 0.05
    density = (gap < width).to(torch.float64).mean().item() / width
    means = {}
    for temperature in (0.1, 0.01):
        alpha = torch.softmax(logits / temperature, -1)
        means[temperature] = sensitivity.spectral_norm(alpha, temperature).mean().item()
    growth = means[0.01] / means[0.1]
    return Finding(
        printed=growth > 5,
        corrected=abs(means[0.01] / density - 1) < 0.15,
        numbers={
            "mean norm at T=0.1": means[0.1],
            "mean norm at T=0.01": means[0.01],
            "growth, where 1/T grows by 10": growth,
            "density of the gap of the two top logits at 0": density,
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
    Claim(
        id="13",
        where="Section 2.3, example",
        statement="Swapping two nearly equal top logits changes α by about √2 ε/T.",
        verdict=Verdict.FALSE,
        because="The constant is 3/(2√2) = 1.061 for a ≫ T; √2 exceeds even √5/2, the most that "
        "any logits could give.",
        corrected="p√((2−p)² + (1+p)² + (L−2)q²)·ε/T, with p the weight of each of the two and q "
        "of each other token.",
        code=(
            "theory.sensitivity.example_first_order_printed",
            "theory.sensitivity.example_first_order",
        ),
        check=swap_example,
    ),
    Claim(
        id="14",
        where="Section 3.3, Algorithm 5",
        statement="g(T, ε) along a random direction approximates ‖∇α‖₂.",
        verdict=Verdict.FALSE,
        because="E‖∇α v‖² = ‖∇α‖_F²/L ≤ 1/(4T²L): the mean g falls short of the norm by up to √L, "
        "5 to 18 times in the four rows of the check.",
        corrected="The norm is the largest eigenvalue, computed exactly; the mean over directions "
        "is a one-dimensional integral and needs no sampling.",
        code=(
            "theory.finite_difference.mean_over_directions",
            "theory.sensitivity.spectral_norm",
        ),
        check=random_direction,
    ),
    Claim(
        id="14'",
        where="Section 3.3, figure 4",
        statement="For T < 0.1 the curves follow the 1/T trend of Corollary 3.",
        verdict=Verdict.NOT_IMPLIED,
        because="1/T is the worst case, at ties. The mean norm over rows tends to a constant as "
        "T → 0: the density of the gap between the two top logits at zero.",
        corrected="E‖∇α‖₂ → f_gap(0) for logits with a continuous distribution.",
        code=("theory.sensitivity.spectral_norm",),
        check=one_over_t,
    ),
)
