import pytest
import torch

from headgauge import normalizers
from headgauge.theory.normalization import self_adjusted


@pytest.mark.parametrize("a", [0.0, 1.0, 100.0])
def test_two_equal_logits_attain_the_bound(a):
    pair = torch.full((2,), a, dtype=torch.float64)
    norm = normalizers.get("sa_softmax").spectral_norm(pair).item()
    assert norm == pytest.approx(a / 2 + 0.5)
    assert self_adjusted.jacobian_bound(pair).item() == pytest.approx(norm)


@pytest.mark.parametrize("sharpness", [0.1, 1.0, 10.0])
def test_the_bound_holds_and_is_of_the_norm_s_size(sharpness):
    source = torch.Generator().manual_seed(3)
    logits = sharpness * torch.randn(200, 12, dtype=torch.float64, generator=source)
    norm = normalizers.get("sa_softmax").spectral_norm(logits)
    bound = self_adjusted.jacobian_bound(logits)
    assert (norm <= bound + 1e-12).all()
    assert (bound / norm).median() < 3
