import math

import numpy as np
import pytest
import torch

from headgauge.particles import equiangular, schemes
from headgauge.theory.dynamics import clocks
from particles import reference


def test_peri_over_pre_and_what_is_said_of_it():
    assert clocks.peri_over_pre(4, 1.0) == pytest.approx((math.e + 3) / math.sqrt(math.e**2 + 3))
    assert clocks.peri_over_pre(9, 0.0) == pytest.approx(3)
    for n in (2, 10, 1000):
        for beta in (0.0, 1.0, 3.0, 9.0):
            gain, share = clocks.peri_over_pre(n, beta), (n - 1) * math.exp(-beta)
            assert 1 < gain <= min(1 + share, math.sqrt(n)) + 1e-12
            if share >= 1:
                assert gain >= math.sqrt(2) - 1e-12


def test_post_ln_time_is_the_integral_of_the_gain():
    steps = np.linspace(0, 7.0, 100001)
    middle = (steps[1:] + steps[:-1]) / 2
    expected = (np.diff(steps) / np.sqrt(middle + 1)).sum()
    assert clocks.post_ln_time(7.0) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(
    ("n", "beta", "r0", "gamma"), [(8, 1.0, 1.0, 0.97), (256, 5.0, 1.0, 0.1), (16, 3.0, 2.5, 0.5)]
)
def test_both_are_there_at_the_time_that_is_told(n, beta, r0, gamma):
    """By scipy over time, where `times_to` goes over γ."""
    for name, time in zip(("pre_ln", "peri_ln"), clocks.times_to(gamma, n, beta, r0), strict=True):
        found = reference.solve(
            lambda scheme: reference.reduced_field(scheme, n, beta),
            schemes.get(name),
            np.array([0.0, r0]),
            [time],
        )
        assert found[0, 0] == pytest.approx(gamma, abs=1e-8)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("n", "beta", "late", "expected"),
    [(256, 5.0, 1e4, 5.7954), (16, 6.0, 1e10, 4.1236e6)],
)
def test_the_lead_is_what_simulated_curves_have_in_the_end(n, beta, late, expected):
    assert clocks.lead(n, beta) == pytest.approx(expected, rel=1e-4)
    times = torch.tensor([late], dtype=torch.float64)
    pair = [schemes.get("pre_ln"), schemes.get("peri_ln")]
    gap = equiangular.solve_many(pair, [n] * 2, [beta] * 2, times, tolerance=1e-8).log_gap
    # C/t² with one C: Pre-LN needs 1 + lead/t times as long to the same gap.
    ahead = late * math.expm1((gap[0] - gap[1]).item() / 2)
    assert ahead == pytest.approx(expected, rel=3e-3)


def test_a_start_near_1_is_not_a_way_near_1():
    """n = 16, β = 6: 4 % at the start, 14 % to γ = .5."""
    pre, peri = clocks.times_to(0.5, 16, 6.0)
    assert clocks.peri_over_pre(16, 6.0) == pytest.approx(1.0371, abs=1e-4)
    assert pre == pytest.approx(7.7265e6, rel=1e-4)
    assert 1 - peri / pre == pytest.approx(0.1393, abs=1e-4)
    cosines, now = torch.linspace(0, 0.95, 20).tolist(), torch.zeros(1, dtype=torch.float64)
    scheme = schemes.get("pre_ln")
    solved = [equiangular.solve(scheme, 16, 6.0, now, gamma) for gamma in cosines]
    norms = [each.attention_norm.item() for each in solved]
    assert norms[0] == pytest.approx(1 / clocks.peri_over_pre(16, 6.0))
    assert min(norms) == pytest.approx(0.817, abs=2e-3)


def test_times_go_with_the_length_at_the_start():
    assert clocks.lead(8, 2.0, 3.0) == pytest.approx(3 * clocks.lead(8, 2.0), rel=1e-6)


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="at least 2 tokens, got 1"):
        clocks.lead(1, 1.0)
    with pytest.raises(ValueError, match="0 or more and below 1, got 1"):
        clocks.times_to(1.0, 4, 1.0)
    with pytest.raises(ValueError, match="more time than a number can hold"):
        clocks.lead(4, 20.0)
