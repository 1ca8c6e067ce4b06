"""Discussion: how many heads cover the top-N tokens that one head cannot.

1 − (1 − p)^H for separability p and H heads. The arithmetic holds if the heads are independent
and share one top-N set; neither is given in a trained model. Both can be looked at: ask all heads
of a layer for one set of tokens, and compare what H of them cover together (`shared_coverage`) with
what they would cover if each missed its tokens independently (`independent_coverage`).
"""

import math

import torch
from jaxtyping import Bool
from torch import Tensor

from headgauge.theory.checks import PerRow, check_keys, check_whole, is_whole


def multi_head_coverage(separability: float, heads: int) -> float:
    """1 − (1 − p)^H.

    >>> round(multi_head_coverage(0.8, 3), 3)
    0.992
    """
    check_whole("heads", heads, 0)
    return 1 - (1 - separability) ** heads


def heads_needed(separability: float, coverage: float) -> int:
    """The smallest H with 1 − (1 − p)^H ≥ coverage.

    >>> heads_needed(0.8, 0.99), heads_needed(0.7, 0.99)
    (3, 4)
    """
    if not (0 < separability <= 1 and 0 <= coverage < 1):
        raise ValueError(
            f"needs 0 < separability <= 1 and 0 <= coverage < 1, got {separability}, {coverage}"
        )
    if separability == 1:
        return 1
    heads = max(1, math.ceil(math.log1p(-coverage) / math.log1p(-separability)))
    # The logarithms may land a rounding error to either side of a whole number.
    while heads > 1 and multi_head_coverage(separability, heads - 1) >= coverage:
        heads -= 1
    return heads


def shared_coverage(separable: Bool[Tensor, "*rows heads keys"], heads: int) -> PerRow:
    """The share of a common set of keys that at least one of H heads separates, over all sets of H
    out of M heads: 1 − C(M − c_i, H)/C(M, H), with c_i heads that separate key i.

    >>> shared_coverage(torch.tensor([[True, False], [True, True]]), 1).item()
    0.75
    """
    there = _heads_there(separable, heads)
    counts = separable.sum(-2)
    missed = torch.tensor(
        [math.comb(there - count, heads) / math.comb(there, heads) for count in range(there + 1)],
        dtype=torch.float64,
        device=separable.device,
    )
    return 1 - missed[counts].mean(-1)


def independent_coverage(separable: Bool[Tensor, "*rows heads keys"], heads: int) -> PerRow:
    """What the same heads would cover if they were independent: 1 − Π(1 − p_h), over all sets of H.

    The mean of the products is e_H(1 − p)/C(M, H), with the elementary symmetric polynomial.
    """
    there = _heads_there(separable, heads)
    missed = 1 - separable.double().mean(-1)
    sums = [torch.ones_like(missed[..., 0])]
    sums += [torch.zeros_like(missed[..., 0]) for _ in range(heads)]
    for each in missed.unbind(-1):
        for size in range(heads, 0, -1):
            sums[size] = sums[size] + sums[size - 1] * each
    return 1 - sums[heads] / math.comb(there, heads)


def _heads_there(separable: Tensor, heads: int) -> int:
    check_keys(separable)
    there = separable.shape[-2]
    if not is_whole(heads, 1, there):
        raise ValueError(f"heads must be whole: needs 1 <= heads <= {there}, got {heads}")
    return there
