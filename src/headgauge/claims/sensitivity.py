"""Rows 11 and 11': Corollary 3, the norm of softmax's Jacobian and its cap."""

import math

import torch

from headgauge.claims.record import Claim, Finding, Verdict
from headgauge.claims.sampling import (
    SHARPNESS,
    close,
    generator,
    highest,
    lowest,
    normal,
    violated,
    weights,
)
from headgauge.theory.normalization import finite_difference, sensitivity

TWO_EQUAL = torch.full((2,), 0.5, dtype=torch.float64)


def quarter() -> Finding:
    temperatures = (0.1, 1.0, 10.0)
    at_tie = [sensitivity.spectral_norm(TWO_EQUAL, t).item() for t in temperatures]
    attained = at_tie[1]
    source = generator(20)
    norms: list[float | torch.Tensor] = [attained]
    entries, dense = [], []
    for sharpness in SHARPNESS:
        for length in (2, 5, 100):
            alpha = weights(400, length, sharpness=sharpness, source=source)
            norm = sensitivity.spectral_norm(alpha)
            norms.append(norm)
            entries.append(alpha * (1 - alpha))
            matrix = torch.diag_embed(alpha[:5]) - alpha[:5, :, None] * alpha[:5, None, :]
            dense.append(close(norm[:5], torch.linalg.eigvalsh(matrix)[:, -1]))
    largest, entry = highest(norms), highest(entries)
    bound = sensitivity.corollary_3(1.0)
    # 1/(4T) up to √2, as printed: half of what two equal logits have.
    printed = [sensitivity.corollary_3_printed(t) for t in temperatures]
    as_printed = all(close(a, b) for a, b in zip(printed, (math.sqrt(2), 0.25, 0.025), strict=True))
    return Finding(
        printed=not (as_printed and close(attained, 0.5)),
        corrected=largest <= bound + 1e-12
        and all(
            close(norm, sensitivity.corollary_3(t))
            for norm, t in zip(at_tie, temperatures, strict=True)
        )
        and all(dense)
        and entry <= 0.25 + 1e-12,
        numbers={
            "norm at two equal logits, T=1": attained,
            "printed bound, T=1": printed[1],
            "largest norm in 6000 random rows": largest,
            "largest single entry, which 1/4 does bound": entry,
        },
    )


def cap_on_the_norm() -> Finding:
    norm = sensitivity.spectral_norm(TWO_EQUAL, temperature=0.1).item()
    around = [sensitivity.spectral_norm(TWO_EQUAL, temperature=t).item() for t in (0.353, 0.354)]
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
    cap = sensitivity.corollary_3_printed(0.1)
    return Finding(
        printed=not (close(cap, math.sqrt(2)) and close(norm, 5.0) and around[0] > cap > around[1]),
        corrected=broken == 0 and lowest(attained) > 1 - 1e-2 and highest(attained) < 1 + 1e-9,
        numbers={
            "norm at two equal logits, T=0.1": norm,
            "the cap": cap,
            "violations of (sqrt2/eps) tanh(eps/(2 sqrt2 T))": broken,
            "share of it that two keys attain, smallest": lowest(attained),
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
        code=("theory.normalization.sensitivity.corollary_3_printed", "theory.normalization.sensitivity.corollary_3"),
        check=quarter,
    ),
    Claim(
        id="11'",
        where="Lemma 2 and Corollary 3, the cap",
        statement="‖∇α‖₂ ≤ √2.",
        verdict=Verdict.FALSE,
        because="T = 0.1 gives 5.0; it fails for every T < 0.354.",
        corrected="√2 caps ‖α−α′‖: g(T,ε) ≤ (√2/ε)tanh(ε/(2√2T)) ≤ min{1/(2T), √2/ε}, sharp.",
        code=("theory.normalization.finite_difference.sharp_bound",),
        check=cap_on_the_norm,
    ),
)
