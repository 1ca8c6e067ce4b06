"""What flash and flex attention are told of a mask, in the form that sdpa has.

    eager, sdpa   a mask of (batch, heads, queries, keys), or none
    flash         flags of the keys that are no padding, `sliding_window`, `is_causal`, and for
                  sequences packed into one row cu_seq_lens, or positions that begin anew
    flex          a BlockMask, which stays as it is, or a mask that is added

Causality stays a flag wherever it is all there is, so that no matrix is made for it.
"""

from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from headgauge.errors import InputError


def kind_of(implementation: str) -> str | None:
    """eager, sdpa, flash or flex, also of a kernel from the hub; None where it is not known."""
    name = implementation.rpartition("|")[2]
    if name in ("eager", "sdpa"):
        return name
    return next((kind for kind in ("flash", "flex") if kind in name.lower()), None)


def implementations(model: nn.Module) -> set[str]:
    """The entries of transformers' interface that a model's modules ask for."""
    configs = (getattr(module, "config", None) for module in model.modules())
    used = {getattr(config, "_attn_implementation", None) for config in configs}
    return {str(name) for name in used if name is not None}


def settled(implementation: str, module: nn.Module, given: dict[str, Any]) -> dict[str, Any]:
    """What a call was given, with its mask as sdpa has it and `causal` for what is settled."""
    kind, queries = kind_of(implementation), given["query"].shape[2]
    asked, own = given.get("is_causal"), getattr(module, "is_causal", True)
    causal = bool(own if asked is None else asked) and queries > 1
    if kind == "sdpa":
        return given | {"causal": causal and given.get("attention_mask") is None}
    if kind == "flash":
        mask = _of_flash(given, causal)
        return given | {"attention_mask": mask, "causal": causal}
    if kind == "flex":
        return given | {"causal": False}
    return given  # eager attention knows no causality of its own


def _of_flash(given: dict[str, Any], causal: bool) -> Tensor | None:
    """Padding, window and documents; each hides keys, and what hides none is left out."""
    query, key, flags = given["query"], given["key"], given.get("attention_mask")
    queries, keys = query.shape[2], key.shape[2]
    if given.get("cache") is not None or given.get("block_table") is not None:
        raise InputError("flash attention on a paged cache cannot be watched: it is for generation")
    seen = None if flags is None else flags[:, None, None, -keys:].bool()
    window = given.get("sliding_window")
    apart = torch.arange(queries, device=key.device)[:, None]
    apart = apart - torch.arange(keys, device=key.device)
    if window is not None and keys > window:
        seen = _both(seen, (apart.abs() < window)[None, None])
    documents = _documents(given)
    if documents is not None:
        seen = _both(seen, (documents[:, :, None] == documents[:, None, :])[:, None])
    return seen


def _documents(given: dict[str, Any]) -> Tensor | None:
    """The number of each token's document; None where they are not packed."""
    query, places = given["query"], given.get("position_ids")
    tokens = torch.arange(query.shape[2], device=query.device)
    edges = given.get("cu_seq_lens_q")
    if edges is not None:
        return torch.bucketize(tokens, edges.to(tokens), right=True)[None]
    if given.get("attention_mask") is not None or places is None or query.shape[0] > 1:
        return None
    places = places.reshape(1, -1)
    if places.shape[1] != len(tokens) or torch.equal(places - places.min(), tokens[None]):
        return None
    return (places == places.min()).cumsum(-1)


def _both(one: Tensor | None, other: Bool[Tensor, "batch 1 queries keys"]) -> Tensor:
    return other if one is None else one & other
