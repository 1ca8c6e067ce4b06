import itertools
import math

import pytest
from scipy import stats

from headgauge.theory.normalization import kolmogorov_smirnov


@pytest.mark.parametrize("heads", [1, 3, 5])
def test_the_p_value_counts_all_orders(heads):
    """Every order of 2n values is equally likely; k is how far the walk of the two counts gets."""
    reached = []
    for first in itertools.combinations(range(2 * heads), heads):
        walk, height = 0, 0
        for place in range(2 * heads):
            height += 1 if place in first else -1
            walk = max(walk, abs(height))
        reached.append(walk)
    for excess in range(heads + 1):
        share = sum(k >= excess for k in reached) / len(reached)
        assert kolmogorov_smirnov.p_value(excess, heads) == pytest.approx(share)


@pytest.mark.parametrize("heads", [12, 144])
def test_the_p_value_is_scipy_s(heads):
    places = [k / heads for k in range(heads)]
    for excess in (1, heads // 6, heads // 3):
        moved = [place + (excess - 0.5) / heads for place in places]
        oracle = stats.kstest(places, moved, method="exact")
        assert oracle[0] == pytest.approx(excess / heads)
        assert kolmogorov_smirnov.p_value(excess, heads) == pytest.approx(float(oracle[1]))


@pytest.mark.parametrize(("heads", "level"), [(5, 0.01), (144, 0.01), (144, 0.05), (30, 1.0)])
def test_the_detectable_distance_is_the_first_that_is_rejected(heads, level):
    excess = round(kolmogorov_smirnov.detectable(heads, level) * heads)
    assert kolmogorov_smirnov.p_value(excess, heads) <= level
    assert excess == 1 or kolmogorov_smirnov.p_value(excess - 1, heads) > level


def test_few_heads_can_reject_nothing():
    assert math.isnan(kolmogorov_smirnov.detectable(4, 0.01))


def test_an_excess_beyond_the_heads_is_refused():
    with pytest.raises(ValueError, match="excess <= heads, got 5 and 4"):
        kolmogorov_smirnov.p_value(5, 4)
