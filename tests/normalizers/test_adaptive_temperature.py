import numpy as np
import pytest
import torch

from headgauge import normalizers
from headgauge.normalizers.adaptive_temperature import inverse_temperature

F64 = torch.float64


def test_sharpens_between_two_entropies_and_peaks_between() -> None:
    entropy = torch.linspace(0, 9, 90_001, dtype=F64)
    beta = inverse_temperature(entropy)
    assert (beta >= 1).all()
    active = entropy[beta > 1]
    assert float(active.min()) == pytest.approx(0.849, abs=1e-3)
    assert float(active.max()) == pytest.approx(5.945, abs=1e-3)
    assert float(beta.max()) == pytest.approx(2.42, abs=5e-3)
    assert float(entropy[beta.argmax()]) == pytest.approx(4.41, abs=5e-3)


def test_weights_on_a_row() -> None:
    logits = torch.randn(30, generator=torch.Generator().manual_seed(0), dtype=F64)
    p = torch.softmax(logits, -1)
    entropy = float(-(p * p.log()).sum())
    beta = max(float(np.polyval([-0.037, 0.481, -2.3, 4.917, -1.791], entropy)), 1.0)
    assert beta > 1.5
    weights = normalizers.get("adaptive_temperature")(logits)
    torch.testing.assert_close(weights, torch.softmax(beta * logits, -1))


def test_a_peaked_row_is_left_alone() -> None:
    logits = torch.tensor([5.0, 0.0, 0.0], dtype=F64)
    weights = normalizers.get("adaptive_temperature")(logits)
    torch.testing.assert_close(weights, torch.softmax(logits, -1))


def test_gradient_flows_through_beta() -> None:
    rule = normalizers.get("adaptive_temperature")
    logits = torch.randn(30, generator=torch.Generator().manual_seed(0), dtype=F64)
    jacobian = rule.jacobian(logits)
    assert jacobian.terms[1][1].abs().max() > 0.01
