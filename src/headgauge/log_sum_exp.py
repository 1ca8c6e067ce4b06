"""l(β) = log Σ exp(β·z) of every row of logits, without the rows.

Attention kernels keep l for their backward pass and hand it over beside their output. β goes
through the kernel's `scale`, never onto q, which would be rounded; what a mask adds to the logits
is multiplied by β as well. With the keys in place of the values, the same call gives the mean of z
under softmax: Σ p·z = scale·⟨q, Σ p·k⟩.

The kernels are torch's own but mostly not public: where one refuses, blocks of rows serve.

    CPU     _scaled_dot_product_flash_attention_for_cpu; half types are made float32 before it,
            since its output is rounded to the type of q
    CUDA    _scaled_dot_product_flash_attention for half types without a mask, compiled
            flex_attention for its own masks, _scaled_dot_product_efficient_attention for all else
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.attention import flex_attention as flex
from torch.nn.attention.flex_attention import BlockMask

from headgauge.logits import Logits, promote

_ATEN = torch.ops.aten
_CPU = "_scaled_dot_product_flash_attention_for_cpu"
_ALIGNED = 16  # what CUDA's kernel wants a mask's rows to be a multiple of
PerRow = Float[Tensor, "batch heads queries"]


class Asked(NamedTuple):
    """l(β) of z, or of z without its bias; `mean`: and Σ p·z with p = softmax(β·z)."""

    beta: float = 1.0
    biased: bool = True
    mean: bool = False


class Found(NamedTuple):
    """Of every row; of a row without keys, anything."""

    log_sum_exp: PerRow
    mean: PerRow | None


def mean_is_exact(logits: Logits) -> bool:
    """Whether a kernel's output tells the mean of z: not where it is rounded to half precision, nor
    with a bias, which has no part in q and k."""
    return not (_stays_half(logits) or logits.biased)


def log_sum_exps(logits: Logits, asked: Sequence[Asked]) -> list[Found] | None:
    """From one call of a kernel each; None where no kernel serves."""
    # β·bias has no place in a mask of half precision.
    if logits.softcap is not None or (_stays_half(logits) and logits.biased):
        return None
    if logits.query.device.type not in ("cpu", "cuda"):
        return None
    try:
        parts = [[_call(part, each) for each in asked] for part in _parts(logits)]
    except (RuntimeError, AttributeError):  # widths and types that it does not take, or no kernel
        return None
    return [_joined(each) for each in zip(*parts, strict=True)]


def _on_gpu(tensor: Tensor) -> bool:
    return tensor.is_cuda


def _stays_half(logits: Logits) -> bool:
    return _on_gpu(logits.query) and logits.query.dtype not in (torch.float32, torch.float64)


def _joined(parts: Sequence[Found]) -> Found:
    if len(parts) == 1:
        return parts[0]
    found = torch.cat([each.log_sum_exp for each in parts], dim=2)
    means = [each.mean for each in parts if each.mean is not None]
    return Found(found, torch.cat(means, dim=2) if means else None)


class _Part(NamedTuple):
    """Rows that one call of a kernel can do."""

    query: Tensor
    key: Tensor
    scaling: float
    causal: bool
    visible: Tensor | None = None
    hiding: Tensor | None = None  # −inf where not visible: the same for every β
    bias: Tensor | None = None
    blocks: BlockMask | None = None


def _parts(logits: Logits) -> Iterator[_Part]:
    """All rows at once, or blocks of them where the mask is another one for each."""
    query, key, scaling = logits.query, logits.key, logits.scaling
    gpu = _on_gpu(query)
    if isinstance(logits.mask, BlockMask) and gpu and not logits.causal:
        yield _Part(query, key, scaling, False, blocks=logits.mask)
        return
    if not gpu:
        query, key = promote(query), promote(key)
    # The CPU's kernel can be causal and hide keys in one call; for CUDA's the mask says both.
    at_once = logits.mask is None or not (logits.by_rows or gpu)
    asked = replace(logits, query=query, key=key, causal=logits.causal and not at_once)
    several = asked.causal or logits.by_rows
    for start, stop in asked.mask_edges() if several else [(0, logits.shape[2])]:
        own, reached = query[:, :, start:stop], key[:, :, : asked.reach(stop)]
        seen, bias = asked.visible(start, stop), asked.bias(start, stop)
        hiding, causal = _additive(own, seen, None), logits.causal and at_once
        yield _Part(own, reached, scaling, causal, seen, hiding, bias)


def _call(part: _Part, asked: Asked) -> Found:
    bias = part.bias if asked.biased else None
    mask = part.hiding if bias is None else _additive(part.query, part.visible, bias * asked.beta)
    kernel = _on_cuda if _on_gpu(part.query) else _on_cpu
    output, found = kernel(part, mask, part.scaling * asked.beta)
    mean = None
    if asked.mean:
        mean = torch.linalg.vecdot(output, part.query) * part.scaling
    return Found(found, mean)


def _additive(query: Tensor, visible: Tensor | None, bias: Tensor | None) -> Tensor | None:
    """The bias, and −inf where a key may not be seen."""
    if visible is None:
        return None
    *rows, keys = visible.shape
    width = keys + -keys % _ALIGNED
    mask = torch.zeros(*rows, width, dtype=query.dtype, device=query.device)[..., :keys]
    if bias is not None:
        mask += bias
    return mask.masked_fill_(~visible, -torch.inf)


def cpu_kernel(kind: str = "") -> Any:
    """The CPU's kernel, or its backward pass; None where torch has it no longer."""
    return getattr(_ATEN, _CPU + kind, None)


def _on_cpu(part: _Part, mask: Tensor | None, scale: float) -> tuple[Tensor, Tensor]:
    query, key, kernel = part.query, part.key, cpu_kernel()
    if kernel is None:
        raise AttributeError(_CPU)
    return kernel(query, key, key, 0.0, part.causal, attn_mask=mask, scale=scale)


def _on_cuda(part: _Part, mask: Tensor | None, scale: float) -> tuple[Tensor, Tensor]:
    query, key = part.query, part.key
    (batch, heads, queries, dim), keys = query.shape, key.shape[2]
    if part.blocks is not None:
        asked = {"block_mask": part.blocks, "scale": scale, "enable_gqa": heads != key.shape[1]}
        output, more = _flex()(query, key, key, **asked, return_aux=flex.AuxRequest(lse=True))
        return output, more.lse
    # With more keys than queries, or fewer, flash's causal rows end at the last key.
    square = queries == keys or not part.causal
    if mask is None and square and query.dtype != torch.float32 and dim % 8 == 0 and dim <= 256:
        flash = _ATEN._scaled_dot_product_flash_attention
        output, found, *_ = flash(query, key, key, 0.0, part.causal, scale=scale)
        return output, found[..., :queries]
    if mask is not None:
        mask = mask.expand(batch, heads, queries, keys)
    efficient = _ATEN._scaled_dot_product_efficient_attention
    shared, made = heads // key.shape[1], []
    for member in range(shared):  # it takes as many key heads as heads
        own = query[:, member::shared]
        bias = None if mask is None else mask[:, member::shared]
        made.append(efficient(own, key, key, bias, True, 0.0, part.causal, scale=scale)[:2])
    output, found = (torch.stack(each, dim=2).flatten(1, 2) for each in zip(*made, strict=True))
    return output, found[..., :queries]  # it comes in rows of 32


@cache
def _flex() -> Callable[..., Any]:
    # Whole or not at all: uncompiled it would make all rows.
    return torch.compile(flex.flex_attention, fullgraph=True)
