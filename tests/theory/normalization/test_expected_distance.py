import itertools

import pytest
import torch

from headgauge.theory.normalization import expected_distance as expected
from headgauge.theory.normalization.distance import distance


def test_exact_is_the_mean_over_all_subsets(rows):
    weights, vectors = rows
    values = []
    for subset in itertools.combinations(range(8), 3):
        selected = torch.zeros(8, dtype=torch.bool)
        selected[list(subset)] = True
        values.append(distance(weights, vectors, selected.expand(len(weights), 8)))
    mean = torch.stack(values).mean(0)
    assert torch.allclose(expected.exact(weights, vectors, 3), mean, rtol=1e-12, atol=0)


@pytest.mark.parametrize("n", range(9))
def test_sandwiches_hold_and_nest(rows, n, at_most):
    weights, vectors = rows
    truth = expected.exact(weights, vectors, n)
    outer_lower, outer_upper = expected.sandwich(weights, vectors, n)
    assert torch.equal(outer_lower, expected.appendix(weights, vectors, n))
    assert at_most(outer_lower, truth)
    assert at_most(truth, outer_upper)
    for strata in (1, 2, 3):
        lower, upper = expected.stratified_sandwich(weights, vectors, n, strata=strata)
        assert at_most(outer_lower, lower)
        assert at_most(lower, truth)
        assert at_most(truth, upper)
        assert at_most(upper, outer_upper)
        outer_lower, outer_upper = lower, upper


def test_conditioning_on_everything_is_exact(rows):
    weights, vectors = rows
    lower, upper = expected.stratified_sandwich(weights, vectors, 3, strata=8)
    truth = expected.exact(weights, vectors, 3)
    assert torch.allclose(lower, truth, rtol=1e-10)
    assert torch.allclose(upper, truth, rtol=1e-10)


@pytest.mark.parametrize("n", [1, 3, 6, 7])
def test_the_second_moment_is_exact(rows, n):
    """E‖y_i − s‖² given i ∉ I, by enumeration over the other keys."""
    weights, vectors = rows
    centre, variance = expected.conditional_moments(weights, vectors, n)
    y = weights[..., None] * vectors
    for i in (0, 5):
        others = [j for j in range(8) if j != i]
        squares, means = [], []
        for subset in itertools.combinations(others, n):
            difference = y[:, i] - y[:, list(subset)].sum(1)
            squares.append((difference**2).sum(-1))
            means.append(difference)
        square = torch.stack(squares).mean(0)
        assert torch.allclose(centre[:, i] ** 2 + variance[:, i], square, rtol=1e-9)
        assert torch.allclose(centre[:, i], torch.stack(means).mean(0).norm(dim=-1), rtol=1e-7)


def test_one_selected_token_has_a_closed_form(rows):
    weights, vectors = rows
    y = weights[..., None] * vectors
    apart = (y[:, :, None] - y[:, None]).norm(dim=-1)
    closed = apart.sum((-2, -1)) / 8
    assert torch.allclose(expected.exact(weights, vectors, 1), closed, rtol=1e-9, atol=1e-15)


def test_identical_tokens_have_no_expected_distance_at_n_1():
    weights = torch.full((7,), 1 / 7, dtype=torch.float64)
    vectors = torch.randn(1, 5, dtype=torch.float64).expand(7, 5).contiguous()
    lower, upper = expected.sandwich(weights, vectors, 1)
    assert lower < 1e-15
    assert upper < 1e-15


def test_the_appendix_form_is_exact_with_one_token_left_out(rows):
    weights, vectors = rows
    exact = expected.exact(weights, vectors, 7)
    assert torch.allclose(expected.appendix(weights, vectors, 7), exact, rtol=1e-9)


def test_the_main_text_is_false():
    weights = torch.full((10,), 0.1, dtype=torch.float64)
    vectors = torch.ones(10, 1, dtype=torch.float64)
    assert expected.exact(weights, vectors, 9).item() == pytest.approx(0.8)
    assert expected.printed(weights, vectors, 9).item() == pytest.approx(0.1)
    assert expected.appendix(weights, vectors, 9).item() == pytest.approx(0.8)


def test_the_slides_are_of_the_wrong_degree(rows):
    weights, vectors = rows
    once, twice = (expected.slides(weights, k * vectors, 3) for k in (1, 2))
    assert torch.allclose(twice, 4 * once)
    assert torch.allclose(
        expected.exact(weights, 2 * vectors, 3), 2 * expected.exact(weights, vectors, 3)
    )


def test_monte_carlo_finds_the_mean():
    source = torch.Generator().manual_seed(0)
    weights = torch.softmax(torch.randn(8, dtype=torch.float64, generator=source), -1)
    vectors = torch.randn(8, 4, dtype=torch.float64, generator=source)
    mean, error = expected.monte_carlo(weights, vectors, 3, draws=300, generator=source)
    assert abs(mean - expected.exact(weights, vectors, 3)) < 4 * error


def test_with_a_sink_the_strata_decide():
    """One heavy token among 300: the plain sandwich is wide, two strata close it."""
    source = torch.Generator().manual_seed(2)
    weights = torch.full((300,), 0.1 / 299, dtype=torch.float64)
    weights[0] = 0.9
    vectors = torch.randn(300, 64, dtype=torch.float64, generator=source)
    lower, upper = expected.sandwich(weights, vectors, 1)
    inner_lower, inner_upper = expected.stratified_sandwich(weights, vectors, 1, strata=2)
    y = weights[:, None] * vectors
    truth = torch.cdist(y, y, compute_mode="donot_use_mm_for_euclid_dist").sum() / 300
    assert lower < inner_lower <= truth <= inner_upper < upper
    assert upper / lower > 3
    assert inner_upper / inner_lower < 1.5


def test_too_many_subsets_are_refused():
    with pytest.raises(ValueError, match=r"40 keys have .* subsets of size 20"):
        expected.exact(torch.full((40,), 1 / 40), torch.ones(40, 2), 20)


@pytest.mark.parametrize("form", [expected.printed, expected.sandwich, expected.exact])
def test_an_impossible_n_is_named(form):
    with pytest.raises(ValueError, match="N=9 for 8 keys"):
        form(torch.full((8,), 1 / 8), torch.ones(8, 2), 9)
