import pytest
import torch

from headgauge import normalizers

F64 = torch.float64


def test_golden_values() -> None:
    weights = normalizers.get("softmax")(torch.tensor([-2.0, 0.0, 0.5]))
    torch.testing.assert_close(weights, torch.tensor([0.0486, 0.3592, 0.5922]), rtol=0, atol=5e-5)


def test_norm_of_two_tied_logits_above_the_rest() -> None:
    logits = torch.tensor([0.0, 0.0] + [-20.0] * 8, dtype=F64)
    for temperature in (0.5, 1.0, 2.0):
        rule = normalizers.get("softmax", temperature=temperature)
        norm = rule.spectral_norm(logits * temperature)
        assert float(norm) * temperature == pytest.approx(0.49999999587769, abs=1e-14)
        assert rule.jacobian_bound(10) == 1 / (2 * temperature)


def test_temperature_per_head_and_its_gradient() -> None:
    logits = torch.randn(2, 3, 4, 5, dtype=F64)
    temperature = torch.tensor([[0.5], [1.0], [2.0]], dtype=F64, requires_grad=True)
    weights = normalizers.get("softmax", temperature=temperature)(logits)
    for head in range(3):
        expected = torch.softmax(logits[:, head] / temperature[head].item(), dim=-1)
        torch.testing.assert_close(weights[:, head].detach(), expected)
    assert torch.autograd.gradcheck(
        lambda t: normalizers.get("softmax", temperature=t)(logits), temperature
    )


def test_masked_logits_agree_with_torch() -> None:
    logits = torch.randn(3, 6, 6)
    mask = torch.ones(6, 6, dtype=torch.bool).tril()
    expected = torch.softmax(logits.masked_fill(~mask, -torch.inf), dim=-1)
    assert torch.equal(normalizers.get("softmax")(logits, mask), expected)
