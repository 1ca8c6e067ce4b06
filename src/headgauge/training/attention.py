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
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_mask
from torch.nn.functional import pad
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

    def row(self, batch: int, at: int) -> tuple[Tensor, Tensor, Tensor]:
        """One row in every head: its weights, which keys it sees, and their values. The keys are
        those of the whole call, so that rows of different reach can be put together."""
        own, mask, value = slice(batch, batch + 1), self.logits.mask, self.value
        of_sequence = mask[own] if isinstance(mask, Tensor) and len(mask) > 1 else mask
        z = Logits(
            self.logits.query[own],
            self.logits.key[own],
            self.logits.scaling,
            of_sequence if isinstance(mask, Tensor) else None,
            self.logits.causal,
            self.logits.softcap,
        )
        logits, seen = z.rows(at, at + 1).z[0, :, 0], z.visible(at, at + 1)
        reach = logits.shape[-1]
        if isinstance(mask, BlockMask):
            function, first = mask.mask_mod, batch if mask.shape[0] > 1 else 0
            size = 1, mask.shape[1], 1, reach
            seen = create_mask(
                lambda b, h, q, j: function(b + first, h, q + at, j), *size, device=self._device
            )
            logits = logits.masked_fill(~seen[0, :, 0], -torch.inf)
        visible = logits.new_ones(1, reach, dtype=torch.bool) if seen is None else seen[0, :, 0]
        if self.sinks is not None:
            logits = torch.cat([logits, promote(self.sinks)[:, None]], dim=-1)
        weights = torch.softmax(logits, dim=-1)[:, :reach]
        assert value is not None
        vectors = value[batch].repeat_interleave(len(weights) // value.shape[1], dim=0)
        beyond = 0, self.logits.shape[3] - reach
        visible = visible.expand(weights.shape)
        return pad(weights, beyond), pad(visible, beyond), vectors

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


def measured(call: Call, rows: int, generator: torch.Generator) -> dict[str, PerRow]:
    """The measures of a call by name, each a number for every row or for every sampled one."""
    found = call.statistics(listed=[0])
    several = {name: getattr(found, name) for name in MEANS if hasattr(found, name)}
    alive, many = found.length > 0, found.length.clamp(min=2)
    share = torch.where(found.length > 1, found.entropy / many.log(), torch.nan)
    several |= {"entropy_share": share, "sink_weight": found.listed[..., 0]}
    # A head that computes no number any more has no largest logit either, and must not pass.
    top = torch.where(alive, found.max_logit.nan_to_num(nan=torch.inf), torch.nan)
    several |= {"max_logit": top, "entropy_min": -found.entropy}
    if call.output is not None:
        output = torch.linalg.vector_norm(promote(call.output), dim=-1).transpose(1, 2)
        several["output_norm"] = torch.where(alive, output, torch.nan)
    if (padding := call.padding) is not None:
        several = {name: each.masked_fill(padding, torch.nan) for name, each in several.items()}
    return several | _sampled(call, rows, generator)


def _sampled(call: Call, rows: int, generator: torch.Generator) -> dict[str, PerRow]:
    """Of a few rows, the same ones in all heads; rows of padding are drawn and left out."""
    batch, _, queries, _ = call.logits.shape
    # Earlier rows of a causal head see too few keys for N_s/N.
    first = min(TOP_N, queries - 1) if call.logits.causal or call.logits.by_rows else 0
    of = torch.randint(batch, (rows,), generator=generator).tolist()
    at = torch.randint(first, queries, (rows,), generator=generator).tolist()
    drawn = list(zip(of, at, strict=True))
    if (padding := call.padding) is not None:
        hidden = padding.expand(batch, 1, queries)[of, 0, at].tolist()
        drawn = [each for each, left_out in zip(drawn, hidden, strict=True) if not left_out]
    if call.value is None or not drawn:
        return {}
    # All rows at once: the root of each is found by a few small steps, which wait for Python.
    each_row = (call.row(*each) for each in drawn)
    weights, visible, vectors = map(torch.stack, zip(*each_row, strict=True))
    found = sampled_rows(weights, visible, vectors, TOP_N)._asdict()
    return {name: each.T[None] for name, each in found.items()}


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value
