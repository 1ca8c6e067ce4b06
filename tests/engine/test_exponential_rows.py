import math

import numpy as np
import pytest

from headgauge.engine.exponential_rows import exp_of_minus, expm1


@pytest.mark.parametrize("scale", [1e-12, 1e-3, 0.3, 1.0, 30.0, 600.0])
def test_exponentials_are_right_to_the_last_bits(scale):
    drawn = np.random.default_rng(0).uniform(-1, 1, 300) * scale
    for x in (*drawn, scale, 0.5 * math.log(2), 1.5 * math.log(2)):
        assert expm1(x) == pytest.approx(math.expm1(x), rel=4e-16)
        assert exp_of_minus(abs(x)) == pytest.approx(math.exp(-abs(x)), rel=4e-16)


def test_exponentials_at_the_ends():
    assert expm1(-math.inf) == expm1(-60.0) == pytest.approx(-1.0, rel=4e-16)
    assert math.isfinite(expm1(1e6))
    assert exp_of_minus(700.0) == exp_of_minus(math.inf) == 0.0
    assert expm1(0.0) == 0.0
    assert exp_of_minus(0.0) == 1.0


@pytest.mark.parametrize("function", [expm1, exp_of_minus])
def test_a_nan_stays_one(function):
    assert math.isnan(function(math.nan))
