"""What enters the softmax, a block of query rows at a time: q·kᵀ·scale, softcap, bias, mask.

    raw = q·kᵀ·scale
    z   = softcap·tanh(raw/softcap) + bias      over the visible keys

Neighbouring heads may share a key head; it is never repeated. A causal row i sees the keys up to i,
also where there are more or fewer keys than queries, as in torch's sdpa; with a mask beside it,
those of them that the mask lets through. Everything is made in float32, in float64 where q and k
have it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_mask

from headgauge.products import batched

_ENTRIES = 1 << 19  # logits of a block: a few of their kind fit into the caches
_LEAST_ROWS = 16
_HIDDEN = -1e4  # what is added from here down hides: e^-10000 is 0
Mask = Shaped[Tensor, "#batch #heads #queries mask_keys"] | BlockMask
Seen = Bool[Tensor, "#batch #heads #rows reach"]


class Rows(NamedTuple):
    """Some query rows over their first keys; where a key may not be seen, the lowest number.

    Not −inf, which times a weight of 0 would be NaN.
    """

    z: Float[Tensor, "batch heads rows reach"]
    raw: Float[Tensor, "batch heads rows reach"]  # the same tensor where z is nothing else


@dataclass(frozen=True, eq=False)
class Logits:
    """q, k and all that makes logits of them.

    `mask` is boolean (True = may be seen) or additive, its leading axes possibly 1 and its last
    possibly longer than there are keys; or a flex attention's.
    """

    query: Float[Tensor, "batch heads queries dim"]
    key: Float[Tensor, "batch kv_heads keys dim"]
    scaling: float
    mask: Mask | None = None
    causal: bool = False
    softcap: float | None = None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(batch, heads, queries, keys)."""
        batch, heads, queries, _ = self.query.shape
        return batch, heads, queries, self.key.shape[2]

    @cached_property
    def biased(self) -> bool:
        """Whether the mask does more than hide keys (ALiBi, T5's positions)."""
        return isinstance(self.mask, Tensor) and not hides(self.mask)

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
        last = torch.arange(queries, device=self.query.device).clamp(max=keys - 1)
        if self.mask is None:
            own = last + 1 if self.causal else torch.full_like(last, keys)
        elif not self.by_rows:
            seen = through(self._mask(0, queries))[:, :, 0].long().cumsum(-1)
            own = seen[..., last] if self.causal else seen[..., -1:]
        else:
            blocks = (self.visible(start, stop) for start, stop in self.mask_edges())
            own = torch.cat([each.sum(-1) for each in blocks if each is not None], dim=2)
        return own.expand(self.shape[:3])

    def edges(self) -> Iterator[tuple[int, int]]:
        """Where blocks of rows of all heads begin and end."""
        batch, heads, _, keys = self.shape
        return self._edges(max(_LEAST_ROWS, _ENTRIES // (batch * heads * keys)))

    def mask_edges(self) -> Iterator[tuple[int, int]]:
        """The same where nothing is made of a block but its mask: fewer and larger ones."""
        several = 1 if self.mask is None else self.mask.shape[0] * self.mask.shape[1]
        return self._edges(max(8 * _LEAST_ROWS, 8 * _ENTRIES // (several * self.shape[3])))

    def _edges(self, rows: int) -> Iterator[tuple[int, int]]:
        queries = self.shape[2]
        return ((start, min(start + rows, queries)) for start in range(0, queries, rows))

    def reach(self, stop: int) -> int:
        """How many leading keys the rows before `stop` need."""
        return min(stop, self.shape[3]) if self.causal else self.shape[3]

    def visible(self, start: int, stop: int) -> Seen | None:
        """The keys, up to their reach, that rows may see; None: all of them."""
        past = None
        if self.causal and start + 1 < self.shape[3]:
            shape, device = (1, 1, stop - start, self.reach(stop)), self.query.device
            past = torch.ones(shape, dtype=torch.bool, device=device).tril_(start)
        if self.mask is None:
            return past
        seen = through(self._mask(start, stop))
        return seen if past is None else seen & past

    def bias(self, start: int, stop: int) -> Float[Tensor, "#batch #heads #rows reach"] | None:
        """What the mask adds to the logits of visible keys, 0 at the others; None: nothing."""
        return _visible_part(self._mask(start, stop)) if self.biased else None

    def rows(self, start: int, stop: int) -> Rows:
        """The logits of some rows of all heads."""
        query, key = self.query[:, :, start:stop], self.key[:, :, : self.reach(stop)]
        return self._shaped(query, key, self.bias(start, stop), self.visible(start, stop))

    def at(self, places: Int[Tensor, "#batch places"]) -> Float[Tensor, "batch heads queries n"]:
        """The logits at some keys, for all sequences the same or for each its own."""
        key = torch.take_along_dim(self.key, places[:, None, :, None], dim=2)
        visible, bias, columns = None, None, places[:, None, None]
        if self.causal:
            visible = columns <= torch.arange(self.shape[2], device=columns.device)[:, None]
        if isinstance(self.mask, BlockMask):
            batch, heads, queries = self.shape[0], self.mask.shape[1], self.shape[2]
            mod, several = self.mask.mask_mod, int(self.mask.shape[0] > 1)
            every = places.expand(batch, -1)
            seen = create_mask(
                lambda b, h, q, j: mod(b * several, h, q, every[b, j]),
                *(batch, heads, queries, every.shape[1]),
                device=every.device,
            )
        elif self.mask is not None:
            mask = torch.take_along_dim(self.mask, columns, dim=3)
            seen, bias = through(mask), _visible_part(mask) if self.biased else None
        else:
            seen = visible
        visible = seen if visible is None or seen is None else seen & visible
        return self._shaped(self.query, key, bias, visible).z

    def _shaped(
        self, query: Tensor, key: Tensor, bias: Tensor | None, visible: Tensor | None
    ) -> Rows:
        z = raw = over_groups(promote(query), promote(key).mT).mul_(self.scaling)
        if self.softcap is not None:
            z = torch.tanh(z / self.softcap).mul_(self.softcap)
        if bias is not None:
            z = z + bias
        if visible is not None:
            hidden, lowest = ~visible, torch.finfo(z.dtype).min
            z.masked_fill_(hidden, lowest)
            raw = z if self.plain else raw.masked_fill_(hidden, lowest)
        return Rows(z, raw)

    def _mask(self, start: int, stop: int) -> Shaped[Tensor, "#batch #heads #rows reach"]:
        assert self.mask is not None
        reach = self.reach(stop)
        if isinstance(self.mask, Tensor):
            mask = self.mask[..., :reach]
            return mask[:, :, start:stop] if self.by_rows else mask
        mod, (batch, heads, *_) = self.mask.mask_mod, self.mask.shape
        return create_mask(
            lambda b, h, q, j: mod(b, h, q + start, j),
            *(batch, heads, stop - start, reach),
            device=self.query.device,
        )


def promote(tensor: Shaped[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """float32, or float64 where the model computes in it."""
    return tensor.to(promoted(tensor.dtype))


def promoted(dtype: torch.dtype) -> torch.dtype:
    return torch.promote_types(dtype, torch.float32)


def over_groups(
    rows: Float[Tensor, "batch heads rows inner"], matrices: Float[Tensor, "batch kv_heads inner n"]
) -> Float[Tensor, "batch heads rows n"]:
    """rows @ matrices, where neighbouring heads may share a matrix."""
    heads, kv_heads = rows.shape[1], matrices.shape[1]
    if heads == kv_heads:
        return batched(rows, matrices)
    several = rows.unflatten(1, (kv_heads, heads // kv_heads))
    made = batched(several.flatten(2, 3), matrices)
    return made.unflatten(2, several.shape[2:4]).flatten(1, 2)


def through(mask: Shaped[Tensor, "*shape"]) -> Bool[Tensor, "*shape"]:
    """Which entries a boolean mask (True = seen) or an additive one lets through.

    Masks that are added hide with −inf, with the lowest number of their type or of a smaller one,
    or with −1e9 or −1e4. Below the last no key has a weight left, be it by a bias that grows with
    the distance.
    """
    return mask if mask.dtype == torch.bool else mask > _HIDDEN


def hides(mask: Shaped[Tensor, "*shape"]) -> bool:
    """Whether a mask hides keys and does nothing else."""
    if mask.dtype == torch.bool:
        return True
    return bool((through(mask).logical_not_() | (mask == 0)).all())


def _visible_part(mask: Tensor) -> Tensor:
    """What an additive mask adds where it lets a key through, and 0 elsewhere."""
    return torch.where(through(mask), promote(mask), 0.0)
