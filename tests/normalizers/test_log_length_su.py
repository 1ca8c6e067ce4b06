import math

import torch

from headgauge import normalizers

F64 = torch.float64


def test_factor_is_one_at_the_training_length() -> None:
    logits = torch.randn(512, dtype=F64)
    rule = normalizers.get("log_length_su")
    torch.testing.assert_close(rule(logits), torch.softmax(logits, -1))
    expected = torch.softmax(logits[:64] * math.log(64) / math.log(512), -1)
    torch.testing.assert_close(rule(logits[:64]), expected)


def test_bound_is_attained() -> None:
    rule = normalizers.get("log_length_su", train_length=4)
    logits = torch.full((16,), -99.0, dtype=F64)
    logits[:2] = 0
    torch.testing.assert_close(rule.spectral_norm(logits), torch.tensor(1.0, dtype=F64))
    assert rule.jacobian_bound(16) == 1.0
