"""Rows of attention, a block at a time: never the weights of a whole layer.

For one head and a block of query rows,

    raw     = q·kᵀ·scale                      before softcap and bias
    logits  = softcap·tanh(raw/softcap) + bias
    weights = softmax(logits over the visible keys [, sink])  without the sink's own column

so the weights of a row with a sink sum to less than one, as in the model. Everything is computed
in float32 (float64 where the model is), only when it is asked for, and only for the first `reach`
keys: under a causal mask the first rows of a sequence need few columns.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

if TYPE_CHECKING:
    from headgauge.models.calls import AttentionCall, SoftmaxCall


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Query rows `start` to `stop` of one head of one sequence of the batch."""

    batch: int
    head: int
    kv_head: int
    start: int
    stop: int

    @cached_property
    def reach(self) -> int:
        """How many leading keys the block needs: no row sees any behind them. At least 1."""
        return self._reach()

    @cached_property
    def raw(self) -> Float[Tensor, "rows reach"] | None:
        """q·kᵀ·scale; None where only the softmax could be seen."""
        return self._raw()

    @cached_property
    def logits(self) -> Float[Tensor, "rows reach"]:
        """What enters the softmax; entries under the mask mean nothing."""
        return self._logits()

    @cached_property
    def visible(self) -> Bool[Tensor, "rows reach"]:
        """The keys each row may see."""
        return self._visible()

    @cached_property
    def weights(self) -> Float[Tensor, "rows reach"]:
        """The attention weights; zero at invisible keys and on dead rows."""
        return self._weights()

    @cached_property
    def dead(self) -> Bool[Tensor, "rows"]:
        """Rows that see nothing (padding). Versions differ in what is there: leave them out."""
        return ~self.visible.any(-1)

    @property
    def value(self) -> Float[Tensor, "reach dim"] | None:
        """What the head sums with these weights; None where only the softmax could be seen."""
        return None

    def _reach(self) -> int:
        raise NotImplementedError

    def _raw(self) -> Tensor | None:
        return None

    def _logits(self) -> Tensor:
        raise NotImplementedError

    def _visible(self) -> Tensor:
        raise NotImplementedError

    def _weights(self) -> Tensor:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ComputedBlock(RowBlock):
    """A block computed from q, k and v."""

    call: "AttentionCall"

    def _reach(self) -> int:
        call = self.call
        if call.mask is None:
            return min(self.stop, call.keys) if call.causal else call.keys
        return _last_seen(self._seen)

    def _raw(self) -> Tensor:
        call = self.call
        query = promote(call.query[self.batch, self.head, self.start : self.stop])
        key = promote(call.key[self.batch, self.kv_head, : self.reach])
        return (query @ key.T).mul_(call.scaling)

    def _logits(self) -> Tensor:
        call = self.call
        assert self.raw is not None
        logits = self.raw
        if call.softcap is not None:
            logits = (logits / call.softcap).tanh_().mul_(call.softcap)
        if call.bias is not None:
            logits = logits + promote(self._part(call.bias)[:, : self.reach])
        if call.mask is not None and call.mask.dtype != torch.bool:
            # What an additive mask leaves at visible keys is a bias like any other (ALiBi).
            mask = promote(self._part(call.mask)[:, : self.reach])
            logits = logits + torch.where(self.visible, mask, 0.0)
        return logits

    @cached_property
    def _seen(self) -> Bool[Tensor, "#rows keys"]:
        assert self.call.mask is not None
        return seen_through(self._part(self.call.mask))

    def _visible(self) -> Tensor:
        call, shape = self.call, (self.stop - self.start, self.reach)
        if call.mask is not None:
            return self._seen[:, : self.reach].expand(shape)
        everything = torch.ones(shape, dtype=torch.bool, device=call.key.device)
        # Row i sees the keys up to i also where there are more keys than queries, as in sdpa.
        return everything.tril_(self.start) if call.causal else everything

    def _weights(self) -> Tensor:
        scores = torch.where(self.visible, self.logits, -math.inf)
        if self.call.sinks is not None:
            sink = self.call.sinks[self.head].to(scores).expand(len(scores), 1)
            return torch.softmax(torch.cat([scores, sink], dim=-1), dim=-1)[:, :-1]
        weights = torch.softmax(scores, dim=-1)
        # A row that sees nothing is NaN by now. Without a mask there is none.
        if self.call.mask is not None:
            weights.masked_fill_(self.dead.unsqueeze(-1), 0.0)
        return weights

    @property
    def value(self) -> Float[Tensor, "reach dim"]:
        return self.call.value[self.batch, self.kv_head, : self.reach]

    def _part(self, tensor: Shaped[Tensor, "#batch #heads #queries keys"]) -> Tensor:
        """This block's rows of a tensor whose leading axes may be 1."""
        batch = self.batch if tensor.shape[0] > 1 else 0
        head = self.head if tensor.shape[1] > 1 else 0
        rows = slice(self.start, self.stop) if tensor.shape[2] > 1 else slice(0, 1)
        return tensor[batch, head, rows, : self.call.keys]


@dataclass(frozen=True, eq=False)
class TappedBlock(RowBlock):
    """A block of what went into and came out of the model's own softmax."""

    call: "SoftmaxCall"

    def _reach(self) -> int:
        return _last_seen(self._seen)

    @cached_property
    def _seen(self) -> Bool[Tensor, "rows keys"]:
        return seen_through(self.call.logits[self.batch, self.head, self.start : self.stop])

    def _logits(self) -> Tensor:
        return promote(self._part(self.call.logits))

    def _visible(self) -> Tensor:
        return self._seen[:, : self.reach]

    def _weights(self) -> Tensor:
        return torch.where(self.visible, promote(self._part(self.call.weights)), 0.0)

    def _part(self, tensor: Tensor) -> Tensor:
        return tensor[self.batch, self.head, self.start : self.stop, : self.reach]


def _last_seen(seen: Bool[Tensor, "rows keys"]) -> int:
    """One more than the place of the last key that a row sees; 1 if none does."""
    columns = seen.any(0).nonzero()
    return int(columns[-1]) + 1 if len(columns) else 1


def promote(tensor: Shaped[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """float32, or float64 where the model computes in it."""
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def seen_through(mask: Shaped[Tensor, "*shape"]) -> Bool[Tensor, "*shape"]:
    """Which entries a boolean mask (True = seen) or an additive one lets through.

    Adding a mask of `finfo.min` to a logit leaves about `finfo.min`, or −inf: half of it is a
    border that no logit reaches.
    """
    if mask.dtype == torch.bool:
        return mask
    return mask > torch.finfo(mask.dtype).min / 2
