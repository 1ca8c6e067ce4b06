"""What a caller of `stats` hands over, looked at once: a line for each mistake."""

import math
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask

from headgauge.engine.checks import check_real
from headgauge.errors import InputError, number


def check_attention(query: Any, key: Any, scaling: Any, softcap: Any, sinks: Any) -> None:
    """q and k of one kind whose heads fit, numbers that are some, a sink for each head."""
    for name, given in (("query", query), ("key", key)):
        check_real(name, given)
        if given.ndim != 4:
            raise InputError(
                f"{name} must be (batch, heads, tokens, dim), got {tuple(given.shape)}"
            )
    (batch, heads, _, dim), (kv_batch, kv_heads, _, kv_dim) = query.shape, key.shape
    shapes = f"query {tuple(query.shape)} and key {tuple(key.shape)}"
    if (batch, dim) != (kv_batch, kv_dim) or not dim:
        raise InputError(f"{shapes} must have the same batch and dim")
    if not kv_heads or heads % kv_heads:
        raise InputError(f"{shapes}: the heads of query must be a multiple of those of key")
    if query.dtype != key.dtype or query.device != key.device:
        kinds = " and ".join(f"{each.dtype} on {each.device}" for each in (query, key))
        raise InputError(f"query and key must be of one kind, got {kinds}")
    if scaling is not None and not math.isfinite(number("scaling", scaling)):
        raise InputError(f"scaling must be a finite number, got {scaling}")
    if softcap is not None and not 0 < number("softcap", softcap) < math.inf:
        raise InputError(f"softcap must be a number above 0, or None, got {softcap}")
    if sinks is not None:
        check_real("sinks", sinks)
        if tuple(sinks.shape) != (heads,):
            raise InputError(
                f"sinks must be one logit for each of {heads} heads, got {tuple(sinks.shape)}"
            )


def check_values(query: Tensor, key: Tensor, value: Any, output: Any) -> None:
    """Values of the keys, and what became of them for each query; either may be None."""
    for name, given, beside in (("value", value, key), ("output", output, query)):
        if given is None:
            continue
        check_real(name, given)
        if given.ndim != 4 or given.shape[:3] != beside.shape[:3]:
            wanted = ", ".join(map(str, beside.shape[:3]))
            raise InputError(f"{name} must be ({wanted}, dim), got {tuple(given.shape)}")


def mask_for(mask: Any, query: Tensor, key: Tensor) -> Tensor | BlockMask:
    """With four axes, and as many keys as there are."""
    whole = (*query.shape[:3], key.shape[2])
    if not isinstance(mask, Tensor | BlockMask):
        raise InputError(f"mask must be a tensor or a BlockMask, got {type(mask).__name__}")
    shape = (1,) * (4 - len(mask.shape)) + tuple(mask.shape)
    alike = [given in (1, own) for given, own in zip(shape, whole, strict=False)]
    if isinstance(mask, BlockMask):  # which may go on behind the last row
        alike[2] = shape[2] >= whole[2]
    if len(shape) != 4 or not all(alike[:3]) or shape[3] < whole[3]:
        raise InputError(f"mask must fit logits of {whole}, got {tuple(mask.shape)}")
    if isinstance(mask, BlockMask):
        return mask
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise InputError(
            "mask must be boolean, True where a key may be seen, or floating point and added to "
            f"the logits, got {mask.dtype}: `mask.bool()` makes one of zeros and ones"
        )
    return mask.detach().reshape(shape)[..., : whole[3]]


def places_of(listed: Any, query: Tensor, key: Tensor) -> Int[Tensor, "#batch listed"]:
    """Listed keys by their number, those from the end too."""
    batch, keys = query.shape[0], key.shape[2]
    try:
        places = torch.as_tensor(listed, device=key.device)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"listed must be whole numbers, got {listed!r}") from None
    places = places[None] if places.ndim == 1 else places
    whole = not (places.is_floating_point() or places.dtype == torch.bool) or not places.numel()
    if not whole or places.ndim != 2 or places.shape[0] not in (1, batch):
        raise InputError(
            f"listed must be whole numbers, (listed,) or ({batch}, listed), got {listed}"
        )
    if places.numel() and not (-keys <= int(places.min()) and int(places.max()) < keys):
        raise InputError(f"listed must be in {-keys} to {keys - 1}, got {listed}")
    return places.long() % max(keys, 1)
