"""How concentrated every attention row is, from the log-sum-exps that fused kernels hand over.

>>> import torch
>>> found = stats(torch.zeros(1, 2, 3, 8), torch.randn(1, 1, 3, 8), causal=True)
>>> found.entropy[0, 0].exp()
tensor([1., 2., 3.])

No matrix of queries × keys is ever made, and nothing is differentiated. The formulas and their
errors are those of `theory.normalization.log_sum_exps`, the kernels those of `log_sum_exp`.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask

from headgauge.engine.attention_checks import check_attention, mask_for, places_of
from headgauge.engine.row_sums import PerRow, Sums, Wanted, sums
from headgauge.errors import InputError
from headgauge.logits import Logits, promote
from headgauge.theory.normalization import log_sum_exps

_BRACKET = ("largest_weight", "jacobian_lower", "jacobian_upper")
STATISTICS = ("entropy", "collision_entropy", "max_logit", *_BRACKET)


class Statistics:
    """A number for every row, NaN where it sees no key. What was not asked for is not there.

    With α the weights of the keys. Beside a sink, which is no key and in none of the sums here,
    they sum to less than one.
    """

    length: Int[Tensor, "batch heads queries"]
    """n: how many keys the row sees."""
    entropy: PerRow
    """−Σ α log α in nats."""
    collision_entropy: PerRow
    """−log Σ α² in nats (Rényi's of order 2)."""
    max_logit: PerRow
    """The largest q·k·scaling of a key that is seen, before softcap and bias."""
    largest_weight: PerRow
    """p₁, the largest α."""
    jacobian_lower: PerRow
    """p₁(1 − p₁), not above ‖diag(α) − ααᵀ‖₂."""
    jacobian_upper: PerRow
    """min(p₁, 2p₁(1 − p₁)), not below it."""
    listed: Float[Tensor, "batch heads queries listed"]
    """α of the listed keys, 0 where the row does not see them."""

    def __init__(self, **found: Tensor) -> None:
        vars(self).update(found)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no {name!r} was asked for; there are {', '.join(vars(self))}")

    def __repr__(self) -> str:
        return f"Statistics of {tuple(self.length.shape)} rows: {', '.join(vars(self))}"


@torch.no_grad()
def stats(
    query: Float[Tensor, "batch heads queries dim"],
    key: Float[Tensor, "batch kv_heads keys dim"],
    *,
    scaling: float | None = None,
    mask: Tensor | BlockMask | None = None,
    causal: bool = False,
    softcap: float | None = None,
    sinks: Float[Tensor, "heads"] | None = None,
    listed: Sequence[int] | Int[Tensor, "*batch listed"] | None = None,
    want: Sequence[str] = STATISTICS,
) -> Statistics:
    """Entropy, largest logit and more of softmax(q·kᵀ·scaling), for every row.

    `key` may have fewer heads than `query` (GQA), `scaling` is 1/√dim unless given. `causal`: row i
    sees the keys up to i, as in torch's sdpa. `mask` is boolean (True = may be seen), additive, or
    flex attention's; its axes are those of the logits, leading ones may be 1 or missing. Given
    both, a row sees what both let through. `softcap` and `sinks` (one logit per head) are as in
    Gemma 2 and gpt-oss. `listed` are keys whose weights are wanted, alike for all sequences or
    (batch, listed); −1 is the last. `want` names some of `STATISTICS`: fewer cost fewer calls of
    the kernel (entropy one, max_logit and what is made of p₁ one together, collision_entropy one).
    """
    if not isinstance(want, Iterable):
        raise InputError(f"want names some of {', '.join(STATISTICS)}, got {want!r}")
    want = (want,) if isinstance(want, str) else tuple(want)
    for name in want:
        if name not in STATISTICS:
            raise InputError(f"no statistic {name!r}; there are {', '.join(STATISTICS)}")
    check_attention(query, key, scaling, softcap, sinks)
    scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    mask = None if mask is None else mask_for(mask, query, key)
    places = None if listed is None else places_of(listed, query, key)
    logits = Logits(query.detach(), key.detach(), scale, mask, causal, softcap)
    # Half precision would make a matrix product of the listed keys, and of blocks of rows, useless.
    with torch.autocast(query.device.type, enabled=False):
        if 0 in logits.shape:
            return _nothing(logits, places, want)
        found = _told(logits, sinks, places, want)
        if mask is not None:
            dead = logits.lengths == 0
            for name, each in found.items():
                found[name] = each.masked_fill(
                    dead if each.ndim == 3 else dead[..., None], math.nan
                )
    return Statistics(length=logits.lengths, **found)


def _told(
    logits: Logits, sinks: Tensor | None, places: Tensor | None, want: tuple[str, ...]
) -> dict[str, Tensor]:
    top, raw_top = any(name in want for name in _BRACKET), "max_logit" in want
    entropy, collision = "entropy" in want, "collision_entropy" in want
    one = top or entropy or collision or places is not None
    if not (one or raw_top):
        return {}
    made = sums(logits, Wanted(one, entropy, collision, top, raw_top))
    found: dict[str, Tensor] = {}
    if made.one is not None:
        normalizer = made.one
        if sinks is not None:
            own = promote(sinks.detach())[:, None] - made.offset
            normalizer = log_sum_exps.with_sink(made.one, own)
        found = _of_weights(made, normalizer)
        if sinks is None:  # n weights that sum to one have no more
            most = logits.lengths.clamp(min=1).log()
            for name in found.keys() & {"entropy", "collision_entropy"}:
                found[name] = found[name].minimum(most)
        if places is not None:
            whole = (normalizer + made.offset).unsqueeze(-1)
            found["listed"] = torch.exp((logits.at(places) - whole).clamp(max=0))
    if made.raw_top is not None:
        found["max_logit"] = made.raw_top
    return {name: each for name, each in found.items() if name in (*want, "listed")}


def _of_weights(made: Sums, normalizer: Tensor) -> dict[str, Tensor]:
    """All that the weights tell, with L less the offset."""
    found: dict[str, Tensor] = {}
    if made.mean is not None:
        assert made.one is not None
        found["entropy"] = log_sum_exps.entropy(made.one, made.mean, normalizer)
    if made.two is not None:
        found["collision_entropy"] = log_sum_exps.collision_entropy(made.two, normalizer)
    if made.top is not None:
        largest = log_sum_exps.largest_weight(made.top, normalizer)
        bracket = log_sum_exps.jacobian_bracket(largest)
        found |= zip(_BRACKET, (largest, *bracket), strict=True)
    return found


def _nothing(logits: Logits, places: Tensor | None, want: tuple[str, ...]) -> Statistics:
    """Of no rows, or of rows without keys: kernels divide by zero there."""
    shape = logits.shape[:3]
    found = {name: promote(logits.query.new_full(shape, math.nan)) for name in want}
    if places is not None:
        found["listed"] = promote(logits.query.new_full((*shape, places.shape[1]), math.nan))
    length = torch.zeros(shape, dtype=torch.long, device=logits.query.device)
    return Statistics(length=length + logits.lengths if logits.shape[3] else length, **found)
