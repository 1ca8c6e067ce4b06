import pytest
import torch

from headgauge.theory.normalization import expected_distance, jensen_gap


@pytest.mark.parametrize("n", [1, 3, 6])
def test_the_bounds_on_the_gap_are_ordered(rows, n, at_most):
    weights, vectors = rows
    gap = expected_distance.exact(weights, vectors, n) - expected_distance.appendix(
        weights, vectors, n
    )
    corrected = jensen_gap.corrected(weights, vectors, n)
    printed = jensen_gap.printed(weights, vectors, n)
    appendix = jensen_gap.appendix(weights, vectors, n)
    assert at_most(torch.zeros(()), gap)
    assert at_most(gap, corrected)
    # The printed forms may be infinite where an m_i vanishes: that is their defect.
    finite = printed.isfinite() & appendix.isfinite()
    assert at_most(corrected[finite], printed[finite])
    assert at_most(printed[finite], appendix[finite])


def test_with_one_token_left_out_there_is_no_gap(rows):
    """Eq. (25) knows that and the main text does not: their order turns round at N = L − 1."""
    weights, vectors = rows
    assert (jensen_gap.appendix(weights, vectors, 7) == 0).all()
    assert (jensen_gap.corrected(weights, vectors, 7) == 0).all()


def test_rows_without_others_have_no_gap():
    one = torch.ones(1, dtype=torch.float64)
    vector = torch.ones(1, 3, dtype=torch.float64)
    one_hot = torch.eye(4, dtype=torch.float64)[0]
    vectors = torch.ones(4, 3, dtype=torch.float64)
    for form in (jensen_gap.printed, jensen_gap.appendix, jensen_gap.corrected):
        assert form(one, vector, 0) == 0
        assert form(one_hot, vectors, 0) == 0


def test_corrected_is_the_width_of_the_sandwich(rows):
    weights, vectors = rows
    lower, upper = expected_distance.sandwich(weights, vectors, 3)
    corrected = jensen_gap.corrected(weights, vectors, 3)
    assert torch.allclose(corrected, upper - lower, rtol=1e-9, atol=1e-13)


def test_the_printed_bound_is_infinite_where_the_corrected_is_not():
    """Two identical tokens and N = 1 make every m_i zero."""
    weights = torch.tensor([0.5, 0.5], dtype=torch.float64)
    vectors = torch.ones(2, 1, dtype=torch.float64)
    assert jensen_gap.printed(weights, vectors, 1).isinf().all()
    assert jensen_gap.corrected(weights, vectors, 1).item() == 0


def test_the_printed_epsilon_does_not_save_the_main_text():
    weights = torch.full((10,), 0.1, dtype=torch.float64)
    vectors = torch.ones(10, 1, dtype=torch.float64)
    epsilon = jensen_gap.printed(weights, vectors, 9)
    assert epsilon.item() == pytest.approx(0.05625)
    main = expected_distance.printed(weights, vectors, 9)
    assert expected_distance.exact(weights, vectors, 9) > main + epsilon
