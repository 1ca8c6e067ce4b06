"""Algorithm 3's test: when do two samples of n heads each pass for one distribution?

The two-sample statistic is D = k/n, with k the largest excess of one sample's count over the
other's. If all 2n values are independent with one continuous distribution, Gnedenko and Korolyuk's
reflection gives exactly

    P(D ≥ k/n) = 2 Σ_{j≥1} (−1)^{j−1} C(2n, n − jk)/C(2n, n)                    (`p_value`).

What follows from passing: the distance of the two distributions of per-head means is not known to
exceed about `detectable`, nothing more. It does not follow that they are equal (more heads may tell
them apart), that a head's own two means agree, or that weights are uniform; and the formula assumes
independent samples, where the paper's are two numbers for each of the same heads.
"""

import math

from headgauge.theory.checks import is_whole


def p_value(excess: int, heads: int) -> float:
    """P(D ≥ k/n) under independence and equality, for k = `excess` and n = `heads` per sample."""
    if not (is_whole(heads, 1) and is_whole(excess, 0, heads)):
        raise ValueError(f"needs whole numbers 0 <= excess <= heads, got {excess} and {heads}")
    if excess == 0:
        return 1.0
    total = sum(
        (-1) ** (j - 1) * math.comb(2 * heads, heads - j * excess)
        for j in range(1, heads // excess + 1)
    )
    return 2 * total / math.comb(2 * heads, heads)


def detectable(heads: int, level: float) -> float:
    """The smallest D = k/n that a test at this level rejects; NaN if it can reject nothing."""
    if p_value(heads, heads) > level:
        return math.nan
    # P falls as k grows, so halving finds the first that is small enough.
    kept, rejected = 0, heads
    while rejected - kept > 1:
        middle = (kept + rejected) // 2
        kept, rejected = (kept, middle) if p_value(middle, heads) <= level else (middle, rejected)
    return rejected / heads
