"""Attention rows written out in float64, and the ways of masking that faster code is held to."""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask

from headgauge.logits import Logits

BATCH, HEADS, DIM = 2, 4, 16
MASKS = (
    "none", "causal", "padding", "causal_padding", "left_padding", "boolean", "by_head", "additive",
    "alibi", "causal_alibi", "lowest", "wide", "flex", "flex_causal", "flex_alike",
)  # fmt: skip
SHAPES = ((48, 48), (48, 20), (20, 48), (1, 48))


class Dense(NamedTuple):
    """A case, and all of its rows."""

    logits: Logits
    z: Tensor  # −inf where a key may not be seen
    raw: Tensor
    seen: Tensor


def make(
    masking: str = "causal",
    shape: tuple[int, int] = (48, 48),
    kind: torch.dtype = torch.float32,
    size: float = 4.0,
    kv_heads: int = 2,
    softcap: float | None = None,
    dim: int = DIM,
    batch: int = BATCH,
) -> Dense:
    """`size` is what the largest logit is about."""
    queries, keys = shape
    source = torch.Generator().manual_seed(queries + keys)
    query = torch.randn(batch, HEADS, queries, dim, generator=source)
    key = torch.randn(batch, kv_heads, keys, dim, generator=source)
    shared = HEADS // kv_heads
    products = query @ key.repeat_interleave(shared, 1).mT
    query, key = (query * (size / products.abs().max())).to(kind), key.to(kind)
    mask, causal = _masking(masking, batch, queries, keys)
    scaling = 1.0
    logits = Logits(query, key, scaling, mask, causal, softcap)
    raw = query.double() @ key.double().repeat_interleave(shared, 1).mT
    seen, bias = _written_out(masking, batch, queries, keys)
    z = raw if softcap is None else softcap * torch.tanh(raw / softcap)
    return Dense(logits, (z + bias).masked_fill(~seen, -math.inf), raw, seen)


def _alibi(queries: int, keys: int) -> Tensor:
    slopes = 2.0 ** -torch.arange(1.0, HEADS + 1)
    away = torch.arange(keys) - torch.arange(queries)[:, None]
    return slopes[:, None, None] * -away.abs()


def _written_out(masking: str, batch: int, queries: int, keys: int) -> tuple[Tensor, Tensor]:
    """(seen, bias), whole."""
    query, key = torch.arange(queries)[:, None], torch.arange(keys)
    past = (key <= query).expand(batch, HEADS, queries, keys)
    everything, nothing = torch.ones_like(past), torch.zeros(past.shape, dtype=torch.float64)
    real = (
        key >= torch.arange(batch)[:, None] * 7
        if masking == "left_padding"
        else (key < keys - torch.arange(batch)[:, None] * 5)
    )
    padded = everything & real[:, None, None]
    holes = torch.rand(past.shape, generator=torch.Generator().manual_seed(1)) < 0.6
    holes[:, :, 0] &= queries == 1  # of several rows one sees nothing
    alibi = _alibi(queries, keys).double().expand_as(nothing)
    return {
        "none": (everything, nothing),
        "causal": (past, nothing),
        "padding": (padded, nothing),
        "causal_padding": (past & padded, nothing),
        "left_padding": (past & padded, nothing),
        "boolean": (holes[:, :1] & everything, nothing),
        "by_head": (holes, nothing),
        "additive": (holes[:, :1] & everything, nothing),
        "alibi": (everything, alibi),
        "causal_alibi": (past & holes, alibi),
        "lowest": (past & padded, nothing),
        "wide": (holes[:1, :1] & everything, nothing),
        "flex": (past & padded, nothing),
        "flex_causal": (past & padded, nothing),
        "flex_alike": (past & (key > query - 6), nothing),
    }[masking]


def _masking(masking: str, batch: int, queries: int, keys: int) -> tuple[Any, bool]:
    """(mask, causal) as a caller would hand them over."""
    seen, bias = _written_out(masking, batch, queries, keys)
    added = bias.float().masked_fill(~seen, -math.inf)
    several = {"none": None, "causal": None, "boolean": seen[:, :1], "by_head": seen}
    if masking in several:
        return several[masking], masking == "causal"
    if masking in ("padding", "causal_padding"):
        return _written_out("padding", batch, queries, keys)[0][:, :1, :1], masking != "padding"
    if masking == "left_padding":
        return (torch.arange(keys) >= torch.arange(batch)[:, None] * 7)[:, None, None], True
    if masking == "lowest":
        lowest = torch.zeros(seen.shape).masked_fill(~seen, torch.finfo(torch.float32).min)
        return lowest[:, :1], False
    if masking == "wide":
        return torch.cat([seen[:1, :1], torch.ones_like(seen[:1, :1])], -1), False
    if masking == "alibi":
        return _alibi(queries, keys)[None], False
    if masking == "causal_alibi":
        return added, True
    if masking == "additive":
        return added[:, :1], False
    return _flex(masking, batch, queries, keys), masking == "flex_causal"


def _flex(masking: str, batch: int, queries: int, keys: int) -> Any:
    ends = keys - torch.arange(batch) * 5

    def padded(b: Tensor, h: Tensor, q: Tensor, j: Tensor) -> Tensor:
        return j < ends[b]

    def past(b: Tensor, h: Tensor, q: Tensor, j: Tensor) -> Tensor:
        return (j <= q) & (j < ends[b])

    def window(b: Tensor, h: Tensor, q: Tensor, j: Tensor) -> Tensor:
        return (j <= q) & (j > q - 6)

    mod = {"flex": past, "flex_causal": padded, "flex_alike": window}[masking]
    alike = None if masking == "flex_alike" else batch
    return create_block_mask(mod, alike, None, queries, keys, device="cpu")
