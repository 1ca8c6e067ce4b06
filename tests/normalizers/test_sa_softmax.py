import pytest
import torch

from headgauge import normalizers

F64 = torch.float64


def test_formula_and_negative_weights() -> None:
    logits = torch.tensor([-1.0, 0.5, 2.0], dtype=F64)
    weights = normalizers.get("sa_softmax")(logits)
    torch.testing.assert_close(weights, logits * torch.softmax(logits, -1))
    assert weights[0] < 0


def test_norm_grows_with_the_logits() -> None:
    rule = normalizers.get("sa_softmax")
    for a in (1.0, 10.0, 100.0):
        pair = float(rule.spectral_norm(torch.tensor([a, a], dtype=F64)))
        assert pair == pytest.approx(a / 2 + 0.5, rel=1e-9)
    assert float(rule.spectral_norm(torch.tensor([100.0, 100.0, 0.0], dtype=F64))) == (
        pytest.approx(50.5, abs=0.01)
    )
