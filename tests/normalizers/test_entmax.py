"""α-entmax, sparsemax and ASEntmax, compiled and in torch."""

import math

import entmax
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgauge import normalizers
from headgauge.errors import InputError
from headgauge.normalizers import ASEntmaxScale

F64 = torch.float64
pytestmark = pytest.mark.usefixtures("path")


def test_golden_values() -> None:
    half = normalizers.get("entmax")(torch.tensor([-2.0, 0.0, 0.5]))
    torch.testing.assert_close(half, torch.tensor([0, 0.326, 0.674]), rtol=0, atol=5e-4)
    alpha = torch.tensor(1.33, dtype=F64, requires_grad=True)
    weights = normalizers.get("entmax", alpha=alpha)(torch.tensor([-1.0, 0.0, 0.5], dtype=F64))
    expected = torch.tensor([0.0460, 0.3276, 0.6264], dtype=F64)
    torch.testing.assert_close(weights.detach(), expected, rtol=0, atol=5e-5)
    weights[0].backward()
    assert alpha.grad is not None
    assert float(alpha.grad) == pytest.approx(-0.2562, abs=5e-5)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.floats(-30, 30, width=32), min_size=1, max_size=40),
    st.floats(0.1, 4),
)
def test_one_and_a_half_agrees_with_the_entmax_package(values, spread) -> None:
    logits = torch.tensor(values, dtype=F64) * spread
    ours, theirs = normalizers.get("entmax")(logits), entmax.entmax15(logits, dim=-1)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-7)


@pytest.mark.parametrize("keys", [1, 2, 17, 400])
def test_any_alpha_agrees_with_the_bisection_of_the_package(keys: int) -> None:
    for alpha in (1.05, 1.2, 1.33, 1.5, 1.7, 1.95, 2.0):
        agrees_with_bisection(alpha, keys)


def agrees_with_bisection(alpha: float, keys: int) -> None:
    logits = 3 * torch.randn(6, keys, generator=torch.Generator().manual_seed(1), dtype=F64)
    ours_in, theirs_in = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    ours = normalizers.get("entmax", alpha=alpha)(ours_in)
    theirs = entmax.entmax_bisect(theirs_in, alpha=alpha, dim=-1, n_iter=100)
    torch.testing.assert_close(ours, theirs, rtol=1e-7, atol=1e-9)
    gradient = torch.randn(6, keys, generator=torch.Generator().manual_seed(2), dtype=F64)
    ours.backward(gradient)
    theirs.backward(gradient)
    torch.testing.assert_close(ours_in.grad, theirs_in.grad, rtol=1e-6, atol=1e-7)


def test_gradient_to_alpha_agrees_with_the_package() -> None:
    logits = torch.randn(4, 12, generator=torch.Generator().manual_seed(3), dtype=F64)
    weigh = torch.randn(4, 12, generator=torch.Generator().manual_seed(4), dtype=F64)
    for value in (1.1, 1.5, 1.9):
        ours = torch.tensor(value, dtype=F64, requires_grad=True)
        theirs = torch.tensor(value, dtype=F64, requires_grad=True)
        (normalizers.get("entmax", alpha=ours)(logits) * weigh).sum().backward()
        bisected = entmax.entmax_bisect(logits, theirs, dim=-1, n_iter=100)  # pyright: ignore[reportArgumentType]
        (bisected * weigh).sum().backward()
        torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-6, atol=1e-8)


def test_gradcheck_in_logits_and_alpha_together() -> None:
    logits = torch.randn(3, 2, 5, generator=torch.Generator().manual_seed(5), dtype=F64)
    alpha = torch.tensor([[1.1], [1.5], [1.8]], dtype=F64, requires_grad=True)
    inputs = (logits.requires_grad_(), alpha)
    assert torch.autograd.gradcheck(lambda z, a: normalizers.get("entmax", alpha=a)(z), inputs)
    assert torch.autograd.gradgradcheck(lambda z, a: normalizers.get("entmax", alpha=a)(z), inputs)


def test_alpha_near_one_is_softmax_and_its_gradient_is_continuous() -> None:
    logits = 2 * torch.randn(3, 20, generator=torch.Generator().manual_seed(6), dtype=F64)
    weigh = torch.randn(3, 20, generator=torch.Generator().manual_seed(7), dtype=F64)
    gradients = []
    for excess in (0.0, 1e-12, 1e-8, 1e-5):
        alpha = torch.tensor(1.0 + excess, dtype=F64, requires_grad=True)
        weights = normalizers.get("entmax", alpha=alpha)(logits)
        close = max(1e-14, 100 * excess)
        expected = torch.softmax(logits, -1)
        torch.testing.assert_close(weights.detach(), expected, rtol=0, atol=close)
        (weights * weigh).sum().backward()
        gradients.append(float(alpha.grad))  # pyright: ignore[reportArgumentType]
    # ∂p/∂α at 1, from the second-order expansion of the formula.
    p = torch.softmax(logits, -1)
    drift = -p * p.log() ** 2 / 2
    exact = float(((drift - p * drift.sum(-1, keepdim=True)) * weigh).sum())
    assert gradients == pytest.approx([exact] * 4, rel=1e-2)
    assert gradients[:3] == pytest.approx([exact] * 3, rel=1e-5)


