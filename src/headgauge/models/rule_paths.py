"""Attention under other rules than the model's own, on the fastest way that is exact.

- A rule that is softmax(c·z) (`factor_on_logits`): the model's own function on c·q, or with a
  scaling of its own where c is one number. The mask is never scaled.
- A rule that is exp(z)/(e^S + Σ exp(z)) (`mass_of_sink`): softmax's output times
  σ(log Σ exp(z) − S), from a kernel that hands over both.
- Any other: blocks of query rows (`HeadRows`), logits, rule, product with the values.

The first two are exact only where the logits are q·kᵀ·scale: with a softcap, a bias or sinks of
the model's own, blocks of rows serve.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch.utils.checkpoint import checkpoint

from headgauge.models.attention_rows import Attention, HeadRows, attention_of
from headgauge.models.head_rules import Group, HeadRules
from headgauge.models.sink_kernel import with_sink
from headgauge.normalizers import Normalizer

_BLOCK_ENTRIES = 1 << 19  # logits of a block: a few of their kind fit into the caches
_LEAST_ROWS = 16


def attend(
    rules: HeadRules,
    implementation: str,
    original: Callable[..., Any],
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """What the model's function would return, had its heads these rules."""
    attention = Attention(**attention_of(implementation, module, args, kwargs))
    groups = rules.groups(attention.shape[1])
    dropout = float(kwargs.get("dropout") or 0.0)
    plain = attention.plain
    own, others, factors = False, [], []
    for group in groups:
        factor = 1.0 if group.rule is None else group.rule.factor_on_logits(attention.lengths)
        if not isinstance(factor, Tensor) and factor == 1:
            own = True  # the model's own softmax, whatever shapes its logits
        elif factor is not None and plain:
            factors.append((group, factor))
        else:
            others.append(group)
    if not own and not factors and len(others) == 1:
        made, rest = _made(attention, others[0], plain, dropout).contiguous(), [None]
    else:
        made, rest = None, [None]
        if own or factors:
            args, kwargs = _scaled(attention, factors, args, kwargs)
            made, *rest = original(module, *args, **kwargs)
        if others:
            batch, heads, queries, _ = attention.shape
            whole = (batch, queries, heads, attention.value.shape[-1])
            made = attention.query.new_zeros(whole) if made is None else made.clone()
            for group in others:
                made[:, :, list(group.heads)] = _made(attention, group, plain, dropout)
    if others:
        wanted = kwargs.get("output_attentions") or getattr(
            getattr(module, "config", None), "output_attentions", False
        )
        rest = [all_weights(attention, groups) if wanted and implementation == "eager" else None]
    return made, *rest


def _made(attention: Attention, group: Group, plain: bool, dropout: float) -> Tensor:
    """What the heads of a group put out, (batch, queries, heads, dim)."""
    assert group.rule is not None
    sink = group.rule.mass_of_sink()
    if sink is not None and plain and not dropout:
        made = with_sink(attention, sink, group.heads)
        if made is not None:
            return made
    return by_rows(attention, group.rule, group.heads, dropout)


def _scaled(
    attention: Attention,
    factors: list[tuple[Group, float | Tensor]],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with other queries, or with another scaling; as they were where all is 1."""
    if not factors:
        return args, kwargs
    heads = attention.shape[1]
    (group, only), *more = factors
    if not more and len(group.heads) == heads and not isinstance(only, Tensor):
        return args, kwargs | {"scaling": attention.scaling * only}
    query = attention.query
    wide = torch.promote_types(query.dtype, torch.float32)
    if not more and len(group.heads) == heads:
        only = torch.as_tensor(only, dtype=wide, device=query.device).unsqueeze(-1)
        new = (query * only).to(query.dtype)
    else:
        new = query.clone()
        for group, c in factors:
            mine = list(group.heads)
            c = torch.as_tensor(c, dtype=wide, device=query.device)
            c = c.unsqueeze(-1) if c.ndim else c
            new[:, mine] = (query[:, mine] * c).to(query.dtype)
    if args:
        return (new, *args[1:]), kwargs
    return args, kwargs | {"query": new}


def by_rows(
    attention: Attention, rule: Normalizer | None, heads: tuple[int, ...], dropout: float = 0.0
) -> Tensor:
    """The output of some heads, (batch, queries, heads, dim), a block of rows at a time."""
    batch, queries = attention.shape[0], attention.shape[2]
    edges = _edges(attention, len(heads))

    def block(start: int, stop: int) -> Tensor:
        asked = HeadRows(attention, slice(None), heads, start, stop, rule)
        weights = asked.weights
        if dropout:
            weights = F.dropout(weights, dropout)
        return asked.sums(weights).transpose(1, 2).to(attention.query.dtype)

    if not _needs_grad(attention, rule):
        dim = attention.value.shape[-1]
        made = attention.query.new_empty(batch, queries, len(heads), dim)
        for start, stop in edges:
            made[:, start:stop] = block(start, stop)
        return made
    if len(edges) == 1:
        return block(*edges[0])
    # What autograd would keep of all blocks together is what blocks are there to avoid.
    several = [checkpoint(block, *each, use_reentrant=False) for each in edges]
    return torch.cat(several, dim=1)


def all_weights(attention: Attention, groups: tuple[Group, ...]) -> Tensor:
    """The weights of all heads at once, for whoever asks transformers for them."""
    made = attention.query.new_zeros(attention.shape)
    for group in groups:
        for start, stop in _edges(attention, len(group.heads)):
            rows = HeadRows(attention, slice(None), group.heads, start, stop, group.rule)
            weights = rows.weights.to(made.dtype)
            made[:, list(group.heads), start:stop, : rows.reach] = weights
    return made


def _edges(attention: Attention, heads: int) -> list[tuple[int, int]]:
    """Where the blocks of rows begin and end."""
    batch, _, queries, keys = attention.shape
    rows = max(_LEAST_ROWS, _BLOCK_ENTRIES // max(1, batch * heads * keys))
    return [(start, min(start + rows, queries)) for start in range(0, queries, rows)]


def _needs_grad(attention: Attention, rule: Normalizer | None) -> bool:
    given = (attention.query, attention.key, attention.value, attention.bias, attention.sinks)
    several = (*given, *(() if rule is None else vars(rule).values()))
    needs = any(isinstance(each, Tensor) and each.requires_grad for each in several)
    return needs and torch.is_grad_enabled()
