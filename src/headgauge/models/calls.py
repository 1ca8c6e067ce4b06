"""One attention call, as an observer gets it.

`AttentionCall` has q, k and v as the model computed them (after RoPE and QK-norm, KV heads not
repeated) and everything else that shapes the weights. `SoftmaxCall` is what can be seen of a family
that computes its attention by hand: the logits and the weights, but neither the values nor the
scale.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from headgauge.models.rows import ComputedBlock, RowBlock, TappedBlock, promote

BLOCK_ROWS = 128


@dataclass(frozen=True, eq=False)
class ObservedCall:
    """Where a call comes from.

    `module` names the attention module in the model and `layer` is its place among them
    (transformers' own `layer_idx` is shared between encoder, decoder and cross attention).
    `occurrence` counts the calls of the same module, which a shared layer (ALBERT) makes.
    `context` is the stream the keys were made of, in cross attention; None in self attention.
    """

    module: str
    layer: int
    occurrence: int
    context: Float[Tensor, "batch keys width"] | None

    @property
    def cross(self) -> bool:
        """Whether the keys come from another stream than the queries."""
        return self.context is not None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(batch, heads, queries, keys)."""
        raise NotImplementedError

    @property
    def batch(self) -> int:
        return self.shape[0]

    @property
    def heads(self) -> int:
        return self.shape[1]

    @property
    def queries(self) -> int:
        return self.shape[2]

    @property
    def keys(self) -> int:
        return self.shape[3]

    @property
    def kv_heads(self) -> int:
        raise NotImplementedError

    @cached_property
    def finite(self) -> list[bool]:
        """Of each head, whether what the model computed in it is free of NaN and infinity."""
        return self._finite().tolist()

    def _finite(self) -> Bool[Tensor, "heads"]:
        raise NotImplementedError

    def kv_head(self, head: int) -> int:
        """The key and value head that a query head reads."""
        return head // (self.heads // self.kv_heads)

    def block(self, batch: int, head: int, start: int, stop: int) -> RowBlock:
        """Query rows `start` to `stop` of one head."""
        raise NotImplementedError

    def blocks(
        self, block_rows: int = BLOCK_ROWS, heads: Iterable[int] | None = None
    ) -> Iterator[RowBlock]:
        """All rows (of the given heads), one head and at most `block_rows` rows at a time."""
        chosen = range(self.heads) if heads is None else tuple(heads)
        for batch in range(self.batch):
            for head in chosen:
                for start in range(0, self.queries, block_rows):
                    yield self.block(batch, head, start, min(start + block_rows, self.queries))


@dataclass(frozen=True, eq=False)
class AttentionCall(ObservedCall):
    """q, k, v and all that turns them into weights.

    `mask` is boolean (True = may be seen) or additive, its leading axes possibly 1; where it is
    None, `causal` says whether row i sees the keys up to i or all of them. `sinks` holds one
    extra logit per head (gpt-oss), `bias` what is added to the logits (T5). `output` is what the
    model's own function returned.
    """

    query: Float[Tensor, "batch heads queries dim"]
    key: Float[Tensor, "batch kv_heads keys dim"]
    value: Float[Tensor, "batch kv_heads keys value_dim"]
    scaling: float
    mask: Shaped[Tensor, "#batch #heads #queries mask_keys"] | None
    causal: bool
    softcap: float | None
    sinks: Float[Tensor, "heads"] | None
    bias: Float[Tensor, "#batch #heads #queries bias_keys"] | None
    output: Float[Tensor, "batch queries heads value_dim"]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        batch, heads, queries, _ = self.query.shape
        return batch, heads, queries, self.key.shape[2]

    @property
    def kv_heads(self) -> int:
        return self.key.shape[1]

    def _finite(self) -> Bool[Tensor, "heads"]:
        # Some versions of sdpa make zeros of queries and keys that are NaN.
        made = self.output.isfinite().all(-1).flatten(0, 1).all(0)
        query, key, value = (
            each.isfinite().all(-1).all(-1).all(0) for each in (self.query, self.key, self.value)
        )
        return made & query & (key & value).repeat_interleave(self.heads // self.kv_heads)

    def block(self, batch: int, head: int, start: int, stop: int) -> ComputedBlock:
        return ComputedBlock(batch, head, self.kv_head(head), start, stop, self)

    def reconstruction_error(self, rows: int = 8) -> float:
        """max |Σ weights·v − output| / max |output| over the last rows of the first and last head.

        A cheap proof that nothing that shapes the weights was overlooked. Heads that are not finite
        prove nothing; infinite if all are.
        """
        worst, largest = 0.0, 0.0
        heads = [head for head in range(self.heads) if self.finite[head]]
        if not heads:
            return math.inf
        for batch, head in ((0, heads[0]), (self.batch - 1, heads[-1])):
            block = self.block(batch, head, max(0, self.queries - rows), self.queries)
            alive = ~block.dead
            expected = promote(self.output[batch, block.start : block.stop, head])[alive]
            if expected.numel() == 0:
                continue
            found = block.weights[alive] @ promote(block.value)
            worst = max(worst, _largest(found - expected))
            largest = max(largest, _largest(expected))
        return worst / max(largest, torch.finfo(torch.float32).tiny)


def _largest(tensor: Tensor) -> float:
    """max |x|, infinite where something is not a number."""
    return float(tensor.abs().nan_to_num(nan=torch.inf).amax())


@dataclass(frozen=True, eq=False)
class SoftmaxCall(ObservedCall):
    """The input and the output of a softmax inside an attention module."""

    logits: Float[Tensor, "batch heads queries keys"]
    weights: Float[Tensor, "batch heads queries keys"]

    @property
    def shape(self) -> tuple[int, int, int, int]:
        batch, heads, queries, keys = self.logits.shape
        return batch, heads, queries, keys

    @property
    def kv_heads(self) -> int:
        return self.heads

    @property
    def value(self) -> None:
        return None

    def _finite(self) -> Bool[Tensor, "heads"]:
        # −inf is a mask.
        return (self.logits < torch.inf).all(-1).all(-1).all(0)

    def block(self, batch: int, head: int, start: int, stop: int) -> TappedBlock:
        return TappedBlock(batch, head, head, start, stop, self)