def test_fp32_near_one() -> None:
    logits = 2 * torch.randn(3, 20, generator=torch.Generator().manual_seed(6))
    for alpha in (1.0001, 1.001, 1.01):
        rule = normalizers.get("entmax", alpha=alpha)
        torch.testing.assert_close(rule(logits).double(), rule(logits.double()), rtol=0, atol=2e-6)


def test_alpha_two_is_sparsemax() -> None:
    logits = torch.randn(50, 30)
    ours = normalizers.get("entmax", alpha=2)(logits)
    assert torch.equal(ours, normalizers.get("sparsemax")(logits))


def test_a_learned_alpha_that_leaves_its_range_is_refused() -> None:
    alpha = torch.tensor([1.5, 1.9])
    rule = normalizers.get("entmax", alpha=alpha)
    alpha += 0.2
    with pytest.raises(InputError, match="alpha must be from 1"):
        rule(torch.zeros(2, 3))


def test_norm_of_two_equal_keys_and_the_slow_approach_to_one() -> None:
    for alpha in (1.25, 1.5, 1.75):
        rule = normalizers.get("entmax", alpha=alpha)
        two = torch.zeros(2, dtype=F64)
        assert float(rule.spectral_norm(two)) == pytest.approx(2 ** (alpha - 2))
        assert rule.jacobian_bound(2) == pytest.approx(2 ** (alpha - 2))
    rule = normalizers.get("entmax")
    for n, expected in ((64, 0.726), (1024, 0.869)):
        # One logit at distance d above n − 1 equal ones, the best d of a fine grid.
        gaps = torch.linspace(0, 2, 401, dtype=F64)[:, None]
        logits = torch.cat([gaps, torch.zeros(401, n - 1, dtype=F64)], dim=1)
        assert float(rule.spectral_norm(logits).max()) == pytest.approx(expected, abs=6e-4)


def test_many_candidates_and_slow_supports() -> None:
    """Rows made to shrink the support one key at a time."""
    keys = 200
    logits = torch.stack(
        [
            -(0.5 ** torch.arange(keys, dtype=F64)),
            -torch.arange(keys, dtype=F64) / keys,
            -((torch.arange(keys, dtype=F64) / keys) ** 4),
        ]
    )
    for alpha in (1.0, 1.1, 1.5, 1.9, 2.0):
        weights = normalizers.get("entmax", alpha=alpha)(logits)
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, dtype=F64), rtol=0, atol=1e-12)


def test_sparsemax_golden_values() -> None:
    weights = normalizers.get("sparsemax")(torch.tensor([-2.0, 0.0, 0.5], dtype=F64))
    torch.testing.assert_close(weights, torch.tensor([0, 0.25, 0.75], dtype=F64))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=40))
def test_sparsemax_agreement_with_the_entmax_package(values: list[float]) -> None:
    logits = torch.tensor(values, dtype=F64)
    ours, theirs = normalizers.get("sparsemax")(logits), entmax.sparsemax(logits, dim=-1)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def test_sparsemax_gradient_agrees_with_the_entmax_package() -> None:
    logits = torch.randn(20, 33, generator=torch.Generator().manual_seed(0), dtype=F64)
    gradient = torch.randn(20, 33, generator=torch.Generator().manual_seed(1), dtype=F64)
    ours, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    normalizers.get("sparsemax")(ours).backward(gradient)
    entmax.sparsemax(theirs, dim=-1).backward(gradient)
    torch.testing.assert_close(ours.grad, theirs.grad)


def test_sparsemax_norm_is_one_or_zero() -> None:
    rule = normalizers.get("sparsemax")
    logits = torch.tensor([[0.0, 0.5, -9.0], [0.0, 5.0, -9.0]], dtype=F64)
    assert rule.spectral_norm(logits).tolist() == [1.0, 0.0]
    assert rule.jacobian_bound(3) == 1.0


def test_asentmax_is_entmax_of_scaled_logits() -> None:
    logits = torch.randn(4, 9, dtype=F64)
    factor = 1.2 + 0.5 * math.log(9) ** 0.8
    ours = normalizers.get("asentmax", beta=0.5, gamma=0.8, delta=1.2)(logits)
    torch.testing.assert_close(ours, normalizers.get("entmax")(factor * logits))


def test_asentmax_parameters_from_the_queries_get_gradients() -> None:
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


def test_asentmax_gradcheck_in_its_parameters() -> None:
    logits = torch.randn(2, 3, 6, generator=torch.Generator().manual_seed(0), dtype=F64)
    inputs = [torch.full((3,), value, dtype=F64, requires_grad=True) for value in (0.5, -0.7, 1.1)]
    assert torch.autograd.gradcheck(
        lambda b, g, d: normalizers.get("asentmax", beta=b, gamma=g, delta=d)(logits), inputs
    )
