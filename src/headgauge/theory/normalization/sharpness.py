"""The Λ ratio: is a row above or below the point where its largest weights merge?

With the gaps Δ_j = max l − l_j and N(t) = #{j : Δ_j ≤ t}, Λ = sup_{t>0} log N(t)/t
(arXiv 2605.12697). Softmax at temperature T concentrates on the top logit when 1/T exceeds Λ and
spreads when it is below. For equiangular tokens with cosine ρ, Λ = log n/(1 − ρ).
"""

import torch

from headgauge.theory.checks import PerKey, PerRow, check_keys


def critical_inverse_temperature(logits: PerKey) -> PerRow:
    """Λ of each row: infinite where the two largest logits tie, 0 for a single key."""
    check_keys(logits)
    ordered = torch.sort(logits, dim=-1, descending=True).values
    gaps = ordered[..., :1] - ordered + 0.0  # −0.0 less 0.0 is −0.0, and no negative gap
    # N(t) jumps at the gaps, so the supremum is reached at one of them. At a repeated gap the last
    # place has the largest count, so no place needs to know of the others.
    places = torch.arange(1, logits.shape[-1] + 1, dtype=logits.dtype, device=logits.device)
    ratio = torch.log(places[1:]) / gaps[..., 1:]
    if ratio.shape[-1] == 0:
        return torch.zeros_like(logits[..., 0])
    return ratio.amax(-1)


def sharpness(logits: PerKey, temperature: float = 1.0) -> PerRow:
    """1/(T·Λ): above 1 the row is sharp, below 1 its top weights merge, 0 at a tie."""
    return 1 / (temperature * critical_inverse_temperature(logits))
