"""What enters the softmax, a block of query rows at a time: q·kᵀ·scale, softcap, bias, mask.

    raw = q·kᵀ·scale
    z   = softcap·tanh(raw/softcap) + bias      over the visible keys

Neighbouring heads may share a key head; it is never repeated. Without a mask a causal row i sees the
keys up to i, also where there are more or fewer keys than queries, as in torch's sdpa; with a mask
it sees those of them that the mask lets through. Everything is made in float32, in float64 where q
and k have it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

_BLOCK_ENTRIES = 1 << 19  # logits of a block: a few of their kind fit into the caches
_LEAST_ROWS = 16


class Rows(NamedTuple):
    """Some query rows over their first keys; where a key may not be seen, the lowest number.

    Not −inf, which times a weight of 0 would be NaN.
    """

    z: Float[Tensor, "batch heads rows reach"]
    raw: Float[Tensor, "batch heads rows reach"]  # the same tensor where z is nothing else


@dataclass(frozen=True, eq=False)
class Logits:
    """q, k and all that makes logits of them.

    `mask` is boolean (True = may be seen) or additive, its leading axes possibly 1.
    """

    query: Float[Tensor, "batch heads queries dim"]
    key: Float[Tensor, "batch kv_heads keys dim"]
    scaling: float
    mask: Shaped[Tensor, "#batch #heads #queries keys"] | None = None
    causal: bool = False
    softcap: float | None = None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(batch, heads, queries, keys)."""
        return *self.query.shape[:3], self.key.shape[2]

    @cached_property
    def biased(self) -> bool:
        """Whether the mask does more than hide keys (ALiBi, T5's positions)."""
        return self.mask is not None and not hides(self.mask)

    @property
    def plain(self) -> bool:
        """Whether z is q·kᵀ·scale."""
        return self.softcap is None and not self.biased

    @property
    def by_rows(self) -> bool:
        """Whether the mask is another one for every query."""
        return self.mask is not None and self.mask.shape[2] > 1

    @cached_property
    def lengths(self) -> Int[Tensor, "batch heads queries"]:
        """n of every query: how many keys it sees."""
        _, _, queries, keys = self.shape
        if self.mask is None:
            own = torch.full((queries,), keys, device=self.query.device)
            if self.causal:
                own = torch.arange(1, queries + 1, device=own.device).clamp(max=keys)
            return own.expand(self.shape[:3])
        if not self.by_rows:
            seen = through(self.mask).long().cumsum(-1)[:, :, 0]
            last = torch.arange(queries, device=seen.device).clamp(max=keys - 1)
            own = seen[..., last] if self.causal else seen[..., -1:]
            return own.expand(self.shape[:3])
        blocks = [self.visible(start, stop) for start, stop in self.edges(self.mask.shape[1])]
        counted = [each.sum(-1) for each in blocks if each is not None]
        return torch.cat(counted, dim=2).expand(self.shape[:3])

    def edges(self, heads: int | None = None) -> Iterator[tuple[int, int]]:
        """Where blocks of rows begin and end, for so many heads at once."""
        batch, _, queries, keys = self.shape
        heads = self.shape[1] if heads is None else heads
        rows = max(_LEAST_ROWS, _BLOCK_ENTRIES // max(1, batch * heads * keys))
        return ((start, min(start + rows, queries)) for start in range(0, queries, rows))

    def reach(self, stop: int) -> int:
        """How many leading keys the rows before `stop` need."""
        return min(stop, self.shape[3]) if self.causal else self.shape[3]

    def visible(self, start: int, stop: int) -> Bool[Tensor, "#batch #heads #rows reach"] | None:
        """The keys, up to their reach, that rows may see; None: all of them."""
        reach, seen = self.reach(stop), None
        if self.mask is not None:
            seen = through(self._of_rows(start, stop))
        if self.causal and start + 1 < self.shape[3]:
            shape, device = (1, 1, stop - start, reach), self.query.device
            past = torch.ones(shape, dtype=torch.bool, device=device).tril_(start)
            seen = past if seen is None else seen & past
        return seen

    def bias(self, start: int, stop: int) -> Float[Tensor, "#batch #heads #rows reach"] | None:
        """What the mask adds to the logits of visible keys, 0 at the others; None: nothing."""
        if not self.biased:
            return None
        own = self._of_rows(start, stop)
        return torch.where(through(own), promote(own), 0.0)

    def rows(self, start: int, stop: int) -> Rows:
        """The logits of some rows of all heads."""
        query, key = self.query[:, :, start:stop], self.key[:, :, : self.reach(stop)]
        z = raw = over_groups(promote(query), promote(key).mT).mul_(self.scaling)
        bias, visible = self.bias(start, stop), self.visible(start, stop)
        if self.softcap is not None:
            z = torch.tanh(z / self.softcap).mul_(self.softcap)
        if bias is not None:
            z = z + bias
        if visible is not None:
            hidden, lowest = ~visible, torch.finfo(z.dtype).min
            z.masked_fill_(hidden, lowest)
            raw = z if self.plain else raw.masked_fill_(hidden, lowest)
        return Rows(z, raw)

    def _of_rows(self, start: int, stop: int) -> Tensor:
        assert self.mask is not None
        mask = self.mask[..., : self.reach(stop)]
        return mask[:, :, start:stop] if self.by_rows else mask


def promote(tensor: Shaped[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """float32, or float64 where the model computes in it."""
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def over_groups(
    rows: Float[Tensor, "batch heads rows inner"], matrices: Float[Tensor, "batch kv_heads inner n"]
) -> Float[Tensor, "batch heads rows n"]:
    """rows @ matrices, where neighbouring heads may share a matrix."""
    heads, kv_heads = rows.shape[1], matrices.shape[1]
    if heads == kv_heads:
        return rows @ matrices
    several = rows.unflatten(1, (kv_heads, heads // kv_heads))
    made = several.flatten(2, 3) @ matrices
    return made.unflatten(2, several.shape[2:4]).flatten(1, 2)


def through(mask: Shaped[Tensor, "*shape"]) -> Bool[Tensor, "*shape"]:
    """Which entries a boolean mask (True = seen) or an additive one lets through.

    Adding a mask of `finfo.min` to a logit leaves about `finfo.min`, or −inf: half of it is a
    border that no logit reaches.
    """
    return mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2


def hides(mask: Shaped[Tensor, "*shape"]) -> bool:
    """Whether a mask hides keys and does nothing else."""
    if mask.dtype == torch.bool:
        return True
    return bool((through(mask).logical_not_() | (mask == 0)).all())
