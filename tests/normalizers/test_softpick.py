import pytest
import torch

from headgauge import normalizers

F64 = torch.float64
RULE = normalizers.get("softpick")


def test_formula() -> None:
    logits = torch.tensor([-1.0, 0.0, 0.3, 2.0], dtype=F64)
    raised = logits.exp() - 1
    torch.testing.assert_close(RULE(logits), raised.relu() / (raised.abs().sum() + 1e-6))


def test_small_and_large_logits_keep_their_digits() -> None:
    small = torch.tensor([1e-12, 2e-12], dtype=F64)
    rule = normalizers.get("softpick", epsilon=0)
    torch.testing.assert_close(
        rule(small), torch.tensor([1 / 3, 2 / 3], dtype=F64), rtol=1e-9, atol=0
    )
    torch.testing.assert_close(rule(small.float()), torch.tensor([1 / 3, 2 / 3]))
    assert RULE(torch.tensor([1e4, -1e4, 1e4])).tolist() == [0.5, 0.0, 0.5]


def test_epsilon_shrinks_with_the_rest() -> None:
    rule = normalizers.get("softpick", epsilon=0.1)
    logits = torch.tensor([5.0, 4.0], dtype=F64)
    raised = logits.exp() - 1
    torch.testing.assert_close(rule(logits), raised / (raised.sum() + 0.1))


def test_nothing_to_pick() -> None:
    assert RULE(torch.tensor([-1.0, 0.0])).tolist() == [0.0, 0.0]
    assert normalizers.get("softpick", epsilon=0)(torch.zeros(3)).tolist() == [0.0] * 3


def test_the_jump_at_zero() -> None:
    norms = RULE.spectral_norm(torch.tensor([[1e-9, -1e-9], [1e-3, -1e-3]], dtype=F64))
    assert float(norms[0]) == pytest.approx(1e6, rel=0.01)
    assert norms[1] > 100
    assert normalizers.get("softpick", epsilon=0).jacobian_bound(2) == float("inf")
