"""Rows of attention, a block at a time: never the weights of a whole layer.

For one head and a block of query rows,

    raw     = q·kᵀ·scale                      before softcap and bias
    logits  = softcap·tanh(raw/softcap) + bias
    weights = softmax(logits over the visible keys [, sink])  without the sink's own column

so the weights of a row with a sink sum to less than one, as in the model. Everything is computed
in float32 (float64 where the model is), and only when it is asked for.
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
    def raw(self) -> Float[Tensor, "rows keys"] | None:
        """q·kᵀ·scale; None where only the softmax could be seen."""
        return self._raw()

    @cached_property
    def logits(self) -> Float[Tensor, "rows keys"]:
        """What enters the softmax; entries under the mask mean nothing."""
        return self._logits()

    @cached_property
    def visible(self) -> Bool[Tensor, "rows keys"]:
        """The keys each row may see."""
        return self._visible()

    @cached_property
    def weights(self) -> Float[Tensor, "rows keys"]:
        """The attention weights; zero at invisible keys and on dead rows."""
        return self._weights()

    @cached_property
    def dead(self) -> Bool[Tensor, "rows"]:
        """Rows that see nothing (padding). Versions differ in what is there: leave them out."""
        return ~self.visible.any(-1)

    @property
    def value(self) -> Float[Tensor, "keys dim"] | None:
        """What the head sums with these weights; None where only the softmax could be seen."""
        return None

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

    def _raw(self) -> Tensor:
        call = self.call
        query = promote(call.query[self.batch, self.head, self.start : self.stop])
        return (query @ promote(call.key[self.batch, self.kv_head]).T) * call.scaling

    def _logits(self) -> Tensor:
        call = self.call
        assert self.raw is not None
        logits = self.raw
        if call.softcap is not None:
            logits = torch.tanh(logits / call.softcap) * call.softcap
        if call.bias is not None:
            logits = logits + promote(self._part(call.bias))
        if call.mask is not None and call.mask.dtype != torch.bool:
            # What an additive mask leaves at visible keys is a bias like any other (ALiBi).
            logits = logits + promote(self._part(call.mask)).masked_fill(~self.visible, 0.0)
        return logits

    def _visible(self) -> Tensor:
        call = self.call
        shape = (self.stop - self.start, call.keys)
        if call.mask is None:
            if not call.causal:
                return torch.ones(shape, dtype=torch.bool, device=call.key.device)
            rows = torch.arange(self.start, self.stop, device=call.key.device)
            return torch.arange(call.keys, device=call.key.device) <= rows.unsqueeze(-1)
        return seen_through(self._part(call.mask)).expand(shape)

    def _weights(self) -> Tensor:
        scores = self.logits.masked_fill(~self.visible, -math.inf)
        if self.call.sinks is not None:
            sink = self.call.sinks[self.head].to(scores).expand(len(scores), 1)
            return torch.softmax(torch.cat([scores, sink], dim=-1), dim=-1)[:, :-1]
        if self.call.mask is None:
            return torch.softmax(scores, dim=-1)
        dead = self.dead.unsqueeze(-1)
        return torch.softmax(scores.masked_fill(dead, 0.0), dim=-1).masked_fill(dead, 0.0)

    @property
    def value(self) -> Float[Tensor, "keys dim"]:
        return self.call.value[self.batch, self.kv_head]

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

    def _logits(self) -> Tensor:
        return promote(self.call.logits[self.batch, self.head, self.start : self.stop])

    def _visible(self) -> Tensor:
        return seen_through(self.call.logits[self.batch, self.head, self.start : self.stop])

    def _weights(self) -> Tensor:
        rows = promote(self.call.weights[self.batch, self.head, self.start : self.stop])
        return rows.masked_fill(~self.visible, 0.0)


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
