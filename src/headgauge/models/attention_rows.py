"""What turns q, k and v into attention, and rows of several heads of it at once.

`Attention` has q, k and v as the model computed them (after RoPE and QK-norm, KV heads not
repeated) and everything else that shapes the weights. `HeadRows` are some query rows of some of its
heads:

    raw     = q·kᵀ·scale                      before softcap and bias
    logits  = softcap·tanh(raw/softcap) + bias
    weights = softmax(logits over the visible keys [, sink])  without the sink's own column

or, where another rule is in force, that rule of the same logits; of a rule that reads cosines,
q̂·k̂ + bias with q̂ and k̂ of length one. The weights of a row with a sink sum to less than one, as in
the model. Everything is computed in float32 (float64 where the model is, or up to the weights of a
rule that is `wide`), only when it is asked for, and only for the first `reach` keys: under a causal
mask the first rows of a sequence need few columns.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from headgauge.logits import hides, over_groups, promote, promoted, through
from headgauge.models.call_masks import settled
from headgauge.normalizers import Normalizer
from headgauge.normalizers.rows import widened

_KEPT = 1 << 22  # bytes of masks that a call keeps on the CPU; elsewhere making one costs more
# The interface's order after the module; all else goes by name.
_POSITIONAL = ("query", "key", "value", "attention_mask")


@dataclass(frozen=True, eq=False)
class Attention:
    """q, k, v and all that turns them into weights.

    `mask` is boolean (True = may be seen) or additive, its leading axes possibly 1; where it is
    None, `causal` says whether row i sees the keys up to i or all of them. `sinks` holds one
    extra logit per head (gpt-oss), `bias` what is added to the logits (T5).
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

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(batch, heads, queries, keys)."""
        batch, heads, queries, _ = self.query.shape
        return batch, heads, queries, self.key.shape[2]

    @property
    def plain(self) -> bool:
        """Whether the logits are q·kᵀ·scale and nothing else takes part, but a mask."""
        bare = self.softcap is None and self.sinks is None and self.bias is None
        return bare and (self.mask is None or hides(self.mask))

    @cached_property
    def causal_masks(self) -> dict[tuple[int, tuple[int, int]], Bool[Tensor, "1 1 rows reach"]]:
        """Those of the blocks that were read, which are the same in every head, where all of them
        are small: by their first row and their shape."""
        return {}

    @cached_property
    def lengths(self) -> Float[Tensor, "#batch #heads #queries"]:
        """n of every query: how many keys it sees, at least 1."""
        queries, keys = self.shape[2:]
        kind = promoted(self.query.dtype)
        if self.mask is not None:
            return through(self.mask[..., :keys]).sum(-1).clamp(min=1).to(kind)
        n = torch.full((1, 1, 1), keys, dtype=kind, device=self.query.device)
        if not self.causal:
            return n
        rows = torch.arange(1, queries + 1, dtype=kind, device=self.query.device)
        return rows.clamp(max=keys).view(1, 1, -1)


def attention_of(
    implementation: str, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The fields of an `Attention` from a call of transformers' interface."""
    given = dict(zip(_POSITIONAL, args, strict=False)) | kwargs
    return fields_of(settled(implementation, module, given))


