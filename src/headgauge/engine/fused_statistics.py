"""How concentrated every attention row is, from log-sum-exps that fused kernels hand over.

>>> import torch
>>> found = stats(torch.zeros(1, 2, 3, 8), torch.randn(1, 1, 3, 8), causal=True)
>>> found.entropy[0, 0].exp()
tensor([1.0000, 2.0000, 3.0000])

No matrix of queries × keys is ever made, and nothing is differentiated. Formulas and their errors
are those of `theory.normalization.log_sum_exps`, kernels those of `log_sum_exp`.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from headgauge import log_sum_exp
from headgauge.logits import Logits, over_groups, promote, through
from headgauge.theory.normalization import log_sum_exps

_BRACKET = ("largest_weight", "jacobian_lower", "jacobian_upper")
STATISTICS = ("entropy", "collision_entropy", "max_logit", *_BRACKET)
PerRow = Float[Tensor, "batch heads queries"]


class Statistics:
    """A number for every row; NaN where a row sees no key. What was not wanted is no attribute."""

    length: Int[Tensor, "batch heads queries"]
    """n: how many keys the row sees."""
    entropy: PerRow
    """−Σ α log α in nats."""
    collision_entropy: PerRow
    """−log Σ α² in nats."""
    max_logit: PerRow
    """The largest q·k·scale of a visible key, before softcap and bias."""
    largest_weight: PerRow
    """p₁."""
    jacobian_lower: PerRow
    """p₁(1 − p₁) ≤ ‖diag(α) − ααᵀ‖₂."""
    jacobian_upper: PerRow
    """min(p₁, 2p₁(1 − p₁)) ≥ ‖diag(α) − ααᵀ‖₂."""
    listed: Float[Tensor, "batch heads queries listed"]
    """The weights of the listed keys, 0 where a row does not see them."""

    def __init__(self, **found: Tensor) -> None:
        vars(self).update(found)

    def __getattr__(self, name: str) -> Any:
        if name in Statistics.__annotations__:
            raise AttributeError(f"{name} was not asked for; there are {', '.join(vars(self))}")
        raise AttributeError(f"Statistics has no {name!r}")

    def __repr__(self) -> str:
        shape = tuple(self.length.shape)
        return f"Statistics({', '.join(vars(self))} of {shape} (batch, heads, queries))"


@torch.no_grad()
def stats(
    query: Float[Tensor, "batch heads queries dim"],
    key: Float[Tensor, "batch kv_heads keys dim"],
    *,
    scaling: float | None = None,
    mask: Shaped[Tensor, "#batch #heads #queries keys"] | None = None,
    causal: bool = False,
    softcap: float | None = None,
    sinks: Float[Tensor, "heads"] | None = None,
    listed: Sequence[int] | Int[Tensor, "*batch listed"] | None = None,
    want: Sequence[str] | None = None,
) -> Statistics:
    """Statistics of softmax(q·kᵀ·scaling) for every row, from log-sum-exps alone."""
    wanted = STATISTICS if want is None else tuple(want)
    scaling = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    logits = Logits(query.detach(), key.detach(), scaling, mask, causal, softcap)
    with torch.autocast(query.device.type, enabled=False):
        found = _told(logits, sinks, listed, wanted)
        dead = logits.lengths == 0
        if logits.mask is not None:
            found = {
                name: each.masked_fill_(dead if each.ndim == 3 else dead[..., None], torch.nan)
                for name, each in found.items()
            }
        return Statistics(length=logits.lengths, **found)


def _told(
    logits: Logits, sinks: Tensor | None, listed: Any, want: tuple[str, ...]
) -> dict[str, Tensor]:
    top = any(name in want for name in _BRACKET)
    entropy, collision = "entropy" in want, "collision_entropy" in want
    one = top or entropy or collision or listed is not None
    wanted = log_sum_exp.Wanted(one, entropy, collision, top, "max_logit" in want)
    sums = log_sum_exp.sums(logits, wanted)
    found: dict[str, Tensor] = {}
    if sums.raw_top is not None:
        found["max_logit"] = sums.raw_top.clone()
    if sums.one is None:
        return found
    normalizer = sums.one
    if sinks is not None:
        normalizer = torch.logaddexp(sums.one, promote(sinks)[:, None] - sums.offset)
    if sums.mean is not None:
        found["entropy"] = log_sum_exps.entropy(sums.one, sums.mean, normalizer)
        if sinks is None:  # no more than n equal weights have
            found["entropy"] = found["entropy"].minimum(logits.lengths.clamp(min=1).log())
    if sums.two is not None:
        found["collision_entropy"] = log_sum_exps.collision_entropy(sums.two, normalizer)
    if sums.top is not None:
        largest = log_sum_exps.largest_weight(sums.top, normalizer)
        lower, upper = log_sum_exps.jacobian_bracket(largest)
        found |= zip(_BRACKET, (largest, lower, upper))
        found = {name: each for name, each in found.items() if name in want}
    if listed is not None:
        found["listed"] = _weights_of(logits, listed, normalizer + sums.offset)
    return found


def _weights_of(logits: Logits, listed: Any, normalizer: Tensor) -> Tensor:
    places = torch.as_tensor(listed, device=logits.query.device)
    keys = promote(logits.key[:, :, places])
    z = over_groups(promote(logits.query), keys.mT) * logits.scaling
    if logits.softcap is not None:
        z = torch.tanh(z / logits.softcap) * logits.softcap
    weights = torch.exp(z - normalizer[..., None])
    if logits.mask is not None:
        weights = weights * through(logits.mask[..., places])
    if logits.causal:
        weights = weights * (places <= torch.arange(logits.shape[2], device=places.device)[:, None])
    return weights
