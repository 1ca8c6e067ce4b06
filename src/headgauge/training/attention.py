"""One attention call of a training as the monitor sees it, and what is measured in it.

Every row of the call is measured from log-sum-exps (`headgauge.stats`), a few rows from their
weights. Nothing here is differentiated, draws from torch's own random numbers or is seen by modes
that are in force around the training, such as one that decides what a checkpoint keeps.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from headgauge.engine import Statistics, stats
from headgauge.engine.sampled_rows import sampled_rows
from headgauge.logits import over_groups, promote, through

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
    """q, k and all that makes weights of them; v and the output where they are known."""

    query: Float[Tensor, "batch heads queries dim"]
    key: Float[Tensor, "batch kv_heads keys dim"]
    value: Float[Tensor, "batch kv_heads keys value_dim"] | None
    scaling: float
    mask: Shaped[Tensor, "#batch #heads #queries keys"] | None
    causal: bool
    softcap: float | None
    sinks: Float[Tensor, "heads"] | None
    output: Float[Tensor, "batch queries heads value_dim"] | None

    @staticmethod
    def of(fields: dict[str, Any], output: Tensor | None) -> "Call":
        """From the fields of a model's `Attention`, which may have a bias beside the mask."""
        given = {name: _detached(value) for name, value in fields.items()}
        keys, bias, mask = given["key"].shape[2], given.pop("bias", None), given.pop("mask")
        mask = None if mask is None else mask[..., :keys]
        if bias is not None:
            bias = promote(bias[..., :keys])
            hidden = None if mask is None else ~through(mask)
            added = bias if mask is None or mask.dtype == torch.bool else bias + mask
            mask = added if hidden is None else added.masked_fill(hidden, -torch.inf)
        return Call(**given, mask=mask, output=_detached(output))

    @property
    def padding(self) -> Bool[Tensor, "batch 1 queries"] | None:
        """The rows of padding: a token that may not see itself. None: not to be told."""
        queries, keys = self.query.shape[2], self.key.shape[2]
        if self.mask is None or queries != keys or queries == 1:
            return None
        mask = self.mask[:, :1]
        own = mask.diagonal(dim1=-2, dim2=-1) if mask.shape[2] > 1 else mask[:, :, 0]
        return ~through(own).expand(len(self.query), 1, queries)

    def statistics(self, want: tuple[str, ...] | None = None, **more: Any) -> Statistics:
        """Those of `headgauge.stats`, for every row."""
        return stats(
            self.query, self.key, scaling=self.scaling, mask=self.mask, causal=self.causal,
            softcap=self.softcap, sinks=self.sinks, want=want, **more,
        )  # fmt: skip

    def rows(self, batch: Int[Tensor, "rows"], at: Int[Tensor, "rows"]) -> tuple[Tensor, Tensor]:
        """The weights of some rows and the keys they see, both (rows, heads or 1, keys)."""
        key, keys = self.key[batch], self.key.shape[2]
        z = over_groups(promote(self.query[batch, :, at].unsqueeze(2)), promote(key).mT)
        z = z.squeeze(2).mul_(self.scaling)
        if self.softcap is not None:
            z = torch.tanh(z / self.softcap) * self.softcap
        visible = torch.ones(len(at), 1, keys, dtype=torch.bool, device=z.device)
        if self.causal:
            visible &= (torch.arange(keys, device=z.device) <= at[:, None])[:, None]
        if self.mask is not None:
            mask = self.mask[batch if len(self.mask) > 1 else torch.zeros_like(batch)]
            of_rows = at if mask.shape[2] > 1 else torch.zeros_like(at)
            mask = mask[torch.arange(len(at), device=at.device), :, of_rows]
            visible = visible & through(mask)
            if mask.dtype != torch.bool:
                z = z + torch.where(visible, promote(mask), 0.0)
        z = torch.where(visible, z, -torch.inf)
        if self.sinks is not None:
            z = torch.cat([z, promote(self.sinks)[None, :, None].expand(*z.shape[:2], 1)], dim=-1)
        return torch.softmax(z, dim=-1)[..., :keys].nan_to_num(0.0), visible


@contextmanager
def apart() -> Iterator[None]:
    """Outside autograd, and out of the sight of modes that are in force around the training."""
    with torch.no_grad(), _disable_current_modes():
        yield


def measured(call: Call, rows: int, generator: torch.Generator) -> dict[str, PerRow]:
    """The measures of a call by name, each a number for every row or for every sampled one."""
    found = call.statistics(listed=[0])
    several = {name: getattr(found, name) for name in MEANS if hasattr(found, name)}
    many = found.length.clamp(min=2)
    share = torch.where(found.length > 1, found.entropy / many.log(), torch.nan)
    several |= {"entropy_share": share, "sink_weight": found.listed[..., 0]}
    alive = found.length > 0
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
    """Of a few rows, the same ones in all heads; those of padding and of few keys drop out."""
    batch, queries, device = len(call.query), call.query.shape[2], call.query.device
    if rows == 0 or call.value is None:
        return {}
    first = min(TOP_N, queries - 1) if call.causal or call.mask is not None else 0
    of = torch.randint(batch, (rows,), generator=generator).to(device)
    at = torch.randint(first, queries, (rows,), generator=generator).to(device)
    weights, visible = call.rows(of, at)
    groups = weights.shape[1] // call.value.shape[1]
    vectors = call.value[of].repeat_interleave(groups, dim=1)
    found = sampled_rows(weights, visible, vectors, TOP_N)._asdict()
    if (padding := call.padding) is not None:
        hidden = padding[of, :, at]
        found = {name: each.masked_fill(hidden, torch.nan) for name, each in found.items()}
    return {name: each.T[None] for name, each in found.items()}


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value
