"""The spectra of W_Q W_Kᵀ of all heads of a layer, from the weights alone."""

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.devices import most_exact
from headgauge.theory import roles

NAMES = ("qk_largest", "qk_stable_rank", "qk_spectral_entropy")


def qk_spectra(
    query: Float[Tensor, "heads width dim"], key: Float[Tensor, "kv_heads width dim"]
) -> list[dict[str, float | None]]:
    """`theory.roles.qk_spectrum` of each query head, by name; None where it is not finite."""
    heads = len(query)
    if not (query.isfinite().all() and key.isfinite().all()):
        return [dict.fromkeys(NAMES) for _ in range(heads)]
    if most_exact(query.device) != torch.float64:  # Apple's GPUs, for which older torch has no QR
        query, key = query.cpu().double(), key.cpu().double()
    # The small factors have the same spectrum; a key head's serves several queries.
    query, key = (torch.linalg.qr(each, mode="r").R for each in (query, key))
    found = (roles.qk_spectrum(query[h], key[h * len(key) // heads]) for h in range(heads))
    return [dict(zip(NAMES, map(finite, each), strict=True)) for each in found]


def finite(number: Float[Tensor, ""]) -> float | None:
    return float(number) if bool(number.isfinite()) else None
