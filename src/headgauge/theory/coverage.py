"""Discussion: how many heads cover the top-N tokens that one head cannot.

1 − (1 − p)^H for separability p and H heads. The arithmetic holds if the heads are independent
and share one top-N set; neither is given in a trained model.
"""

import math


def multi_head_coverage(separability: float, heads: int) -> float:
    """1 − (1 − p)^H.

    >>> round(multi_head_coverage(0.8, 3), 3)
    0.992
    """
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
