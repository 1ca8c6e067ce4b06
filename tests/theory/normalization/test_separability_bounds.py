import math

import numpy as np
import pytest
import torch

from headgauge.theory.normalization import separability, separability_bounds
from headgauge.theory.normalization.distance import distances_to_context
from headgauge.theory.normalization.selection import top_n


def sphere(*shape: int, source: torch.Generator) -> torch.Tensor:
    values = torch.randn(*shape, dtype=torch.float64, generator=source)
    return values / values.norm(dim=-1, keepdim=True)


@pytest.mark.parametrize("sharpness", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("dim", [3, 32])
def test_fixed_radius_bounds_hold_for_every_key(sharpness, dim):
    """Simulated frequencies with four standard errors."""
    source = torch.Generator().manual_seed(5)
    draws, length, n = 2000, 24, 6
    logits = torch.randn(length, dtype=torch.float64, generator=source)
    weights = torch.softmax(sharpness * logits, -1)
    selected = top_n(weights, n)
    x = sphere(draws, length, dim, source=source)
    each = distances_to_context(
        weights.expand(draws, -1).contiguous(), x, selected.expand(draws, -1)
    )
    informative = False
    for ball in (0.02, 0.05, 0.1, 0.2, 0.4, 0.8):
        frequency = (each <= ball).to(torch.float64).mean(0)
        error = 4 * (frequency * (1 - frequency) / draws).sqrt() + 1e-3
        lower, upper = separability_bounds.fixed_radius_probabilities(weights, selected, ball, dim)
        assert (lower[selected] <= frequency[selected] + error[selected]).all()
        assert (upper[selected] >= frequency[selected] - error[selected]).all()
        assert (lower <= upper + 1e-12).all()
        informative |= bool(((lower > 0.1) | (upper[selected].amax() < 0.9)).any())
    assert informative


def test_the_moments_behind_the_bounds_are_exact():
    source = torch.Generator().manual_seed(6)
    dim, draws = 5, 50_000
    weights = torch.tensor([0.4, 0.3, 0.2, 0.1], dtype=torch.float64)
    x = sphere(draws, 4, dim, source=source)
    square = ((weights[1:, None] * x[:, 1:]).sum(1) ** 2).sum(-1)
    everything = torch.ones(4, dtype=torch.bool)
    mean, variance = (
        values[0] for values in separability_bounds.square_moments(weights, everything, dim)
    )
    error = square.std().item() / draws**0.5
    assert square.mean().item() == pytest.approx(mean.item(), abs=4 * error)
    assert square.var().item() == pytest.approx(variance.item(), rel=0.03)


@pytest.mark.parametrize(("dim", "n"), [(2, 3), (8, 5), (64, 10)])
def test_the_random_radius_expectation_matches_simulation(dim, n):
    source = torch.Generator().manual_seed(8)
    draws, length = 1000, 30
    weights = torch.softmax(torch.randn(length, dtype=torch.float64, generator=source) * 0.5, -1)
    selected = top_n(weights, n)
    x = sphere(length, dim, source=source)
    expected = separability_bounds.expected_count_given_selected(weights, x, selected)
    lower = separability_bounds.expected_count_lower_bound(weights, x, selected)
    fresh = torch.where(selected[:, None], x, sphere(draws, length, dim, source=source))
    counts = separability.separable_count(
        weights.expand(draws, -1).contiguous(), fresh, selected.expand(draws, -1)
    ).to(torch.float64)
    error = counts.std().item() / math.sqrt(draws) + 1e-6
    assert counts.mean().item() == pytest.approx(expected.item(), abs=4 * error)
    assert lower <= expected + 1e-12


def test_only_the_selected_vectors_matter():
    source = torch.Generator().manual_seed(9)
    weights = torch.softmax(torch.randn(12, dtype=torch.float64, generator=source), -1)
    selected = top_n(weights, 4)
    x = sphere(12, 6, source=source)
    other = torch.where(selected[:, None], x, sphere(12, 6, source=source))
    count = separability_bounds.expected_count_given_selected
    assert torch.equal(count(weights, x, selected), count(weights, other, selected))


def test_one_selected_token_is_always_counted():
    source = torch.Generator().manual_seed(9)
    weights = torch.softmax(torch.randn(12, dtype=torch.float64, generator=source), -1)
    selected = top_n(weights, 1)
    x = sphere(12, 6, source=source)
    assert separability_bounds.expected_count_given_selected(weights, x, selected) == 1
    lower, upper = separability_bounds.fixed_radius_bounds(weights, selected, 0.01, 6)
    assert lower == upper == 1


@pytest.mark.parametrize("dim", [2, 3, 10, 500])
def test_cap_probability_is_the_distribution_of_a_cosine(dim):
    """A coordinate is a normal one over the length of all, and χ² is the sum of the others."""
    source = np.random.default_rng(10)
    first = source.standard_normal(100_000)
    cosines = first / np.sqrt(first**2 + source.chisquare(dim - 1, 100_000))
    for c in (-0.9, -0.1, 0.0, 0.05, 0.6):
        point = torch.tensor(c, dtype=torch.float64)
        share = float((cosines <= c).mean())
        assert separability_bounds.cap_probability(point, dim).item() == pytest.approx(
            share, abs=0.006
        )
    ends = torch.tensor([-2.0, -1.0, 1.0, 2.0], dtype=torch.float64)
    assert separability_bounds.cap_probability(ends, dim).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("n", "dim", "simulated"),
    [(5, 2, 0.0), (5, 64, 0.75), (20, 64, 0.08), (100, 64, 0.02), (20, 768, 1.0), (100, 768, 0.39)],
)
def test_the_flat_weight_law_is_near_the_simulation(n, dim, simulated):
    """L = 512; the law is an approximation and its known deviation is below 0.09."""
    law = separability_bounds.flat_weight_law(512, n, dim)
    assert law == pytest.approx(simulated, abs=0.09)


def test_the_flat_weight_law_falls_with_n_and_rises_with_dim():
    by_n = [separability_bounds.flat_weight_law(1024, n, 128) for n in (1, 4, 16, 64, 256)]
    assert by_n == sorted(by_n, reverse=True)
    by_dim = [separability_bounds.flat_weight_law(1024, 16, dim) for dim in (2, 16, 128, 1024)]
    assert by_dim == sorted(by_dim)
    with pytest.raises(ValueError, match="N=5, L=5"):
        separability_bounds.flat_weight_law(5, 5, 8)


def test_a_coordinate_stays_below_the_deviation_bound_and_near_it():
    for dim in (2, 10, 1000):
        t = torch.linspace(0.0, 6.0, 50, dtype=torch.float64) / math.sqrt(dim)
        beyond = separability_bounds.cap_probability(-t, dim)
        bound = separability_bounds.deviation_bound(t, torch.ones_like(t), dim)
        assert (beyond <= bound).all()
        doubled = bound**2
        assert dim < 1000 or (beyond > doubled).any()


def test_two_values_attain_cantelli():
    q, t = 0.3, torch.tensor(0.7, dtype=torch.float64)
    assert separability_bounds.cantelli(t, t**2 * q / (1 - q)).item() == pytest.approx(q)
    assert separability_bounds.cantelli(-t, t).item() == 1


def test_on_a_line_there_is_no_cap():
    weights = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    x = torch.tensor([[1.0], [-1.0], [1.0]], dtype=torch.float64)
    with pytest.raises(ValueError, match="needs d >= 2"):
        separability_bounds.expected_count_given_selected(weights, x, top_n(weights, 2))
