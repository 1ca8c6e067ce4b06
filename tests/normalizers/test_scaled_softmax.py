"""Softmax, SSMax, the laws of the length, top-k, adaptive temperature."""

import math

import numpy as np
import pytest
import torch

from headgauge import normalizers
from headgauge.normalizers.scaled_softmax import inverse_temperature

F64 = torch.float64
QWEN = normalizers.get("log_length_qwen", train_length=8)


def test_softmax_golden_values() -> None:
    weights = normalizers.get("softmax")(torch.tensor([-2.0, 0.0, 0.5]))
    torch.testing.assert_close(weights, torch.tensor([0.0486, 0.3592, 0.5922]), rtol=0, atol=5e-5)


def test_softmax_norm_of_two_tied_logits_above_the_rest() -> None:
    logits = torch.tensor([0.0, 0.0] + [-20.0] * 8, dtype=F64)
    for temperature in (0.5, 1.0, 2.0):
        rule = normalizers.get("softmax", temperature=temperature)
        norm = rule.spectral_norm(logits * temperature)
        assert float(norm) * temperature == pytest.approx(0.49999999587769, abs=1e-14)
        assert rule.jacobian_bound(10) == 1 / (2 * temperature)


def test_softmax_temperature_per_head_and_its_gradient() -> None:
    logits = torch.randn(2, 3, 4, 5, dtype=F64)
    temperature = torch.tensor([[0.5], [1.0], [2.0]], dtype=F64, requires_grad=True)
    weights = normalizers.get("softmax", temperature=temperature)(logits)
    for head in range(3):
        expected = torch.softmax(logits[:, head] / temperature[head].item(), dim=-1)
        torch.testing.assert_close(weights[:, head].detach(), expected)
    assert torch.autograd.gradcheck(
        lambda t: normalizers.get("softmax", temperature=t)(logits), temperature
    )


def test_softmax_masked_logits_agree_with_torch() -> None:
    logits = torch.randn(3, 6, 6)
    mask = torch.ones(6, 6, dtype=torch.bool).tril()
    expected = torch.softmax(logits.masked_fill(~mask, -torch.inf), dim=-1)
    assert torch.equal(normalizers.get("softmax")(logits, mask), expected)


