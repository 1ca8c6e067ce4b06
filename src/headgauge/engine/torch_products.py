"""What all rows over the same vectors share in plain torch, on the device the vectors are on."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def splits(count: int, step: int) -> Iterator[slice]:
    """0…count in slices of at most `step`."""
    step = max(1, step)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


@dataclass(frozen=True, eq=False)
class Products:
    """Lengths and inner products of the vectors x_i, made when they are first asked for and kept.

    No more than `limit` bytes of inner products are held; beyond it they are made where they are
    used.
    """

    x: Float[Tensor, "keys dim"]
    limit: int

    @cached_property
    def norms2(self) -> Float[Tensor, "keys"]:
        """‖x_i‖²."""
        return (self.x**2).sum(-1)

    @cached_property
    def alike(self) -> bool:
        """Whether all ‖x_i‖² are 1 but for rounding."""
        within = 64 * torch.finfo(self.x.dtype).eps
        return bool(((self.norms2 - 1).abs() <= within).all())

    @property
    def row_bytes(self) -> int:
        return len(self.x) * self.x.element_size()

    @property
    def held(self) -> bool:
        return len(self.x) * self.row_bytes <= self.limit

    @cached_property
    def gram(self) -> Float[Tensor, "keys keys"]:
        return self.x @ self.x.T

    def gram_rows(
        self,
        keys: Int[Tensor, "some"],
        span: slice,
        room: Float[Tensor, "some width"] | None = None,
    ) -> Float[Tensor, "some width"]:
        """⟨x_j, x_i⟩ of the keys j asked for and every i in the span, in `room` where it is given:
        to ask for new memory costs as much as to fill it."""
        if self.held:
            return torch.index_select(self.gram[:, span], 0, keys, out=room)
        chosen, at = keys.unique(return_inverse=True)
        return torch.index_select(self.x[chosen] @ self.x[span].T, 0, at, out=room)

    @cached_property
    def nearest(self) -> tuple[Float[Tensor, "keys"], Int[Tensor, "keys"]]:
        """Each key's squared distance to the nearest one before it, and which that is."""
        places = torch.arange(len(self.x), device=self.x.device)
        squares, before = torch.empty_like(self.norms2), torch.empty_like(places)
        for some in splits(len(self.x), self.limit // 8 // self.row_bytes):
            own = places[some, None]
            apart2 = self._apart2(places[some], slice(0, some.stop))
            apart2 = torch.where(places[: some.stop] < own, apart2, math.inf)
            squares[some], before[some] = apart2.min(-1)
        return squares, before

    @cached_property
    def running2(self) -> Float[Tensor, "keys"]:
        """The smallest squared distance among the keys up to each one."""
        return self.nearest[0].cummin(0).values

    def _apart2(self, keys: Tensor, span: slice) -> Tensor:
        """‖x_j − x_i‖²."""
        sums = self.norms2[keys, None] + self.norms2[span]
        return sums.sub_(self.gram_rows(keys, span), alpha=2).clamp_(min=0)

    def separation2(
        self, counts: Bool[Tensor, "rows width"], span: slice, step: int
    ) -> Float[Tensor, "rows"]:
        """δ² over the counting keys of each row, whichever they are; `step` of them at once.

        A key's nearest predecessor, where both count, bounds it from above. The keys that have one
        which is nearer but does not count are asked for their nearest counting one.
        """
        nearest2, before = (each[span] for each in self.nearest)
        before = before - span.start
        both = counts & counts[:, before.clamp(min=0)] & (before >= 0)
        least = torch.where(both, nearest2, math.inf).amin(-1)
        row, key = torch.nonzero(counts & ~both & (nearest2 < least[:, None]), as_tuple=True)
        places = torch.arange(counts.shape[1], device=counts.device)
        for some in splits(len(row), step):
            among = counts[row[some]] & (places < key[some, None])
            apart2 = torch.where(among, self._apart2(key[some] + span.start, span), math.inf)
            least = least.scatter_reduce(0, row[some], apart2.amin(-1), "amin")
        return least
