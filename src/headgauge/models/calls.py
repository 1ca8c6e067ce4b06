"""One attention call as an observer gets it, and its rows, a block at a time.

`AttentionCall` has q, k and v as the model computed them (after RoPE and QK-norm, KV heads not
repeated) and everything else that shapes the weights. `SoftmaxCall` is what can be seen of a family
that computes its attention by hand: the logits and the weights, but neither the values nor the
scale. The weights of a whole layer are never made: for one head and a block of query rows,

    raw     = q·kᵀ·scale                      before softcap and bias
    logits  = softcap·tanh(raw/softcap) + bias
    weights = softmax(logits over the visible keys [, sink])  without the sink's own column

so the weights of a row with a sink sum to less than one, as in the model. Everything is computed
in float32 (float64 where the model is), only when it is asked for, and only for the first `reach`
keys: under a causal mask the first rows of a sequence need few columns.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

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
        return self.heads

    def kv_head(self, head: int) -> int:
        """The key and value head that a query head reads."""
        return head // (self.heads // self.kv_heads)

    @cached_property
    def finite(self) -> list[bool]:
        """Of each head, whether what the model computed in it is free of NaN and infinity."""
        raise NotImplementedError

    def block(self, batch: int, head: int, start: int, stop: int) -> "RowBlock":
        """Query rows `start` to `stop` of one head."""
        assert isinstance(self, (AttentionCall, SoftmaxCall))
        return RowBlock(self, batch, head, start, stop)

    def blocks(
        self, block_rows: int = BLOCK_ROWS, heads: Iterable[int] | None = None
    ) -> Iterator["RowBlock"]:
        """All rows (of the given heads), one head and at most `block_rows` rows at a time."""
        chosen = range(self.heads) if heads is None else tuple(heads)
        for batch in range(self.shape[0]):
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

    @cached_property
    def finite(self) -> list[bool]:
        # Some versions of sdpa make zeros of queries and keys that are NaN.
        made = self.output.isfinite().all(-1).flatten(0, 1).all(0)
        query, key, value = (
            each.isfinite().all(-1).all(-1).all(0) for each in (self.query, self.key, self.value)
        )
        both = (key & value).repeat_interleave(self.heads // self.kv_heads)
        return (made & query & both).tolist()

    def reconstruction_error(self, rows: int = 8) -> float:
        """max |Σ weights·v − output| / max |output| over the last rows of the first and last head.

        A cheap proof that nothing that shapes the weights was overlooked. Heads that are not finite
        prove nothing; infinite if all are.
        """
        worst, largest = 0.0, 0.0
        heads = [head for head in range(self.heads) if self.finite[head]]
        if not heads:
            return math.inf
        for batch, head in ((0, heads[0]), (self.shape[0] - 1, heads[-1])):
            block = self.block(batch, head, max(0, self.queries - rows), self.queries)
            alive = ~block.dead
            expected = promote(self.output[batch, block.start : block.stop, head])[alive]
            if expected.numel() == 0:
                continue
            assert block.value is not None
            found = block.weights[alive] @ promote(block.value)
            worst = max(worst, _largest(found - expected))
            largest = max(largest, _largest(expected))
        return worst / max(largest, torch.finfo(torch.float32).tiny)


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
    def mask(self) -> Tensor:
        """The logits have the mask in them."""
        return self.logits

    @cached_property
    def finite(self) -> list[bool]:
        # −inf is a mask.
        return (self.logits < torch.inf).all(-1).all(-1).all(0).tolist()


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Query rows `start` to `stop` of one head of one sequence of the batch."""

    call: AttentionCall | SoftmaxCall
    batch: int
    head: int
    start: int
    stop: int

    @property
    def kv_head(self) -> int:
        return self.call.kv_head(self.head)

    @cached_property
    def reach(self) -> int:
        """How many leading keys the block needs: no row sees any behind them. At least 1."""
        call = self.call
        if isinstance(call, AttentionCall) and call.mask is None:
            return min(self.stop, call.keys) if call.causal else call.keys
        columns = self._through_mask.any(0).nonzero()
        return int(columns[-1]) + 1 if len(columns) else 1

    @cached_property
    def visible(self) -> Bool[Tensor, "rows reach"]:
        """The keys each row may see."""
        call, shape = self.call, (self.stop - self.start, self.reach)
        if isinstance(call, SoftmaxCall) or call.mask is not None:
            return self._through_mask[:, : self.reach].expand(shape)
        everything = torch.ones(shape, dtype=torch.bool, device=call.key.device)
        # Row i sees the keys up to i also where there are more keys than queries, as in sdpa.
        return everything.tril_(self.start) if call.causal else everything

    @cached_property
    def dead(self) -> Bool[Tensor, "rows"]:
        """Rows that see nothing (padding). Versions differ in what is there: leave them out."""
        return ~self.visible.any(-1)

    @cached_property
    def raw(self) -> Float[Tensor, "rows reach"] | None:
        """q·kᵀ·scale; None where only the softmax could be seen."""
        call = self.call
        if isinstance(call, SoftmaxCall):
            return None
        query = promote(call.query[self.batch, self.head, self.start : self.stop])
        key = promote(call.key[self.batch, self.kv_head, : self.reach])
        return (query @ key.T).mul_(call.scaling)

    @cached_property
    def logits(self) -> Float[Tensor, "rows reach"]:
        """What enters the softmax; entries under the mask mean nothing."""
        call, logits = self.call, self.raw
        if isinstance(call, SoftmaxCall):
            return self._part(call.logits)
        assert logits is not None
        if call.softcap is not None:
            logits = torch.tanh(logits / call.softcap) * call.softcap
        if call.bias is not None:
            logits = logits + self._part(call.bias)
        if call.mask is not None and call.mask.dtype != torch.bool:
            # What an additive mask leaves at visible keys is a bias like any other (ALiBi).
            logits = logits + torch.where(self.visible, self._part(call.mask), 0.0)
        return logits

    @cached_property
    def weights(self) -> Float[Tensor, "rows reach"]:
        """The attention weights; zero at invisible keys and on dead rows."""
        call = self.call
        if isinstance(call, SoftmaxCall):
            return torch.where(self.visible, self._part(call.weights), 0.0)
        scores = torch.where(self.visible, self.logits, -math.inf)
        if call.sinks is not None:
            sink = call.sinks[self.head].to(scores).expand(len(scores), 1)
            return torch.softmax(torch.cat([scores, sink], dim=-1), dim=-1)[:, :-1]
        weights = torch.softmax(scores, dim=-1)
        # A row that sees nothing is NaN by now. Without a mask there is none.
        return weights if call.mask is None else weights.masked_fill(self.dead.unsqueeze(-1), 0.0)

    @property
    def value(self) -> Float[Tensor, "reach dim"] | None:
        """What the head sums with these weights; None where only the softmax could be seen."""
        call = self.call
        if isinstance(call, SoftmaxCall):
            return None
        return call.value[self.batch, self.kv_head, : self.reach]

    @cached_property
    def _through_mask(self) -> Bool[Tensor, "#rows keys"]:
        """Which entries a boolean mask (True = seen) or an additive one lets through.

        Adding a mask of `finfo.min` to a logit leaves about `finfo.min`, or −inf: half of it is a
        border that no logit reaches.
        """
        assert self.call.mask is not None
        mask = self._rows_of(self.call.mask)
        return mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2

    def _part(self, tensor: Shaped[Tensor, "#batch #heads #queries keys"]) -> Tensor:
        return promote(self._rows_of(tensor)[:, : self.reach])

    def _rows_of(self, tensor: Shaped[Tensor, "#batch #heads #queries keys"]) -> Tensor:
        """This block's rows of a tensor whose leading axes may be 1."""
        batch = self.batch if tensor.shape[0] > 1 else 0
        head = self.head if tensor.shape[1] > 1 else 0
        rows = slice(self.start, self.stop) if tensor.shape[2] > 1 else slice(0, 1)
        return tensor[batch, head, rows, : self.call.keys]


def promote(tensor: Shaped[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """float32, or float64 where the model computes in it."""
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def _largest(tensor: Tensor) -> float:
    """max |x|, infinite where something is not a number."""
    return float(tensor.abs().nan_to_num(nan=torch.inf).amax())
