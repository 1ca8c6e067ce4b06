import math

import pytest
import torch

from headgauge import normalizers
from headgauge.theory.normalization import trade_off


@pytest.mark.parametrize("length", [10, 1000, 100_000])
@pytest.mark.parametrize("weight", [0.5, 0.99])
def test_softmax_reaches_the_weight_exactly_at_that_temperature(length, weight):
    lead = 1.7
    temperature = trade_off.softmax_temperature(lead, weight, length)
    logits = torch.zeros(length, dtype=torch.float64)
    logits[0] = lead
    reached = torch.softmax(logits / temperature, -1)[0].item()
    assert reached == pytest.approx(weight, rel=1e-9)


def test_the_temperature_falls_like_one_over_log_length():
    few, many = (trade_off.softmax_temperature(1.0, 0.99, n) for n in (10**3, 10**6))
    assert few / many == pytest.approx(math.log(10**6 * 99) / math.log(10**3 * 99), rel=1e-3)


@pytest.mark.parametrize("length", [2, 10, 1000])
def test_sparsemax_pays_exactly_the_price(length):
    rule = normalizers.get("sparsemax")
    lead = torch.zeros(length, dtype=torch.float64)
    lead[0] = 1.0
    assert rule(lead)[0] == 1
    moved = lead - lead.mean()
    change = rule(moved) - rule(torch.zeros_like(moved))
    ratio = (change.norm() / moved.norm()).item()
    assert ratio == pytest.approx(trade_off.lipschitz_price(1.0), rel=1e-12)
    assert rule.jacobian_bound(length) == trade_off.lipschitz_price(1.0)


@pytest.mark.parametrize(("lead", "weight"), [(0.0, 0.9), (1.0, 0.05), (1.0, 1.0)])
def test_the_impossible_is_refused(lead, weight):
    with pytest.raises(ValueError, match="L=10"):
        trade_off.softmax_temperature(lead, weight, 10)


@pytest.mark.parametrize("alpha", [1.25, 1.5, 2.0])
@pytest.mark.parametrize("length", [2, 10, 1000])
def test_entmax_is_one_hot_exactly_from_the_lead_on(alpha, length):
    rule = normalizers.get("entmax", alpha=alpha)
    logits = torch.zeros(length, dtype=torch.float64)
    logits[0] = trade_off.one_hot_lead(alpha)
    assert rule(logits)[0] == pytest.approx(1, abs=1e-12)
    assert rule(0.95 * logits)[0] < 1 - 1e-6


@pytest.mark.parametrize(("product", "limit"), [(1.5, 1.0), (1.0, 0.5), (0.5, 0.0)])
def test_ssmax_keeps_a_lead_only_where_its_product_with_s_reaches_one(product, limit):
    s = 0.43
    for length in (10, 1000):
        logits = torch.zeros(length, dtype=torch.float64)
        logits[0] = product / s
        weight = normalizers.get("ssmax", s=s)(logits)[0].item()
        assert weight == pytest.approx(trade_off.ssmax_weight(s, product / s, length))
    assert trade_off.ssmax_weight(s, product / s, 10**9) == pytest.approx(limit, abs=1e-4)


def test_entmax_without_an_exponent_has_no_such_lead():
    with pytest.raises(ValueError, match="1 < alpha <= 2"):
        trade_off.one_hot_lead(1.0)
