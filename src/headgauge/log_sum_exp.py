"""l(β) = log Σ exp(β·z) of every row of logits, without the rows.

Attention kernels keep l for their backward pass and hand it over beside their output. β goes through
the kernel's `scale`, never onto q, which would be rounded; what a mask adds to the logits is
multiplied by β as well. With the keys in place of the values, the same call gives the mean of z
under softmax: Σ p·z = scale·⟨q, Σ p·k⟩.

The kernels are torch's own but not public: where none serves, or one refuses, blocks of rows do.

    CPU     _scaled_dot_product_flash_attention_for_cpu; half types are made float32 before it,
            since its output is rounded to the type of q
    CUDA    _scaled_dot_product_flash_attention for half types without a mask,
            _scaled_dot_product_efficient_attention for all else
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.logits import Logits, promote

STEP = 2.0**-5
"""h of the difference [l(1 + h) − l(1 − h)]/2h that stands for the mean where a kernel rounds."""
SHARP = 2.0**16
"""c of the largest logit l(c)/c: a power of two, so that c·scale is no rounding."""
_CPU = "_scaled_dot_product_flash_attention_for_cpu"
_WIDTH = 16  # what the CUDA kernel wants a mask's rows to be a multiple of
PerRow = Float[Tensor, "batch heads queries"]


class Wanted(NamedTuple):
    """Which sums are asked for."""

    one: bool = True
    mean: bool = True
    two: bool = True
    top: bool = True
    raw_top: bool = True


class Sums(NamedTuple):
    """Of every row's logits less `offset`; None: not asked for."""

    offset: PerRow | float
    one: PerRow | None  # l(1)
    mean: PerRow | None  # Σ p·z with p = softmax(z)
    two: PerRow | None  # l(2)
    top: PerRow | None  # the largest z, from a kernel too high by at most log(n)/c
    raw_top: PerRow | None  # the largest q·k·scale, offset not taken off


def sums(logits: Logits, wanted: Wanted) -> Sums:
    """By the kernel of the device where there is one that is exact enough, else by rows."""
    # What a kernel makes of a bias is its mean by a difference: rows are as quick, and exact.
    if logits.softcap is None and not (logits.biased and wanted.mean):
        made = by_kernel(logits, wanted)
        if made is not None:
            return made
    return by_rows(logits, wanted)


def by_kernel(logits: Logits, wanted: Wanted, difference: bool = False) -> Sums | None:
    """None where no kernel serves; `difference`: the mean by one, also where it could be exact."""
    if logits.softcap is not None or logits.query.device.type not in ("cpu", "cuda"):
        return None
    wide = logits.query.dtype in (torch.float32, torch.float64) or not logits.query.is_cuda
    exact = wide and not logits.biased and not difference
    calls = _calls(wanted, logits.biased, exact)
    try:
        parts = [_of_part(part, calls, wanted.mean and exact) for part in _parts(logits)]
    except (RuntimeError, AttributeError):  # widths and types that it does not take, or no kernel
        return None
    made = {name: torch.cat([each[name] for each in parts], dim=2) for name in parts[0]}
    if wanted.mean and not exact:
        made["mean"] = (made.pop("above") - made.pop("below")) / (2 * STEP)
    for name in {"top", "raw_top"} & made.keys():
        made[name] = made[name] / SHARP
    if wanted.raw_top and not logits.biased:
        made["raw_top"] = made["top"]
    return Sums(0.0, *(made.get(name) for name in Sums._fields[1:]))


def by_rows(logits: Logits, wanted: Wanted) -> Sums:
    """A block of rows at a time, in float32 or better."""
    blocks = [_block(*logits.rows(start, stop), wanted) for start, stop in logits.edges()]
    several = zip(*blocks, strict=True)
    whole = (None if each[0] is None else torch.cat(each, dim=2) for each in several)
    return Sums(*whole)


def _block(z: Tensor, raw: Tensor, wanted: Wanted) -> Sums:
    top = z.amax(-1)
    raw_top = None if not wanted.raw_top else top if raw is z else raw.amax(-1)
    zero = torch.zeros_like(top) if wanted.top else None
    if not (wanted.one or wanted.mean or wanted.two):
        return Sums(top, None, None, None, zero, raw_top)
    below = z.sub_(top.unsqueeze(-1))
    weights = below.exp()
    total = weights.sum(-1)
    mean = torch.linalg.vecdot(weights, below) / total if wanted.mean else None
    two = torch.linalg.vecdot(weights, weights).log() if wanted.two else None
    return Sums(top, total.log(), mean, two, zero, raw_top)


