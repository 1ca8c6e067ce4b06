import math

import pytest
import torch

from headgauge import normalizers

F64 = torch.float64


@pytest.mark.parametrize(("scale", "factor"), [(1, 1.0), (0.5, 1.0), (math.e**2, 1.44)])
def test_factor(scale: float, factor: float) -> None:
    logits = torch.randn(3, 9, dtype=F64)
    rule = normalizers.get("log_length_yarn", scale=scale)
    torch.testing.assert_close(rule(logits), torch.softmax(factor * logits, -1))
    assert rule.jacobian_bound(9) == pytest.approx(factor / 2)
