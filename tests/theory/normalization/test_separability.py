import math

import pytest
import torch

from headgauge.theory.normalization import separability
from headgauge.theory.normalization.distance import distances_to_context
from headgauge.theory.normalization.selection import top_n


def unit(vectors: torch.Tensor) -> torch.Tensor:
    return vectors / vectors.norm(dim=-1, keepdim=True)


def bounds_of(weights, vectors, selected, ball):
    xi = separability.xi(weights, selected, separability.minimum_separation(vectors))
    return (
        separability.printed_lower_bound(xi, selected, ball),
        separability.printed_upper_bound(xi, selected, ball),
        separability.deterministic_lower_bound(xi, selected, ball),
    )


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_count_is_the_definition(rows, n):
    weights, vectors = rows
    selected = top_n(weights, n)
    radius = separability.radius(weights, vectors, selected)
    count = separability.separable_count(weights, vectors, selected)
    for row in range(len(weights)):
        y = weights[row][:, None] * vectors[row]
        s = y[selected[row]].sum(0)
        outside = min(float((y[i] - s).norm()) for i in range(8) if not selected[row, i])
        assert radius[row].item() == pytest.approx(outside, rel=1e-12, abs=1e-300)
        inside = 0
        for i in range(8):
            guard = 1e-9 * float(s.norm() + y[i].norm())
            inside += bool(selected[row, i]) and float((y[i] - s).norm()) <= outside + guard
        assert count[row].item() == (1 if n == 1 else inside)


def test_one_token_always_counts(rows):
    weights, vectors = rows
    assert (separability.separability(weights, vectors, top_n(weights, 1)) == 1).all()


def test_selecting_everything_leaves_an_infinite_radius(rows):
    weights, vectors = rows
    selected = top_n(weights, 8)
    assert separability.radius(weights, vectors, selected).isinf().all()
    assert (separability.separability(weights, vectors, selected) == 1).all()


@pytest.mark.parametrize("n", [1, 5, 20, 31])
def test_orthonormal_vectors_are_all_separable(n):
    source = torch.Generator().manual_seed(0)
    weights = torch.softmax(torch.randn(20, 32, dtype=torch.float64, generator=source), -1)
    identity = torch.eye(32, dtype=torch.float64)
    assert (separability.separability(weights, identity, top_n(weights, n)) == 1).all()


def test_flat_weights_in_the_plane_separate_almost_nothing():
    source = torch.Generator().manual_seed(0)
    weights = torch.full((10, 512), 1 / 512, dtype=torch.float64)
    vectors = unit(torch.randn(10, 512, 2, dtype=torch.float64, generator=source))
    assert separability.separability(weights, vectors, top_n(weights, 20)).mean() < 0.1


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_xi_bounds_every_distance_and_the_lower_bounds_hold(rows, n, at_most):
    weights, vectors = rows[0], unit(rows[1])
    selected = top_n(weights, n)
    xi = separability.xi(weights, selected, separability.minimum_separation(vectors))
    each = distances_to_context(weights, vectors, selected) * selected
    assert at_most(each, xi, 1e-6)
    ball = separability.radius(weights, vectors, selected)
    printed, _, counted = bounds_of(weights, vectors, selected, ball)
    fraction = separability.separability(weights, vectors, selected)
    if n > 1:  # a radius of zero among duplicates makes the printed bound −∞
        assert at_most(printed[ball > 0], counted[ball > 0])
    assert at_most(counted, fraction)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_xi_is_its_double_sum(rows, n):
    weights, vectors = rows[0], unit(rows[1])
    selected = top_n(weights, n)
    delta = separability.minimum_separation(vectors)
    xi = separability.xi(weights, selected, delta)
    for row in range(4, len(weights), 6):  # one of each kind
        chosen = [i for i in range(8) if selected[row, i]]
        alpha, separation = weights[row].tolist(), delta[row].item()
        for i in chosen:
            rest = [j for j in chosen if j != i]
            square = sum(alpha[j] ** 2 for j in rest)
            cross = sum(alpha[j] * alpha[k] for j in rest for k in rest if j != k)
            expected = math.sqrt(square + (1 - separation**2 / 2) * cross)
            assert xi[row, i].item() == pytest.approx(expected, rel=1e-7, abs=1e-12)


def test_the_printed_upper_bound_fails_for_one_token(rows):
    weights, vectors = rows[0], unit(rows[1])
    selected = top_n(weights, 1)
    ball = separability.radius(weights, vectors, selected)
    _, upper, _ = bounds_of(weights, vectors, selected, ball)
    assert (upper[ball > 1e-6] < 1).all()


def test_the_printed_bounds_cross_for_a_large_ball():
    source = torch.Generator().manual_seed(1)
    weights = torch.softmax(torch.randn(20, dtype=torch.float64, generator=source), -1)
    selected = top_n(weights, 5)
    xi = separability.xi(weights, selected, 0.0)
    lower = separability.printed_lower_bound(xi, selected, 10.0)
    upper = separability.printed_upper_bound(xi, selected, 10.0)
    assert lower > 0.9
    assert upper < 0.01


@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_with_the_papers_radius_the_upper_bound_never_reaches_80_percent(rows, n):
    weights, vectors = rows[0], unit(rows[1])
    selected = top_n(weights, n)
    ball = separability.radius(weights, vectors, selected)
    _, upper, _ = bounds_of(weights, vectors, selected, ball)
    assert (upper >= math.exp(-1 / 16) - 1e-12).all()


def test_the_slides_index_breaks_xi():
    angles = torch.arange(3, dtype=torch.float64) * 2 * math.pi / 3
    triangle = torch.stack([angles.cos(), angles.sin()], -1)
    vectors = torch.cat([triangle, torch.tensor([[0.6, 0.8]], dtype=torch.float64)])
    weights = torch.tensor([0.3, 0.3, 0.3, 0.1], dtype=torch.float64)
    selected = top_n(weights, 3)
    each = distances_to_context(weights, vectors, selected)
    slides = separability.xi_slides(weights, selected, math.sqrt(3))
    fixed = separability.xi(weights, selected, math.sqrt(3))
    assert each[:3].tolist() == pytest.approx([0.3] * 3)
    assert slides[:3].tolist() == pytest.approx([0.0] * 3, abs=1e-7)
    assert fixed[:3].tolist() == pytest.approx([0.3] * 3)


def test_minimum_separation_sees_near_duplicates():
    vectors = torch.tensor([[1.0, 0.0], [1.0, 1e-9], [0.0, 1.0]], dtype=torch.float64)
    assert separability.minimum_separation(vectors).item() == pytest.approx(1e-9, rel=1e-12)
    assert separability.minimum_separation(vectors[:1]).isinf()
