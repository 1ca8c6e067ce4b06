import math

import pytest
import torch

from headgauge import normalizers

F64 = torch.float64
RULE = normalizers.get("lssa", dim=32)


def test_formula() -> None:
    cosines = torch.tensor([-0.9, -0.1, 0.4, 0.8], dtype=F64)
    raised = torch.log1p(torch.exp(math.log(32) * math.log(4) * cosines))
    torch.testing.assert_close(RULE(cosines), raised / raised.sum())


def test_far_below_zero_it_is_softmax() -> None:
    cosines = torch.tensor([-1e4, -1e4 + 0.3, -2e4], dtype=F64)
    expected = torch.softmax(math.log(32) * math.log(3) * cosines, -1)
    torch.testing.assert_close(RULE(cosines), expected)


def test_no_step_where_the_two_formulas_meet() -> None:
    edge = -18 / (math.log(32) * math.log(2))
    offsets = torch.tensor([-1e-9, 1e-9], dtype=F64)
    logits = torch.stack([edge + offsets, torch.full_like(offsets, edge + 0.1)], dim=-1)
    weights = RULE(logits)
    slope = RULE.jacobian(logits).dense()[0, 0, 0]
    step = float(weights[1, 0] - weights[0, 0])
    assert step == pytest.approx(float(slope) * 2e-9, rel=1e-5)


def test_bound_is_approached_far_below_zero() -> None:
    logits = torch.tensor([-50.0, -50.0, -60.0], dtype=F64)
    bound = math.log(32) * math.log(3) / 2
    assert RULE.jacobian_bound(3) == pytest.approx(bound)
    assert float(RULE.spectral_norm(logits)) == pytest.approx(bound, rel=1e-6)
