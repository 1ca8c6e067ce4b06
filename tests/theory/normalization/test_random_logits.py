import math

import pytest
import torch

from headgauge import normalizers
from headgauge.theory.normalization import random_logits


@pytest.mark.parametrize("alpha", [1.3, 1.5, 2.0])
@pytest.mark.parametrize("density", [0.25, 3.0])
def test_the_threshold_solves_its_equation(alpha, density):
    """Lf β^{−β} x^{β+1}/(β+1) = 1 with x the support over Lf, and the largest weight is (x/β)^β."""
    length, beta = 50_000, 1 / (alpha - 1)
    x = random_logits.entmax_support(alpha, density, length) / (density * length)
    total = length * density * beta**-beta * x ** (beta + 1) / (beta + 1)
    assert total == pytest.approx(1)
    largest = random_logits.entmax_largest(alpha, density, length)
    assert largest == pytest.approx((x / beta) ** beta)


@pytest.mark.parametrize(("alpha", "by_hand"), [(2.0, 2 ** (1 / 2)), (1.5, 12 ** (2 / 3) / 4)])
def test_sparsemax_and_entmax_by_hand(alpha, by_hand):
    """Uniform logits on [0, 1]: √(2/L), and a quarter of (12/L)^{2/3}."""
    for length in (100, 10_000):
        weight = random_logits.entmax_largest(alpha, 1.0, length)
        assert weight * length ** (1 / alpha) == pytest.approx(by_hand)


@pytest.mark.parametrize("alpha", [1.5, 2.0])
def test_the_law_meets_the_rule(alpha):
    """Evenly spaced logits have no noise; only the grid is left."""
    length, density = 200_000, 2.0
    logits = (torch.arange(length, dtype=torch.float64) + 0.5) / (length * density)
    weights = normalizers.get("entmax", alpha=alpha)(logits)
    law = random_logits.entmax_largest(alpha, density, length)
    assert weights.amax().item() == pytest.approx(law, rel=0.01)
    support = random_logits.entmax_support(alpha, density, length)
    assert int((weights > 0).sum()) == pytest.approx(support, rel=0.01)


def test_ssmax_falls_nearly_as_fast_as_softmax():
    length, density, s = 200_000, 0.5, 1.5
    logits = (torch.arange(length, dtype=torch.float64) + 0.5) / (length * density)
    largest = normalizers.get("ssmax", s=s)(logits).amax().item()
    assert largest == pytest.approx(random_logits.ssmax_largest(s, density, length), rel=0.01)
    assert largest * length == pytest.approx(s * math.log(length) / density, rel=0.01)


@pytest.mark.parametrize(("alpha", "density"), [(1.0, 1.0), (2.5, 1.0), (2.0, 0.0)])
def test_what_the_law_does_not_cover_is_refused(alpha, density):
    with pytest.raises(ValueError, match="1 < alpha <= 2 and a positive density"):
        random_logits.entmax_largest(alpha, density, 100)
