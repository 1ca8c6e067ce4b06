import math

import pytest
import torch

from headgauge.theory.normalization import expected_distance, expected_limits
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import top_n


@pytest.mark.parametrize("n", range(1, 9))
def test_the_cap_holds(rows, n, at_most):
    weights, vectors = rows
    cap = expected_limits.cap(weights, vectors, n)
    assert at_most(expected_distance.exact(weights, vectors, n), cap)
    assert at_most(cap, (n + 1) * vectors.norm(dim=-1).amax(-1))


def test_the_cap_is_attained_by_a_one_hot_row():
    weights = torch.eye(9, dtype=torch.float64)[0]
    vectors = torch.ones(9, 1, dtype=torch.float64)
    exact = expected_distance.exact(weights, vectors, 3)
    assert exact.item() == pytest.approx(expected_limits.cap(weights, vectors, 3).item())


@pytest.mark.parametrize(
    ("vectors", "limit"),
    [
        (torch.eye(600, dtype=torch.float64), math.sqrt(6)),
        (torch.ones(600, 1, dtype=torch.float64), 4.0),
    ],
    ids=["orthonormal", "identical"],
)
def test_corollary_2_i_is_false(vectors, limit):
    weights = torch.full((600,), 1 / 600, dtype=torch.float64)
    # Every 5-subset looks the same, so one of them is the mean.
    ratio = distance(weights, vectors, top_n(weights, 5))
    ratio = ratio / expected_limits.corollary_2_printed(weights, vectors)
    assert ratio.item() == pytest.approx(limit, rel=0.01)


@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_where_the_condition_fails_the_distance_is_larger(rows, n):
    weights, vectors = rows
    selected = top_n(weights, n)
    above = ~expected_limits.may_be_below_expectation(weights, vectors, selected)
    d = distance(weights, vectors, selected)
    assert (d[above] > expected_distance.exact(weights, vectors, n)[above]).all()


def test_the_condition_does_fail_somewhere():
    weights = torch.eye(50, dtype=torch.float64)[0] * 0.99 + 0.01 / 50
    vectors = torch.ones(50, 1, dtype=torch.float64)
    selected = top_n(weights, 1)
    assert not expected_limits.may_be_below_expectation(weights, vectors, selected)


def test_with_everything_selected_both_are_zero(rows):
    weights, vectors = rows
    selected = top_n(weights, 8)
    assert expected_limits.may_be_below_expectation(weights, vectors, selected).all()
    assert (expected_limits.cap(weights, vectors, 8) == 0).all()


def test_an_impossible_n_is_named():
    with pytest.raises(ValueError, match="N=9 for 8 keys"):
        expected_limits.cap(torch.full((8,), 1 / 8), torch.ones(8, 2), 9)
