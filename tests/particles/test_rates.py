import math

import pytest
import torch

from headgauge.particles import rates, schemes
from particles.reference import ALL


def table_velocity(name: str, n: int, beta: float, r0: float) -> float:
    """The paper's column, written out once more."""
    alone = 2 / (math.exp(beta) + n - 1)
    divided = 2 / math.sqrt(math.exp(2 * beta) + n - 1)
    return {
        "post_ln": alone,
        "mix_ln": alone,
        "ln_scaling": alone,
        "pre_ln": alone / r0,
        "ln_scaling_pre": alone / r0,
        "peri_ln": divided / r0,
        "ngpt": 0.6 * divided,
    }[name]


TABLE_RATE = {
    "post_ln": -2.0,
    "pre_ln": -2.0,
    "mix_ln": -2.0,
    "peri_ln": -2.0,
    "ngpt": -2.0,
    "ln_scaling": -4.0,
    "ln_scaling_pre": -1.0,
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("n", "beta", "r0"), [(10, 1.7, 1.3), (3, 6.0, 0.5)])
def test_measured_initial_velocities_are_the_tables(n, beta, r0):
    for scheme in ALL:
        expected = table_velocity(scheme.name, n, beta, r0)
        measured = rates.initial_velocity(scheme, n, beta, r0)
        assert measured == pytest.approx((expected, expected), rel=1e-6), scheme.name


@pytest.mark.usefixtures("unchecked")
def test_measured_final_rates_are_the_tables():
    """Of one of each kind; claims D3 and D8 measure the others."""
    assert {scheme.name: scheme.final_rate for scheme in ALL} == TABLE_RATE
    kinds = [scheme for scheme in ALL if scheme.name in ("mix_ln", "ngpt", "ln_scaling_pre")]
    for scheme, measured in zip(kinds, rates.final_rates(kinds, 8, 1.5), strict=True):
        # The published LN-Scaling comes to its law like 1/√t only.
        expected = [TABLE_RATE[scheme.name]] * 2
        assert measured == pytest.approx(expected, rel=5e-3), scheme.name


@pytest.mark.usefixtures("unchecked")
def test_a_swarm_that_has_not_set_off_has_no_final_rate():
    assert rates.final_rates([schemes.get("pre_ln")], 4, 25.0) == [(None, None)]
    assert rates.final_rates([schemes.get("mix_ln", switch=1e7)], 8, 2.0) == [(None, None)]


def test_extrapolation_removes_three_orders():
    times = 0.1 * 2.0 ** torch.arange(-3, 1, dtype=torch.float64)
    cubic = 5 * times + 3 * times**2 - 7 * times**3 + 2 * times**4
    assert rates._slope_at_zero(times, cubic) == pytest.approx(5.0, abs=1e-12)
    assert rates._slope_at_zero(times, cubic + times**5) != pytest.approx(5.0, abs=1e-9)
