import math

import pytest
import torch

from headgauge import normalizers
from headgauge.normalizers import ASEntmaxScale

F64 = torch.float64
pytestmark = pytest.mark.usefixtures("path")


def test_is_entmax_of_scaled_logits() -> None:
    logits = torch.randn(4, 9, dtype=F64)
    factor = 1.2 + 0.5 * math.log(9) ** 0.8
    ours = normalizers.get("asentmax", beta=0.5, gamma=0.8, delta=1.2)(logits)
    torch.testing.assert_close(ours, normalizers.get("entmax")(factor * logits))


def test_parameters_from_the_queries_get_gradients() -> None:
    torch.manual_seed(0)
    scale = ASEntmaxScale(dim=8, heads=3)
    beta, gamma = scale(torch.randn(2, 5, 8))
    assert beta.shape == gamma.shape == (2, 3, 5)
    assert (beta > 0).all()
    assert (gamma.abs() < 2).all()
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    # The first row sees one key: (log 1)^γ with γ < 0 would be infinite.
    assert (gamma[..., 0] < 0).any()
    weights = normalizers.get("asentmax", beta=beta, gamma=gamma)(torch.randn(2, 3, 5, 5), mask)
    assert (weights[..., 0, 0] == 1).all()
    weights.square().sum().backward()
    for weight in (scale.to_beta.weight, scale.to_gamma.weight):
        assert weight.grad is not None
        assert weight.grad.isfinite().all()
        assert weight.grad.abs().max() > 0


def test_gradcheck_in_its_parameters() -> None:
    logits = torch.randn(2, 3, 6, generator=torch.Generator().manual_seed(0), dtype=F64)
    inputs = [torch.full((3,), value, dtype=F64, requires_grad=True) for value in (0.5, -0.7, 1.1)]
    assert torch.autograd.gradcheck(
        lambda b, g, d: normalizers.get("asentmax", beta=b, gamma=g, delta=d)(logits), inputs
    )
