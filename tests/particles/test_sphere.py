import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headgauge.errors import InputError
from headgauge.particles import sphere


@settings(max_examples=40)
@given(st.integers(2, 40), st.floats(0, 1), st.integers(0, 3))
def test_equal_angles_to_the_last_digits(tokens: int, place: float, more: int):
    """From the simplex, γ = −1/(n − 1), to nearly one point."""
    least = -1 / (tokens - 1)
    gamma = least + place * (0.999 - least)
    directions = sphere.equiangular(tokens, tokens + more, gamma)
    expected = torch.full((tokens, tokens), gamma, dtype=torch.float64).fill_diagonal_(1)
    assert torch.allclose(directions @ directions.T, expected, rtol=0, atol=4e-15)


@pytest.mark.parametrize(("tokens", "gamma"), [(3, -0.6), (3, 1.0), (8, -0.2)])
def test_a_cosine_that_cannot_be_is_refused(tokens: int, gamma: float):
    with pytest.raises(InputError, match=rf"^{tokens} tokens cannot all have the cosine"):
        sphere.equiangular(tokens, 10, gamma)


def test_too_few_dimensions_are_refused():
    with pytest.raises(
        InputError, match=r"^5 tokens at equal angles need 5 dimensions or more, got 4"
    ):
        sphere.equiangular(5, 4)


def test_uniform_directions():
    drawn = sphere.uniform(4000, 3, seed=1)
    assert torch.allclose(drawn.norm(dim=-1), torch.ones(4000, dtype=torch.float64), rtol=1e-15)
    assert drawn.mean(0).abs().max() < 0.04
    assert torch.allclose(drawn.T @ drawn / 4000, torch.eye(3).double() / 3, atol=0.03)
    assert torch.equal(drawn, sphere.uniform(4000, 3, seed=1))
    assert not torch.equal(drawn, sphere.uniform(4000, 3, seed=2))


@pytest.mark.parametrize("width", [1e-6, 1e-2, 0.5])
def test_a_cone_is_as_wide_as_asked(width: float):
    angle = torch.asin(sphere.cone(500, 6, width, seed=0)[:, 1:].norm(dim=-1))
    assert float(angle.max()) <= math.asin(width) * (1 + 1e-9)
    assert float(angle.max()) > 0.9 * width
    assert float(angle.min()) < 0.9 * width
