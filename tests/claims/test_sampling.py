import math

import pytest
import torch

from headgauge.claims import sampling


def test_a_nan_breaks_every_inequality():
    value = torch.tensor([1.0, math.nan, 1.0], dtype=torch.float64)
    bound = torch.tensor([2.0, 2.0, math.nan], dtype=torch.float64)
    assert sampling.violated(value, bound) == 2
    assert sampling.violated(value[:1], torch.tensor([math.inf])) == 0
    assert sampling.violated(torch.tensor([math.inf]), bound[:1]) == 1


def test_a_chain_is_broken_at_every_link():
    one = torch.ones(3, dtype=torch.float64)
    assert sampling.violated(0.5, one, 2 * one) == 0
    assert sampling.violated(one, 0.5, torch.tensor([0.0, 1.0])) == 4


def test_close_takes_one_value_for_all_or_each_its_own():
    assert sampling.close([1.0, torch.ones(2)], 1.0)
    assert not sampling.close([1.0, math.nan], 1.0)
    assert sampling.close((1.0, torch.full((2,), 3.0)), [1.0, 3.0])
    assert not sampling.close([1.0, 2.0], [1.0, 2.1])
    with pytest.raises(ValueError, match="shorter"):
        sampling.close([1.0, 2.0], [1.0])


def test_rounding_breaks_none():
    bound = torch.ones(3, dtype=torch.float64)
    assert sampling.violated(bound + 1e-12, bound) == 0
    assert sampling.violated(bound + 1e-6, bound) == 3


def test_highest_and_lowest_do_not_lose_a_nan():
    assert sampling.highest([1.0, torch.tensor([3.0, 2.0])]) == 3
    assert sampling.lowest([1.0, torch.tensor([3.0, 2.0])]) == 1
    assert math.isnan(sampling.highest([1.0, math.nan]))
    assert math.isnan(sampling.lowest([math.nan, 1.0]))


def test_rows_are_weights_and_the_same_every_time():
    first, again = (list(sampling.Draws(1).rows(2, 5, 3)) for _ in range(2))
    assert len(first) == 15
    for (weights, vectors), (same, also) in zip(first, again, strict=True):
        assert torch.allclose(weights.sum(-1), torch.ones(2, dtype=torch.float64))
        assert vectors.shape == (2, 5, 3)
        assert torch.equal(weights, same)
        assert torch.equal(vectors, also)
