"""Softmax with a sink from a kernel that hands over log Σ exp(z) beside softmax's output.

With o = softmax(z)·v and ℓ = log Σ exp(z), a sink of logit S leaves o·σ(ℓ − S) = o·e^{ℓ − ℓ′} with
ℓ′ = log(e^ℓ + e^S). The weights are then e^{z − ℓ′}, and ℓ′ is all that the kernel's own backward
pass knows of them: given o·e^{ℓ − ℓ′} and ℓ′ it returns the exact gradients of q, k and v. That of
S is −Σ e^{S − ℓ′}·⟨∂o, o·e^{ℓ − ℓ′}⟩ over the rows, a sum whose terms cancel and which is therefore
made in float32 or better.

Where the kernel (`log_sum_exp.cpu_kernel`) refuses, there is no answer.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from headgauge.log_sum_exp import cpu_kernel
from headgauge.logits import through
from headgauge.models.attention_rows import Attention
from headgauge.normalizers.rows import PerRow


def with_sink(
    attention: Attention, sink: PerRow, heads: tuple[int, ...]
) -> Float[Tensor, "batch queries heads dim"] | None:
    """The output of some heads, each row with this sink; None where the kernel does not serve."""
    kernels = [cpu_kernel(each) for each in ("", "_backward")]
    query, value = attention.query, attention.value
    if None in kernels or query.device.type != "cpu" or query.shape[-1] != value.shape[-1]:
        return None
    of_heads = list(heads)
    shared = attention.shape[1] // attention.key.shape[1]
    of_kv_heads = [head // shared for head in heads]
    whole = len(heads) == attention.shape[1]
    query = query if whole else query[:, of_heads]
    key, value = (
        each if whole and shared == 1 else each[:, of_kv_heads] for each in (attention.key, value)
    )
    mask = attention.mask
    if mask is not None:
        mask = mask[:, of_heads] if mask.shape[1] > 1 else mask
        seen = through(mask[..., : key.shape[2]])
        mask = torch.zeros(seen.shape, dtype=query.dtype).masked_fill_(~seen, -torch.inf)
    wide = torch.promote_types(query.dtype, torch.float32)
    column = torch.as_tensor(sink, dtype=wide)
    try:
        causal = attention.causal and mask is None
        made = _WithSink.apply(query, key, value, column, mask, causal, attention.scaling)
    except RuntimeError:  # of other widths and types than it takes
        return None
    assert isinstance(made, Tensor)
    return made.transpose(1, 2)


class _WithSink(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        sink: Tensor,
        mask: Tensor | None,
        causal: bool,
        scaling: float,
    ) -> Tensor:
        made, own = cpu_kernel()(query, key, value, 0.0, causal, attn_mask=mask, scale=scaling)
        whole = torch.logaddexp(own, sink)
        share = torch.exp(own - whole).unsqueeze(-1)
        made = made.mul_(share) if made.dtype == share.dtype else (made * share).to(made.dtype)
        ctx.save_for_backward(query, key, value, made, whole, sink, mask)
        ctx.causal, ctx.scaling = causal, scaling
        return made

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        (gradient,) = grad_outputs
        query, key, value, made, whole, sink, mask = ctx.saved_tensors
        given = gradient.contiguous(), query, key, value, made, whole, 0.0, ctx.causal
        several = cpu_kernel("_backward")(*given, attn_mask=mask, scale=ctx.scaling)
        to_sink = None
        if ctx.needs_input_grad[3]:
            along = (gradient.to(whole.dtype) * made).sum(-1)
            to_sink = -(torch.exp(sink - whole) * along).sum_to_size(sink.shape)
        return *several, to_sink, None, None, None