def _calls(wanted: Wanted, biased: bool, exact: bool) -> dict[str, float]:
    """β of every call of a kernel."""
    calls: dict[str, float] = {}
    if wanted.one or wanted.mean:
        calls["one"] = 1.0
    if wanted.mean and not exact:
        calls |= {"above": 1 + STEP, "below": 1 - STEP}
    if wanted.two:
        calls["two"] = 2.0
    if wanted.top or (wanted.raw_top and not biased):
        calls["top"] = SHARP
    if wanted.raw_top and biased:
        calls["raw_top"] = SHARP
    return calls


class _Part(NamedTuple):
    """Rows that one call of a kernel can do."""

    query: Tensor
    key: Tensor
    scaling: float
    causal: bool
    visible: Tensor | None
    bias: Tensor | None


def _parts(logits: Logits) -> Iterator[_Part]:
    """All rows at once, or blocks of them where the mask is another one for each."""
    query, key = logits.query, logits.key
    if not query.is_cuda:
        query, key = promote(query), promote(key)
    # The CPU's kernel can be causal and hide keys in one call; for CUDA's the mask says both.
    flag = logits.causal and (
        logits.mask is None or (not logits.by_rows and not logits.query.is_cuda)
    )
    asked = replace(logits, query=query, key=key, causal=logits.causal and not flag)
    blocks = [(0, logits.shape[2])]
    if asked.causal or logits.by_rows:
        blocks = asked.edges(1 if logits.mask is None else logits.mask.shape[1])
    for start, stop in blocks:
        own, reached = query[:, :, start:stop], key[:, :, : asked.reach(stop)]
        seen, bias = asked.visible(start, stop), asked.bias(start, stop)
        yield _Part(own, reached, logits.scaling, flag, seen, bias)


def _of_part(part: _Part, calls: dict[str, float], mean: bool) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    kernel = _on_cuda if part.query.is_cuda else _on_cpu
    mask = None
    for name, beta in calls.items():
        own = None if name == "raw_top" else part.bias
        if mask is None or part.bias is not None:
            mask = _additive(part, own, beta)
        output, found[name] = kernel(part, mask, part.scaling * beta)
        if mean and name == "one":
            found["mean"] = torch.linalg.vecdot(output, part.query) * part.scaling
    return found


def _additive(part: _Part, bias: Tensor | None, beta: float) -> Tensor | None:
    """β·bias, and −inf where a key may not be seen."""
    if part.visible is None:
        return None
    shape, kind = list(part.visible.shape), part.query.dtype
    # CUDA wants rows of a round number of bytes; what is beyond the keys is cut off again.
    width = -shape[-1] % _WIDTH + shape[-1]
    mask = torch.zeros(*shape[:-1], width, dtype=kind, device=part.query.device)[..., : shape[-1]]
    if bias is not None:
        mask = mask + bias * beta
    return mask.masked_fill_(~part.visible, -torch.inf)


def cpu_kernel(kind: str = "") -> Any:
    """The CPU's kernel, or its backward pass; None where torch has it no longer."""
    return getattr(torch.ops.aten, _CPU + kind, None)


def _on_cpu(part: _Part, mask: Tensor | None, scale: float) -> tuple[Tensor, Tensor]:
    query, key = part.query, part.key
    return cpu_kernel()(query, key, key, 0.0, part.causal, attn_mask=mask, scale=scale)


def _on_cuda(part: _Part, mask: Tensor | None, scale: float) -> tuple[Tensor, Tensor]:
    query, key = part.query, part.key
    (batch, heads, queries, dim), keys = query.shape, key.shape[2]
    # With more keys than queries, or fewer, flash's causal rows end at the last key.
    square = queries == keys or not part.causal
    if mask is None and square and query.dtype != torch.float32 and dim % 8 == 0 and dim <= 256:
        flash = torch.ops.aten._scaled_dot_product_flash_attention
        output, found, *_ = flash(query, key, key, 0.0, part.causal, scale=scale)
        return output, found[..., :queries]
    if mask is not None:
        mask = mask.expand(batch, heads, queries, keys)
    efficient = torch.ops.aten._scaled_dot_product_efficient_attention
    shared = heads // key.shape[1]
    made = []
    for member in range(shared):  # which takes as many key heads as heads
        own = query[:, member::shared]
        bias = None if mask is None else mask[:, member::shared]
        made.append(efficient(own, key, key, bias, True, 0.0, part.causal, scale=scale)[:2])
    output, found = (torch.stack(each, dim=2).flatten(1, 2) for each in zip(*made, strict=True))
    return output, found[..., :queries]  # it comes in rows of 32
