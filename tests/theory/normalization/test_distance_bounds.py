import pytest
import torch

from headgauge.theory.normalization import distance_bounds
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import top_n


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_every_bound_holds_on_the_top_n_set(rows, n, at_most):
    weights, vectors = rows
    selected = top_n(weights, n)
    d = distance(weights, vectors, selected)
    printed = distance_bounds.printed_bound(weights, vectors, selected)
    absolute = distance_bounds.absolute_bound(weights, vectors, selected)
    centroid = distance_bounds.centroid_bound(weights, vectors, selected)
    assert at_most(d, centroid)
    assert at_most(centroid, printed)
    assert torch.allclose(absolute, printed, rtol=1e-9)
    assert at_most(torch.zeros(()), printed)


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_the_sandwich_holds_and_peeling_nests_it(rows, n, at_most):
    weights, vectors = rows
    selected = top_n(weights, n)
    d = distance(weights, vectors, selected)
    outer_lower, outer_upper = distance_bounds.sandwich(weights, vectors, selected)
    for peel in (1, 2, 8):
        lower, upper = distance_bounds.sandwich(weights, vectors, selected, peel=peel)
        assert at_most(outer_lower, lower)
        assert at_most(lower, d)
        assert at_most(d, upper)
        assert at_most(upper, outer_upper)
        outer_lower, outer_upper = lower, upper
    assert torch.allclose(outer_lower, d, rtol=1e-9)
    assert torch.allclose(outer_upper, d, rtol=1e-9)


def test_sandwich_is_its_closed_form(rows):
    weights, vectors = rows
    selected = top_n(weights, 3)
    y = weights[..., None] * vectors
    s, u = (y * selected[..., None]).sum(-2), (y * ~selected[..., None]).sum(-2)
    q = ((y * ~selected[..., None]) ** 2).sum((-2, -1))
    lower, upper = distance_bounds.sandwich(weights, vectors, selected)
    square = 5 * (5 * (s * s).sum(-1) - 2 * (u * s).sum(-1) + q)
    assert torch.allclose(lower, (5 * s - u).norm(dim=-1), rtol=1e-9)
    assert torch.allclose(upper, square.clamp(min=0).sqrt(), rtol=1e-6)


def test_the_sandwich_is_nearly_closed_on_gaussian_rows():
    source = torch.Generator().manual_seed(1)
    logits = torch.randn(20, 512, dtype=torch.float64, generator=source)
    weights = torch.softmax(logits, -1)
    vectors = torch.randn(512, 64, dtype=torch.float64, generator=source)
    for n in (1, 5, 20, 100):
        selected = top_n(weights, n)
        d = distance(weights, vectors, selected)
        lower, upper = distance_bounds.sandwich(weights, vectors, selected)
        assert (upper / d).median() < 1.01
        assert (lower / d).median() > 0.99


def test_orthonormal_flat_is_the_open_end_of_the_sandwich():
    weights = torch.full((50,), 1 / 50, dtype=torch.float64)
    vectors = torch.eye(50, dtype=torch.float64)
    selected = top_n(weights, 1)
    lower, _ = distance_bounds.sandwich(weights, vectors, selected)
    # ‖n s − u‖/d̃ = √(n² + n)/(n√2) → 1/√2
    ratio = lower / distance(weights, vectors, selected)
    assert ratio.item() == pytest.approx((1 + 1 / 49) ** 0.5 / 2**0.5, rel=1e-12)


@pytest.mark.parametrize("n", [4, 25])
def test_the_printed_bound_is_root_n_loose_for_orthonormal_flat(n):
    weights = torch.full((400,), 1 / 400, dtype=torch.float64)
    vectors = torch.eye(400, dtype=torch.float64)
    selected = top_n(weights, n)
    ratio = distance_bounds.printed_bound(weights, vectors, selected)
    ratio = ratio / distance(weights, vectors, selected)
    assert ratio.item() == pytest.approx(n**0.5, rel=0.15)


def test_the_printed_bound_fails_for_an_arbitrary_set():
    weights = torch.tensor([0.9, 0.1], dtype=torch.float64)
    vectors = torch.ones(2, 1, dtype=torch.float64)
    second = torch.tensor([False, True])
    assert distance(weights, vectors, second).item() == pytest.approx(0.8)
    assert distance_bounds.printed_bound(weights, vectors, second).item() == pytest.approx(-0.8)
    assert distance_bounds.absolute_bound(weights, vectors, second).item() == pytest.approx(0.8)
    assert distance_bounds.centroid_bound(weights, vectors, second).item() == pytest.approx(0.8)


def test_corrected_bounds_hold_for_arbitrary_sets(rows, at_most):
    weights, vectors = rows
    source = torch.Generator().manual_seed(3)
    for _ in range(20):
        selected = torch.rand(weights.shape, generator=source) < 0.4
        selected[:, 5] |= ~selected.any(-1)
        d = distance(weights, vectors, selected)
        centroid = distance_bounds.centroid_bound(weights, vectors, selected)
        assert at_most(d, centroid)
        assert at_most(centroid, distance_bounds.absolute_bound(weights, vectors, selected))
        lower, upper = distance_bounds.sandwich(weights, vectors, selected)
        assert at_most(lower, d)
        assert at_most(d, upper)


def test_the_slides_bound_is_not_homogeneous():
    weights = torch.full((12,), 1 / 12, dtype=torch.float64)
    vectors = torch.full((12, 1), 0.5, dtype=torch.float64)
    selected = top_n(weights, 6)
    assert distance(weights, vectors, selected).item() == pytest.approx(1.25)
    assert distance_bounds.slides_bound(weights, vectors, selected).item() == pytest.approx(0.625)


def test_bounds_that_need_a_sum_of_one_are_nan_elsewhere():
    weights = torch.tensor([[0.5, 0.2], [0.8, 0.2]], dtype=torch.float64)
    vectors = torch.ones(2, 1, dtype=torch.float64)
    selected = top_n(weights, 1)
    assert distance_bounds.printed_bound(weights, vectors, selected).isnan().tolist() == [
        True,
        False,
    ]
    assert not distance_bounds.centroid_bound(weights, vectors, selected).isnan().any()


def test_an_empty_set_has_no_printed_bound():
    weights = torch.tensor([0.7, 0.3], dtype=torch.float64)
    vectors = torch.eye(2, dtype=torch.float64)
    nothing = torch.zeros(2, dtype=torch.bool)
    assert distance_bounds.printed_bound(weights, vectors, nothing).isnan()
    assert distance_bounds.absolute_bound(weights, vectors, nothing).isnan()
    assert distance_bounds.centroid_bound(weights, vectors, nothing).item() == pytest.approx(1)
