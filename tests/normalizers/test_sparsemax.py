import entmax
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgauge import normalizers

F64 = torch.float64
pytestmark = pytest.mark.usefixtures("path")


def test_golden_values() -> None:
    weights = normalizers.get("sparsemax")(torch.tensor([-2.0, 0.0, 0.5], dtype=F64))
    torch.testing.assert_close(weights, torch.tensor([0, 0.25, 0.75], dtype=F64))


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=40))
def test_agreement_with_the_entmax_package(values: list[float]) -> None:
    logits = torch.tensor(values, dtype=F64)
    ours, theirs = normalizers.get("sparsemax")(logits), entmax.sparsemax(logits, dim=-1)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def test_gradient_agrees_with_the_entmax_package() -> None:
    logits = torch.randn(20, 33, generator=torch.Generator().manual_seed(0), dtype=F64)
    gradient = torch.randn(20, 33, generator=torch.Generator().manual_seed(1), dtype=F64)
    ours, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    normalizers.get("sparsemax")(ours).backward(gradient)
    entmax.sparsemax(theirs, dim=-1).backward(gradient)
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_norm_is_one_or_zero() -> None:
    rule = normalizers.get("sparsemax")
    logits = torch.tensor([[0.0, 0.5, -9.0], [0.0, 5.0, -9.0]], dtype=F64)
    assert rule.spectral_norm(logits).tolist() == [1.0, 0.0]
    assert rule.jacobian_bound(3) == 1.0