def fields_of(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of an `Attention` by transformers' names, `causal` for what is settled."""
    query, scaling = given["query"], given.get("scaling")
    return {
        "query": query,
        "key": given["key"],
        "value": given["value"],
        "scaling": query.shape[-1] ** -0.5 if scaling is None else float(scaling),
        "mask": _four_axes(given.get("attention_mask")),
        "causal": bool(given.get("causal")),
        "softcap": given.get("softcap"),
        "sinks": given.get("s_aux"),
        "bias": _four_axes(given.get("position_bias")),
    }


@dataclass(frozen=True, eq=False)
class HeadRows:
    """Query rows `start` to `stop` of some heads, of one sequence of the batch or of all.

    Only those at `places`, which rise, where they are given. `rule` is what makes weights of their
    logits; None: the model's own softmax. Leading axes of what is the same for all sequences or
    heads may be 1.
    """

    attention: Attention
    batch: slice
    heads: tuple[int, ...]
    start: int
    stop: int
    rule: Normalizer | None = None
    places: Int[Tensor, "rows"] | None = None

    @cached_property
    def reach(self) -> int:
        """How many leading keys the rows need: none sees any behind them. At least 1."""
        attention, keys = self.attention, self.attention.shape[3]
        if attention.mask is None:
            return min(self.stop, keys) if attention.causal else keys
        columns = self._through_mask.flatten(0, -2).any(0).nonzero()
        return int(columns[-1]) + 1 if len(columns) else 1

    @cached_property
    def visible(self) -> Bool[Tensor, "#batch #heads #rows reach"]:
        """The keys each row may see."""
        attention = self.attention
        if attention.mask is not None:
            return self._through_mask[..., : self.reach]
        shape, device = (self.stop - self.start, self.reach), attention.key.device
        if self.places is not None and attention.causal:
            keys = torch.arange(self.reach, device=device)
            return (keys <= self._places[:, None])[None, None]
        if self.places is not None:
            shape = len(self.places), self.reach
        if not attention.causal:
            return torch.ones(1, 1, *shape, dtype=torch.bool, device=device)
        # Row i sees the keys up to i also where there are more keys than queries, as in sdpa.
        made = attention.causal_masks.get((self.start, shape))
        if made is None:
            made = torch.ones(1, 1, *shape, dtype=torch.bool, device=device).tril_(self.start)
            kept = _KEPT if device.type == "cpu" else 16 * _KEPT
            if math.prod(attention.shape[2:]) <= kept:
                attention.causal_masks[self.start, shape] = made
        return made

    @cached_property
    def raw(self) -> Float[Tensor, "batch heads rows reach"]:
        """q·kᵀ·scale."""
        return self._products(self._query, self._key).mul_(self.attention.scaling)

    @cached_property
    def logits(self) -> Float[Tensor, "batch heads rows reach"]:
        """What enters the softmax, or the rule; entries under the mask mean nothing."""
        attention = self.attention
        if self._rule is not None and self._rule.cosines:
            unit = (F.normalize(each, dim=-1) for each in (self._query, self._key))
            logits = self._products(*unit)
        else:
            logits = self.raw
            if attention.softcap is not None:
                logits = torch.tanh(logits / attention.softcap) * attention.softcap
        if attention.bias is not None:
            logits = logits + self._part(attention.bias)
        if attention.mask is not None and attention.mask.dtype != torch.bool:
            # What an additive mask leaves at visible keys is a bias like any other (ALiBi).
            logits = logits + torch.where(self.visible, self._part(attention.mask), 0.0)
        return logits

    @cached_property
    def weights(self) -> Float[Tensor, "batch heads rows reach"]:
        """The attention weights; zero at invisible keys and on dead rows."""
        if self._rule is not None:
            sink = None if self._rule.is_sink else self._sink
            # A token that is generated sees all there is: without a mask its rows cost less.
            everything = self.attention.mask is None and not self.attention.causal
            weights = self._rule(self.logits, None if everything else self.visible, sink=sink)
            return weights.to(promoted(self.attention.query.dtype))
        scores = torch.where(self.visible, self.logits, -math.inf)
        if self._sink is not None:
            sink = self._sink.unsqueeze(-1).expand(*scores.shape[:-1], 1)
            return torch.softmax(torch.cat([scores, sink], dim=-1), dim=-1)[..., :-1]
        weights = torch.softmax(scores, dim=-1)
        # A row that sees nothing is NaN by now. Without a mask there is none.
        if self.attention.mask is None:
            return weights
        return weights.masked_fill(~self.visible.any(-1, keepdim=True), 0.0)

    def sums(self, weights: Tensor) -> Float[Tensor, "batch heads rows value_dim"]:
        """Σ weights·v, in the precision of the weights."""
        value = self._of_kv_heads(self.attention.value)
        return over_groups(weights, promote(value[:, :, : self.reach]))

    @cached_property
    def _rule(self) -> Normalizer | None:
        size = self.attention.query.shape[-1]
        return None if self.rule is None else self.rule.in_heads_of(size)

    @property
    def _query(self) -> Tensor:
        rows = self.attention.query[self.batch, _among(self.heads)]
        return self._in_rules_type(rows[:, :, self._picked])

    @property
    def _key(self) -> Tensor:
        return self._in_rules_type(self._of_kv_heads(self.attention.key)[:, :, : self.reach])

    def _in_rules_type(self, tensor: Tensor) -> Tensor:
        wide = self._rule is not None and self._rule.wide
        return widened(tensor) if wide else promote(tensor)

    @property
    def _sink(self) -> Float[Tensor, "heads 1"] | None:
        """The logit of each head's own sink."""
        sinks = self.attention.sinks
        return None if sinks is None else promote(sinks)[list(self.heads)].unsqueeze(-1)

    def _products(self, query: Tensor, key: Tensor) -> Tensor:
        return over_groups(query, key.mT)

    @cached_property
    def _through_mask(self) -> Bool[Tensor, "#batch #heads #rows keys"]:
        assert self.attention.mask is not None
        return through(self._rows_of(self.attention.mask)[..., : self.attention.shape[3]])

    def _part(self, tensor: Tensor) -> Tensor:
        return promote(self._rows_of(tensor)[..., : self.reach])

    def _rows_of(self, tensor: Tensor) -> Tensor:
        """These rows of a tensor whose leading axes may be 1."""
        tensor = tensor[self.batch] if len(tensor) > 1 else tensor
        if 1 < tensor.shape[1] != len(self.heads):
            tensor = tensor[:, _among(self.heads)]
        return tensor[:, :, self._picked] if tensor.shape[2] > 1 else tensor

    @property
    def _picked(self) -> slice | Tensor:
        return slice(self.start, self.stop) if self.places is None else self._places

    @cached_property
    def _places(self) -> Int[Tensor, "rows"]:
        """On the device, once for all that they pick."""
        assert self.places is not None
        return self.places.to(self.attention.query.device)

    def _of_kv_heads(self, tensor: Tensor) -> Tensor:
        """Those that all heads read, or that of each head."""
        heads, kv_heads = self.attention.query.shape[1], tensor.shape[1]
        if len(self.heads) == heads:
            return tensor[self.batch]
        return tensor[self.batch, _among([head // (heads // kv_heads) for head in self.heads])]


def _among(heads: Sequence[int]) -> slice | list[int]:
    """Which of an axis of heads; a slice, which copies nothing, where they stand side by side."""
    first, last = heads[0], heads[0] + len(heads)
    return slice(first, last) if [*heads] == [*range(first, last)] else [*heads]


def _four_axes(tensor: Any) -> Any:
    """None and flex attention's masks are left as they are."""
    while isinstance(tensor, Tensor) and tensor.ndim < 4:
        tensor = tensor.unsqueeze(0)
    return tensor