@pytest.mark.parametrize(
    ("n", "softmax", "ssmax", "digits"),
    [
        (10, 0.9428, 0.9401, 5e-5),
        (100, 0.5999, 0.9951, 5e-5),
        (1000, 0.1293, 0.9996, 5e-5),
        (10_000, 0.0146, 0.99997, 5e-6),
    ],
)
def test_ssmax_the_fading_of_the_largest_weight(n, softmax, ssmax, digits) -> None:
    logits = torch.full((n,), -2.0, dtype=F64)
    logits[n // 2] = 3.0
    assert float(normalizers.get("softmax")(logits).max()) == pytest.approx(softmax, abs=5e-5)
    assert float(normalizers.get("ssmax", s=0.43)(logits).max()) == pytest.approx(ssmax, abs=digits)


def test_ssmax_threshold_at_s_times_the_gap_equal_to_one() -> None:
    def winner(n: int, gap: float) -> float:
        logits = torch.zeros(n, dtype=F64)
        logits[0] = gap
        return float(normalizers.get("ssmax", s=0.5)(logits)[0])

    assert winner(100_000, 3.0) > 0.99
    assert winner(100_000, 2.0) == pytest.approx(0.5, abs=1e-5)
    assert winner(100_000, 1.0) < 0.01


def test_ssmax_bound_is_attained_and_grows_with_n() -> None:
    rule = normalizers.get("ssmax", s=2.0, b=0.5)
    for n in (2, 8, 64):
        logits = torch.full((n,), -100.0, dtype=F64)
        logits[:2] = 0
        bound = (2 * math.log(n) + 0.5) / 2
        assert rule.jacobian_bound(n) == pytest.approx(bound)
        assert float(rule.spectral_norm(logits)) == pytest.approx(bound)


def test_ssmax_gradients_to_s_and_b_with_masked_garbage() -> None:
    logits = torch.randn(2, 3, 4, 5, dtype=F64)
    logits[..., 3] = -torch.inf
    logits[..., 4] = torch.nan
    mask = torch.tensor([True, True, True, True, False])
    s = torch.rand(3, 1, dtype=F64, requires_grad=True)
    b = torch.rand(3, 1, dtype=F64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda s, b: normalizers.get("ssmax", s=s, b=b)(logits, mask), (s, b)
    )


def test_su_factor_is_one_at_the_training_length() -> None:
    logits = torch.randn(512, dtype=F64)
    rule = normalizers.get("log_length_su")
    torch.testing.assert_close(rule(logits), torch.softmax(logits, -1))
    expected = torch.softmax(logits[:64] * math.log(64) / math.log(512), -1)
    torch.testing.assert_close(rule(logits[:64]), expected)


def test_su_bound_is_attained() -> None:
    rule = normalizers.get("log_length_su", train_length=4)
    logits = torch.full((16,), -99.0, dtype=F64)
    logits[:2] = 0
    torch.testing.assert_close(rule.spectral_norm(logits), torch.tensor(1.0, dtype=F64))
    assert rule.jacobian_bound(16) == 1.0


def test_qwen_only_rows_beyond_the_training_length_are_scaled() -> None:
    logits = torch.randn(32, 32, dtype=F64)
    mask = torch.ones(32, 32, dtype=torch.bool).tril()
    n = torch.arange(1.0, 33, dtype=F64)[:, None]
    factor = (n.log() / math.log(8)).clamp(min=1)
    expected = torch.softmax((factor * logits).masked_fill(~mask, -torch.inf), -1)
    torch.testing.assert_close(QWEN(logits, mask), expected)


def test_qwen_positions_replace_n() -> None:
    """A sliding window sees few keys, but the query stands far along."""
    logits = torch.randn(2, 4, dtype=F64)
    weights = QWEN(logits, positions=torch.tensor([5, 64]))
    torch.testing.assert_close(weights[0], torch.softmax(logits[0], -1))
    torch.testing.assert_close(weights[1], torch.softmax(2 * logits[1], -1))
    norms = QWEN.spectral_norm(logits, positions=torch.tensor([5, 64]))
    dense = QWEN.jacobian(logits, positions=torch.tensor([5, 64])).dense()
    torch.testing.assert_close(norms, torch.linalg.matrix_norm(dense, 2))


@pytest.mark.parametrize(("scale", "factor"), [(1, 1.0), (0.5, 1.0), (math.e**2, 1.44)])
def test_yarn_factor(scale: float, factor: float) -> None:
    logits = torch.randn(3, 9, dtype=F64)
    rule = normalizers.get("log_length_yarn", scale=scale)
    torch.testing.assert_close(rule(logits), torch.softmax(factor * logits, -1))
    assert rule.jacobian_bound(9) == pytest.approx(factor / 2)


def test_topk_keeps_the_largest_and_the_first_of_the_tied() -> None:
    logits = torch.tensor([[1.0, 3.0, 2.0, 3.0, 3.0, 2.0]])
    kept = normalizers.get("topk", k=2)(logits) > 0
    assert kept.tolist() == [[False, True, False, True, False, False]]
    kept = normalizers.get("topk", k=4)(logits) > 0
    assert kept.tolist() == [[False, True, True, True, True, False]]
    assert (normalizers.get("topk", k=2)(torch.zeros(5)) > 0).tolist() == [True, True] + [False] * 3


@pytest.mark.parametrize("k", [1, 3, 5, 50])
def test_topk_agrees_with_a_full_sort(k: int) -> None:
    logits = torch.randint(-3, 3, (40, 12), generator=torch.Generator().manual_seed(0)).to(F64)
    mask = torch.rand(40, 12, generator=torch.Generator().manual_seed(1)) > 0.3
    order = logits.masked_fill(~mask, -torch.inf).sort(dim=-1, descending=True, stable=True).indices
    rank = order.argsort(dim=-1)
    kept = mask & (rank < k)
    expected = torch.softmax(logits.masked_fill(~kept, -torch.inf) / 0.7, dim=-1).nan_to_num()
    torch.testing.assert_close(
        normalizers.get("topk", k=k, temperature=0.7)(logits, mask), expected
    )


def test_topk_bound_is_attained_inside_a_cell() -> None:
    rule = normalizers.get("topk", k=2, temperature=0.25)
    norm = rule.spectral_norm(torch.tensor([1.0, 1.0, 0.9], dtype=F64))
    assert float(norm) == pytest.approx(2.0)
    assert rule.jacobian_bound(3) == 2.0
    assert normalizers.get("topk", k=1).jacobian_bound(3) == 0.0


def test_adaptive_sharpens_between_two_entropies_and_peaks_between() -> None:
    entropy = torch.linspace(0, 9, 90_001, dtype=F64)
    beta = inverse_temperature(entropy)
    assert (beta >= 1).all()
    active = entropy[beta > 1]
    assert float(active.min()) == pytest.approx(0.849, abs=1e-3)
    assert float(active.max()) == pytest.approx(5.945, abs=1e-3)
    assert float(beta.max()) == pytest.approx(2.42, abs=5e-3)
    assert float(entropy[beta.argmax()]) == pytest.approx(4.41, abs=5e-3)


def test_adaptive_weights_on_a_row() -> None:
    logits = torch.randn(30, generator=torch.Generator().manual_seed(0), dtype=F64)
    p = torch.softmax(logits, -1)
    entropy = float(-(p * p.log()).sum())
    beta = max(float(np.polyval([-0.037, 0.481, -2.3, 4.917, -1.791], entropy)), 1.0)
    assert beta > 1.5
    weights = normalizers.get("adaptive_temperature")(logits)
    torch.testing.assert_close(weights, torch.softmax(beta * logits, -1))


def test_adaptive_a_peaked_row_is_left_alone() -> None:
    logits = torch.tensor([5.0, 0.0, 0.0], dtype=F64)
    weights = normalizers.get("adaptive_temperature")(logits)
    torch.testing.assert_close(weights, torch.softmax(logits, -1))


def test_adaptive_gradient_flows_through_beta() -> None:
    rule = normalizers.get("adaptive_temperature")
    logits = torch.randn(30, generator=torch.Generator().manual_seed(0), dtype=F64)
    jacobian = rule.jacobian(logits)
    assert jacobian.terms[1][1].abs().max() > 0.01
