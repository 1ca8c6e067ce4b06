import math

import pytest
import torch

from headgauge.theory.normalization import vanishing
from headgauge.theory.normalization.general_normalizer import normalise


@pytest.mark.parametrize("length", [2, 10, 5000])
def test_lemma_1_is_attained_and_never_exceeded(length):
    source = torch.Generator().manual_seed(0)
    lowest, highest = math.exp(-2), math.exp(2)
    lower, upper = vanishing.lemma_1_bounds(lowest, highest, length)
    logits = 4 * torch.rand(50, length, dtype=torch.float64, generator=source) - 2
    weights = normalise(torch.exp, logits)
    assert weights.min() >= lower
    assert weights.max() <= upper
    winner = torch.full((length,), -2.0, dtype=torch.float64)
    winner[0] = 2
    assert normalise(torch.exp, winner)[0].item() == pytest.approx(upper, rel=1e-12)
    assert normalise(torch.exp, -winner)[0].item() == pytest.approx(lower, rel=1e-12)
    c1, c2 = vanishing.lemma_1_constants(lowest, highest)
    assert c1 / length <= lower
    assert upper <= c2 / length


def test_the_constants_are_the_best():
    c1, c2 = vanishing.lemma_1_constants(0.5, 2.0)
    lower, upper = vanishing.lemma_1_bounds(0.5, 2.0, 10**7)
    assert lower * 10**7 == pytest.approx(c1, rel=1e-5)
    assert upper * 10**7 == pytest.approx(c2, rel=1e-5)


def test_lemma_1_needs_a_positive_f():
    with pytest.raises(ValueError, match="0 < min F"):
        vanishing.lemma_1_bounds(0.0, 1.0, 10)


def test_a_bound_that_grows_with_the_length_saves_the_winner():
    length = 10**6
    logits = torch.full((length,), -0.5 * math.log(length), dtype=torch.float64)
    logits[0] = 0.5 * math.log(length)
    assert torch.softmax(logits, -1)[0].item() == pytest.approx(0.5, abs=1e-5)


def test_corollary_1_needs_the_largest_key():
    query = torch.tensor([1.0], dtype=torch.float64)
    keys = torch.tensor([[0.0], [3.0], [3.0]], dtype=torch.float64)
    weights = torch.softmax((keys @ query), -1)
    assert weights[0].item() == pytest.approx(0.0243, abs=1e-4)
    spread = vanishing.corollary_1_range(query, keys)
    assert spread.item() == 6
    lower, upper = vanishing.corollary_1_sharp(spread, 3)
    printed_lower, printed_upper = vanishing.corollary_1_printed(spread, 3)
    assert printed_lower <= lower <= weights[0] <= upper <= printed_upper


@pytest.mark.parametrize("temperature", [0.3, 1.0, 5.0])
def test_the_data_dependent_bounds_hold_and_are_better(temperature):
    source = torch.Generator().manual_seed(1)
    query = torch.randn(100, 6, dtype=torch.float64, generator=source)
    keys = torch.randn(100, 30, 6, dtype=torch.float64, generator=source)
    logits = (keys @ query[..., None])[..., 0]
    weights = torch.softmax(logits / temperature, -1)
    wide = vanishing.corollary_1_range(query, keys, temperature)
    spread = vanishing.logit_range(logits, temperature)
    assert (spread <= wide).all()
    lower, upper = vanishing.corollary_1_sharp(spread, 30)
    assert (lower <= weights.amin(-1) * (1 + 1e-12)).all()
    assert (weights.amax(-1) <= upper * (1 + 1e-12)).all()
    jensen = vanishing.jensen_upper_bound(logits, temperature)
    assert (weights <= jensen * (1 + 1e-12)).all()
    by_norms = vanishing.key_spread_upper_bound(query, keys, temperature)
    assert (jensen <= by_norms * (1 + 1e-12)).all()


def test_a_single_key_has_all_the_weight():
    lower, upper = vanishing.corollary_1_sharp(torch.tensor([1.0, 800.0]), 1)
    assert lower.tolist() == upper.tolist() == [1, 1]
