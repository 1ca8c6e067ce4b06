import math

import pytest
import torch

from headgauge import normalizers

F64 = torch.float64


@pytest.mark.parametrize(
    ("n", "softmax", "ssmax", "digits"),
    [
        (10, 0.9428, 0.9401, 5e-5),
        (100, 0.5999, 0.9951, 5e-5),
        (1000, 0.1293, 0.9996, 5e-5),
        (10_000, 0.0146, 0.99997, 5e-6),
    ],
)
def test_the_fading_of_the_largest_weight(n, softmax, ssmax, digits) -> None:
    logits = torch.full((n,), -2.0, dtype=F64)
    logits[n // 2] = 3.0
    assert float(normalizers.get("softmax")(logits).max()) == pytest.approx(softmax, abs=5e-5)
    assert float(normalizers.get("ssmax", s=0.43)(logits).max()) == pytest.approx(ssmax, abs=digits)


def test_threshold_at_s_times_the_gap_equal_to_one() -> None:
    def winner(n: int, gap: float) -> float:
        logits = torch.zeros(n, dtype=F64)
        logits[0] = gap
        return float(normalizers.get("ssmax", s=0.5)(logits)[0])

    assert winner(100_000, 3.0) > 0.99
    assert winner(100_000, 2.0) == pytest.approx(0.5, abs=1e-5)
    assert winner(100_000, 1.0) < 0.01


def test_bound_is_attained_and_grows_with_n() -> None:
    rule = normalizers.get("ssmax", s=2.0, b=0.5)
    for n in (2, 8, 64):
        logits = torch.full((n,), -100.0, dtype=F64)
        logits[:2] = 0
        bound = (2 * math.log(n) + 0.5) / 2
        assert rule.jacobian_bound(n) == pytest.approx(bound)
        assert float(rule.spectral_norm(logits)) == pytest.approx(bound)


def test_gradients_to_s_and_b_with_masked_garbage() -> None:
    logits = torch.randn(2, 3, 4, 5, dtype=F64)
    logits[..., 3] = -torch.inf
    logits[..., 4] = torch.nan
    mask = torch.tensor([True, True, True, True, False])
    s = torch.rand(3, 1, dtype=F64, requires_grad=True)
    b = torch.rand(3, 1, dtype=F64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda s, b: normalizers.get("ssmax", s=s, b=b)(logits, mask), (s, b)
    )
