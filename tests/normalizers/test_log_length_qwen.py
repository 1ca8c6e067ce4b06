import math

import torch

from headgauge import normalizers

F64 = torch.float64
RULE = normalizers.get("log_length_qwen", train_length=8)


def test_only_rows_beyond_the_training_length_are_scaled() -> None:
    logits = torch.randn(32, 32, dtype=F64)
    mask = torch.ones(32, 32, dtype=torch.bool).tril()
    n = torch.arange(1.0, 33, dtype=F64)[:, None]
    factor = (n.log() / math.log(8)).clamp(min=1)
    expected = torch.softmax((factor * logits).masked_fill(~mask, -torch.inf), -1)
    torch.testing.assert_close(RULE(logits, mask), expected)


def test_positions_replace_n() -> None:
    """A sliding window sees few keys, but the query stands far along."""
    logits = torch.randn(2, 4, dtype=F64)
    weights = RULE(logits, positions=torch.tensor([5, 64]))
    torch.testing.assert_close(weights[0], torch.softmax(logits[0], -1))
    torch.testing.assert_close(weights[1], torch.softmax(2 * logits[1], -1))
    norms = RULE.spectral_norm(logits, positions=torch.tensor([5, 64]))
    dense = RULE.jacobian(logits, positions=torch.tensor([5, 64])).dense()
    torch.testing.assert_close(norms, torch.linalg.matrix_norm(dense, 2))
