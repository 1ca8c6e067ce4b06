"""One attention call of a training as the monitor sees it, and what is measured in it.

Every row of the call is measured from log-sum-exps (`headgauge.stats`), a few rows from their
weights. Nothing here is differentiated, draws from torch's own random numbers or is seen by modes
that are in force around the training, such as one that decides what a checkpoint keeps.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_mask
from torch.utils._python_dispatch import _disable_current_modes

from headgauge.engine import Statistics, stats
from headgauge.engine.fused_statistics import STATISTICS
from headgauge.engine.sampled_rows import sampled_rows
from headgauge.logits import Logits, promote, through

TOP_N = 8
"""N of N_s/N: a row has to see more keys."""
MEANS = (
    "entropy", "entropy_share", "collision_entropy", "largest_weight", "jacobian_lower",
    "jacobian_upper", "jacobian_norm", "separability", "sink_weight", "output_norm",
)  # fmt: skip
LARGEST = ("max_logit", "entropy_min")  # entropy_min: of its negative
PerRow = Float[Tensor, "batch heads rows"]


@dataclass(frozen=True, eq=False)
class Call:
    """What makes logits of q and k, and what becomes of them; v and output where they are known."""

    logits: Logits
    sinks: Float[Tensor, "heads"] | None
    value: Float[Tensor, "batch kv_heads keys value_dim"] | None
    output: Float[Tensor, "batch queries heads value_dim"] | None

    @staticmethod
    def of(fields: dict[str, Any], output: Tensor | None) -> "Call":
        """From the fields of a model's `Attention`, which may have a bias beside the mask."""
        given = {name: _detached(value) for name, value in fields.items()}
        value, sinks, bias = given.pop("value"), given.pop("sinks"), given.pop("bias", None)
        logits = Logits(**given)
        if bias is not None:
            logits = replace(logits, mask=_with_bias(logits, bias[..., : logits.shape[3]]))
        return Call(logits, sinks, value, _detached(output))

    @property
    def heads(self) -> tuple[int, int]:
        """Of the queries, and of the keys."""
        return self.logits.shape[1], self.logits.key.shape[1]

    @cached_property
    def padding(self) -> Bool[Tensor, "#batch 1 queries"] | None:
        """The rows of padding: of tokens that may not see themselves. None: not to be told."""
        _, _, queries, keys = self.logits.shape
        mask = self.logits.mask
        if mask is None or queries != keys or queries == 1:
            return None
        if isinstance(mask, BlockMask):
            function, size = mask.mask_mod, (mask.shape[0], 1, queries, 1)
            own = create_mask(lambda b, h, q, _: function(b, h, q, q), *size, device=self._device)
            return ~own[..., 0]
        mask = mask[:, :1, :, :keys]
        own = mask.diagonal(dim1=-2, dim2=-1) if mask.shape[2] > 1 else mask[:, :, 0]
        return ~through(own)

    def statistics(self, want: Sequence[str] = STATISTICS, **more: Any) -> Statistics:
        """Those of `headgauge.stats`, for every row."""
        z = self.logits
        how = {"scaling": z.scaling, "mask": z.mask, "causal": z.causal, "softcap": z.softcap}
        return stats(z.query, z.key, sinks=self.sinks, want=want, **how, **more)

    def rows(
        self, of: Int[Tensor, "rows"], at: Int[Tensor, "rows"]
    ) -> tuple[
        Float[Tensor, "rows heads keys"],
        Bool[Tensor, "rows heads keys"],
        Float[Tensor, "rows heads keys dim"],
    ]:
        """Some rows in every head, each of a sequence of the batch: their weights, which keys they
        see, and the keys' values."""
        z, value = self.logits, self.value
        assert value is not None
        given = z.query[of, :, at][:, :, None], z.key[of], z.scaling, self._mask(of, at)
        drawn = Logits(*given, softcap=z.softcap)
        logits, seen = drawn.rows(0, 1).z[:, :, 0], drawn.visible(0, 1)
        visible = logits.new_ones(1, 1, 1, dtype=torch.bool) if seen is None else seen[:, :, 0]
        rows, heads, keys = logits.shape
        if self.sinks is not None:
            own = promote(self.sinks)[:, None].expand(rows, heads, 1)
            logits = torch.cat([logits, own], dim=-1)
        weights = torch.softmax(logits, dim=-1)[..., :keys]
        vectors = value[of].repeat_interleave(heads // value.shape[1], dim=1)
        return weights, visible.expand(weights.shape), vectors

    def _mask(self, of: Tensor, at: Tensor) -> Tensor | None:
        """What hides keys from some rows, a mask for each of them."""
        z, mask, keys = self.logits, self.logits.mask, self.logits.shape[3]
        if isinstance(mask, BlockMask):
            function, several = mask.mask_mod, int(mask.shape[0] > 1)
            mask = create_mask(
                lambda b, h, _, j: function(several * of[b], h, at[b], j),
                *(len(of), mask.shape[1], 1, keys),
                device=self._device,
            )
        elif mask is not None:
            mask = mask[of * int(len(mask) > 1), :, at * int(z.by_rows)][:, :, None, :keys]
        if not z.causal:
            return mask
        past = torch.arange(keys, device=self._device) <= at[:, None, None, None]
        if mask is None or mask.dtype == torch.bool:
            return past if mask is None else past & mask
        return mask.masked_fill(~past, -torch.inf)

    @property
    def _device(self) -> torch.device:
        return self.logits.query.device


def _with_bias(logits: Logits, bias: Tensor) -> Tensor:
    """A bias and whatever mask there is, as one that is added."""
    added, mask = promote(bias), logits.mask
    if isinstance(mask, Tensor) and mask.dtype != torch.bool:
        added = added + promote(mask[..., : bias.shape[-1]])
    visible = logits.visible(0, logits.shape[2])
    return added if visible is None else added.masked_fill(~visible, -torch.inf)


@contextmanager
def apart() -> Iterator[None]:
    """Outside autograd, and out of the sight of modes that are in force around the training."""
    with torch.no_grad(), _disable_current_modes():
        yield


def measured(call: Call) -> dict[str, PerRow]:
    """The measures of a call by name, each a number for every row."""
    found = call.statistics(listed=[0])
    several = {name: getattr(found, name) for name in MEANS if hasattr(found, name)}
    alive, many = found.length > 0, found.length.clamp(min=2)
    share = torch.where(found.length > 1, found.entropy / many.log(), torch.nan)
    several |= {"entropy_share": share, "sink_weight": found.listed[..., 0]}
    several |= {"max_logit": _tops(found), "entropy_min": -found.entropy}
    if call.output is not None:
        output = torch.linalg.vector_norm(promote(call.output), dim=-1).transpose(1, 2)
        several["output_norm"] = torch.where(alive, output, torch.nan)
    if (padding := call.padding) is not None:
        several = {name: each.masked_fill(padding, torch.nan) for name, each in several.items()}
    return several


def largest_logits(call: Call) -> PerRow:
    """Of every row that is not padding."""
    top = _tops(call.statistics(("max_logit",)))
    return top if call.padding is None else top.masked_fill(call.padding, torch.nan)


def _tops(found: Statistics) -> PerRow:
    """A head that computes no number any more has no largest logit either, and must not pass."""
    top = found.max_logit.nan_to_num(nan=torch.inf)
    return torch.where(found.length > 0, top, torch.nan)


def drawn(call: Call, rows: int, generator: torch.Generator) -> tuple[Tensor, ...] | None:
    """A few rows, the same ones in all heads, as `Call.rows` gives them; rows of padding are drawn
    and left out. None: there are none."""
    batch, _, queries, _ = call.logits.shape
    # Earlier rows of a causal head see too few keys for N_s/N.
    first = min(TOP_N, queries - 1) if call.logits.causal or call.logits.by_rows else 0
    of = torch.randint(batch, (rows,), generator=generator)
    at = torch.randint(first, queries, (rows,), generator=generator)
    if (padding := call.padding) is not None:
        hidden = padding.expand(batch, 1, queries).cpu()[of, 0, at]
        of, at = of[~hidden], at[~hidden]
    if call.value is None or not len(of):
        return None
    return call.rows(of.to(call.value.device), at.to(call.value.device))


def closely(several: Sequence[tuple[Tensor, ...]]) -> list[dict[str, PerRow]]:
    """The measures of drawn rows, of each call's. Calls whose rows are alike are measured at once:
    each of many small steps waits for Python."""
    found: list[dict[str, PerRow]] = [{}] * len(several)
    alike: dict[tuple[torch.Size, ...], list[int]] = {}
    for place, each in enumerate(several):
        alike.setdefault(tuple(part.shape for part in each), []).append(place)
    for places in alike.values():
        parts = zip(*(several[place] for place in places), strict=True)
        weights, visible, vectors = map(torch.stack, parts)
        made = sampled_rows(weights, visible, vectors, TOP_N)._asdict()
        for at, place in enumerate(places):
            found[place] = {name: each[at].T[None] for name, each in made.items()}
    return found


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value
