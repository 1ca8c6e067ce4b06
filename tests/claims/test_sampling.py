import math

import torch

from headgauge.claims import sampling


def test_a_nan_breaks_every_inequality():
    value = torch.tensor([1.0, math.nan, 1.0], dtype=torch.float64)
    bound = torch.tensor([2.0, 2.0, math.nan], dtype=torch.float64)
    assert sampling.violated(value, bound) == 2
    assert sampling.violated(value[:1], torch.tensor([math.inf])) == 0
    assert sampling.violated(torch.tensor([math.inf]), bound[:1]) == 1


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
    first = list(sampling.rows(2, 5, 3, sampling.generator(1)))
    again = list(sampling.rows(2, 5, 3, sampling.generator(1)))
    assert len(first) == 15
    for (weights, vectors), (same, also) in zip(first, again, strict=True):
        assert torch.allclose(weights.sum(-1), torch.ones(2, dtype=torch.float64))
        assert vectors.shape == (2, 5, 3)
        assert torch.equal(weights, same)
        assert torch.equal(vectors, also)
