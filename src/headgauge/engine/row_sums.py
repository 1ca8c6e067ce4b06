"""The sums over a row's keys that its statistics are made of: from a kernel, or from the rows."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.log_sum_exp import Asked, log_sum_exps, mean_is_exact
from headgauge.logits import Logits
from headgauge.theory.normalization.log_sum_exps import largest_logit, mean_by_difference

STEP = 2.0**-6
"""h of the difference that is the mean of z where a kernel's output does not tell it: 2^-5 errs by
the curvature of l at logits of 30, 2^-7 by its rounding at 500."""
SHARP = 2.0**16
"""c of the largest logit: a power of two, so that nothing is rounded by it, and small enough for
CUDA's kernels, whose c·z is off by 2^-24 of its size in an exponent of 2."""
PerRow = Float[Tensor, "batch heads queries"]


class Wanted(NamedTuple):
    """Which of the sums are asked for."""

    one: bool = True
    mean: bool = True
    two: bool = True
    top: bool = True
    raw_top: bool = True


class Sums(NamedTuple):
    """Of every row's logits less `offset`; None: not asked for. Of a row without keys, anything."""

    offset: PerRow
    one: PerRow | None  # l(1)
    mean: PerRow | None  # l′(1) = Σ p·z with p = softmax(z)
    two: PerRow | None  # l(2)
    top: PerRow | None  # the largest z, from a kernel too high by at most log(n)/c
    raw_top: PerRow | None  # the largest q·k·scale, of which the offset is not taken off


def sums(logits: Logits, wanted: Wanted) -> Sums:
    """By a kernel of the device where there is one that is exact enough, else by rows."""
    # With a bias a kernel has the mean by a difference only: rows are as quick, and exact.
    made = None if logits.biased and wanted.mean else by_kernel(logits, wanted)
    return by_rows(logits, wanted) if made is None else made


def by_kernel(logits: Logits, wanted: Wanted, difference: bool = False) -> Sums | None:
    """None where no kernel serves; `difference`: the mean by one, also where it could be exact."""
    exact = mean_is_exact(logits) and not difference
    # Without a bias both largest logits are one.
    top = wanted.top or (wanted.raw_top and not logits.biased)
    asked: dict[str, Asked] = {}
    if wanted.one or wanted.mean:
        asked["one"] = Asked(mean=wanted.mean and exact)
    if wanted.mean and not exact:
        asked |= {"above": Asked(1 + STEP), "below": Asked(1 - STEP)}
    if wanted.two:
        asked["two"] = Asked(2.0)
    if top:
        asked["top"] = Asked(SHARP)
    if wanted.raw_top and logits.biased:
        asked["raw_top"] = Asked(SHARP, biased=False)
    found = log_sum_exps(logits, [*asked.values()])
    if found is None:
        return None
    told = dict(zip(asked, found, strict=True))
    made = {name: each.log_sum_exp for name, each in told.items()}
    mean = told["one"].mean if "one" in told else None
    if wanted.mean and not exact:
        mean = mean_by_difference(made["above"], made["below"], STEP)
    tops = {name: largest_logit(made[name], SHARP) for name in ("top", "raw_top") if name in made}
    raw_top = tops.get("raw_top", tops.get("top")) if wanted.raw_top else None
    nothing = found[0].log_sum_exp.new_zeros(1, 1, 1)
    return Sums(nothing, made.get("one"), mean, made.get("two"), tops.get("top"), raw_top)


def by_rows(logits: Logits, wanted: Wanted) -> Sums:
    """A block of rows at a time, in float32 or better; each row less its largest logit."""
    blocks = [_block(*logits.rows(start, stop), wanted) for start, stop in logits.edges()]
    offset, *several = zip(*blocks, strict=True)
    rest = (None if each[0] is None else torch.cat(each, dim=2) for each in several)
    return Sums(torch.cat(offset, dim=2), *rest)


def _block(z: Tensor, raw: Tensor, wanted: Wanted) -> Sums:
    top = z.amax(-1)
    raw_top = None if not wanted.raw_top else top if raw is z else raw.amax(-1)
    zero = torch.zeros_like(top) if wanted.top else None
    if not (wanted.one or wanted.mean or wanted.two):
        return Sums(top, None, None, None, zero, raw_top)
    below = z.sub_(top.unsqueeze(-1))
    weights = below.exp()
    total = weights.sum(-1)
    mean = torch.linalg.vecdot(weights, below) / total if wanted.mean else None
    two = torch.linalg.vecdot(weights, weights).log() if wanted.two else None
    return Sums(top, total.log(), mean, two, zero, raw_top)
