"""One attention call as an observer gets it, and its rows, a block at a time.

`AttentionCall` has q, k and v and everything else that shapes the weights, as `attention_rows` puts
them together. `SoftmaxCall` is what can be seen of a family that computes its attention by hand:
the logits and the weights, but neither the values nor the scale. The weights of a whole layer are
never made: `RowBlock` is one head and a block of query rows.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from headgauge.logits import promote, through
from headgauge.models.attention_rows import Attention, HeadRows
from headgauge.models.head_rules import Assigned, HeadRules
from headgauge.normalizers import Normalizer

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

    def drawn(self, heads: Sequence[int], places: Int[Tensor, "rows"]) -> "DrawnRows":
        """The query rows of these heads at these places, which rise, of the first sequence."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class AttentionCall(Attention, ObservedCall):
    """q, k, v and all that turns them into weights.

    `output` is what the model's own function returned, and `rules` says by which rules the heads
    made it (`swap`); None: by the model's own softmax.
    """

    output: Float[Tensor, "batch queries heads value_dim"]
    rules: HeadRules | None = None

    @property
    def kv_heads(self) -> int:
        return self.key.shape[1]

    @cached_property
    def finite(self) -> list[bool]:
        # Of numbers that are all finite the sum is too, unless it overflows; it costs a fifth.
        sums = [each.sum() for each in (self.output, self.query, self.key, self.value)]
        if bool(torch.stack(sums).isfinite().all()):
            return [True] * self.heads
        # Some versions of sdpa make zeros of queries and keys that are NaN.
        made = self.output.isfinite().all(-1).flatten(0, 1).all(0)
        query, key, value = (
            each.isfinite().all(-1).all(-1).all(0) for each in (self.query, self.key, self.value)
        )
        both = (key & value).repeat_interleave(self.heads // self.kv_heads)
        return (made & query & both).tolist()

    def drawn(self, heads: Sequence[int], places: Int[Tensor, "rows"]) -> "DrawnRows":
        parts = [(None, tuple(heads))]
        if self.rules is not None:
            parts = [(self.rules.of(head, self.heads), (head,)) for head in heads]
        ends, first = (int(places[0]), int(places[-1]) + 1), slice(0, 1)
        made = [HeadRows(self, first, some, *ends, rule, places) for rule, some in parts]
        reach = max(each.reach for each in made)
        found: list[list[Tensor]] = [[], [], [], []]
        for each, (_, some) in zip(made, parts, strict=True):
            shape = len(some), len(places), each.reach
            for held, rows in zip(
                found, (each.weights, each.visible, each.logits, each.raw), strict=True
            ):
                rows = rows[0].expand(shape)
                wide = reach > each.reach
                held.append(F.pad(rows, (0, reach - each.reach)) if wide else rows)
        return DrawnRows(*(each[0] if len(each) == 1 else torch.cat(each) for each in found))

    def reconstruction_error(self, rows: int = 8) -> float:
        """max |Σ weights·v − output| / max |output| over the last rows of the first and last head.

        Of each rule in force, too. A cheap proof that nothing that shapes the weights was
        overlooked. Heads that are not finite prove nothing; infinite if all are.
        """
        worst, largest = 0.0, 0.0
        heads = [head for head in range(self.heads) if self.finite[head]]
        if not heads:
            return math.inf
        groups = () if self.rules is None else self.rules.groups(self.heads)
        several = [head for group in groups for head in group.heads[:1] if head in heads]
        last = self.shape[0] - 1
        for batch, head in ((0, heads[0]), (last, heads[-1]), *((last, head) for head in several)):
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

    def drawn(self, heads: Sequence[int], places: Int[Tensor, "rows"]) -> "DrawnRows":
        logits, weights = (each[0, [*heads]][:, places] for each in (self.logits, self.weights))
        visible = through(logits)
        return DrawnRows(torch.where(visible, promote(weights), 0.0), visible, promote(logits))

    @cached_property
    def finite(self) -> list[bool]:
        # −inf is a mask.
        return (self.logits < torch.inf).all(-1).all(-1).all(0).tolist()


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Some query rows of some heads at once: what a `RowBlock` has of one."""

    weights: Float[Tensor, "heads rows reach"]
    visible: Bool[Tensor, "heads rows reach"]
    logits: Float[Tensor, "heads rows reach"]
    raw: Float[Tensor, "heads rows reach"] | None = None

    def cpu(self) -> "DrawnRows":
        """The same on the CPU: not every device has float64."""
        raw = None if self.raw is None else self.raw.cpu()
        return DrawnRows(self.weights.cpu(), self.visible.cpu(), self.logits.cpu(), raw)


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

    def under(self, rule: Normalizer) -> "RowBlock":
        """The same rows with another rule in the place of what is in force."""
        assert isinstance(self.call, AttentionCall)
        return replace(self, call=replace(self.call, rules=HeadRules([Assigned(rule)])))

    @cached_property
    def reach(self) -> int:
        """How many leading keys the block needs: no row sees any behind them. At least 1."""
        if isinstance(self.call, AttentionCall):
            return self._own.reach
        columns = self._through_mask.any(0).nonzero()
        return int(columns[-1]) + 1 if len(columns) else 1

    @cached_property
    def visible(self) -> Bool[Tensor, "rows reach"]:
        """The keys each row may see."""
        shape = self.stop - self.start, self.reach
        if isinstance(self.call, AttentionCall):
            return self._own.visible[0, 0].expand(shape)
        return self._through_mask[:, : self.reach].expand(shape)

    @cached_property
    def counts(self) -> Int[Tensor, "rows"]:
        """How many keys each row sees."""
        call = self.call
        if isinstance(call, AttentionCall) and call.mask is None:  # the same in every head
            every = call.lengths[0, 0].expand(call.queries)
            return every[self.start : self.stop].long()
        return self.visible.sum(-1)

    @cached_property
    def dead(self) -> Bool[Tensor, "rows"]:
        """Rows that see nothing (padding). Versions differ in what is there: leave them out."""
        return ~self.visible.any(-1)

    @cached_property
    def raw(self) -> Float[Tensor, "rows reach"] | None:
        """q·kᵀ·scale; None where only the softmax could be seen."""
        return self._own.raw[0, 0] if isinstance(self.call, AttentionCall) else None

    @cached_property
    def logits(self) -> Float[Tensor, "rows reach"]:
        """What enters the softmax, or the rule in its place; under the mask it means nothing."""
        call = self.call
        if isinstance(call, SoftmaxCall):
            return promote(self._rows_of(call.logits)[:, : self.reach])
        return self._own.logits[0, 0]

    @cached_property
    def weights(self) -> Float[Tensor, "rows reach"]:
        """The attention weights; zero at invisible keys and on dead rows."""
        call = self.call
        if isinstance(call, AttentionCall):
            return self._own.weights[0, 0]
        weights = promote(self._rows_of(call.weights)[:, : self.reach])
        return torch.where(self.visible, weights, 0.0)

    @property
    def value(self) -> Float[Tensor, "reach dim"] | None:
        """What the head sums with these weights; None where only the softmax could be seen."""
        call = self.call
        if isinstance(call, SoftmaxCall):
            return None
        return call.value[self.batch, self.kv_head, : self.reach]

    @cached_property
    def _own(self) -> HeadRows:
        """The block among the rows of its layer."""
        call, batch = self.call, slice(self.batch, self.batch + 1)
        assert isinstance(call, AttentionCall)
        rule = None if call.rules is None else call.rules.of(self.head, call.heads)
        return HeadRows(call, batch, (self.head,), self.start, self.stop, rule)

    @cached_property
    def _through_mask(self) -> Bool[Tensor, "rows keys"]:
        """Which entries the mask that is in the logits lets through."""
        assert isinstance(self.call, SoftmaxCall)
        return through(self._rows_of(self.call.logits))

    def _rows_of(self, tensor: Float[Tensor, "batch heads queries keys"]) -> Tensor:
        return tensor[self.batch, self.head, self.start : self.stop]


def _largest(tensor: Tensor) -> float:
    """max |x|, infinite where something is not a number."""
    return float(tensor.abs().nan_to_num(nan=torch.inf).amax())
