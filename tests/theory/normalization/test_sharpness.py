import math

import pytest
import torch

from headgauge.theory.normalization import sharpness


def brute_force(logits: list[float]) -> float:
    """sup over a fine grid and just beyond each jump."""
    gaps = [max(logits) - value for value in logits]
    points = [gap for gap in gaps if gap > 0] + [k / 1000 for k in range(1, 20_000)]
    return max(math.log(sum(gap <= t for gap in gaps)) / t for t in points)


def test_lambda_is_its_definition():
    source = torch.Generator().manual_seed(0)
    for length in (2, 5, 40):
        logits = 2 * torch.randn(length, dtype=torch.float64, generator=source)
        got = sharpness.critical_inverse_temperature(logits).item()
        assert got == pytest.approx(brute_force(logits.tolist()), rel=1e-12)


@pytest.mark.parametrize(("length", "cosine"), [(16, 0.2), (1000, 0.7)])
def test_equiangular_tokens(length, cosine):
    logits = torch.full((length,), cosine, dtype=torch.float64)
    logits[0] = 1.0
    got = sharpness.critical_inverse_temperature(logits)
    assert got.item() == pytest.approx(math.log(length) / (1 - cosine))


def test_a_tie_is_never_sharp_and_a_single_key_always():
    tie = torch.tensor([2.0, 2.0, -1.0])
    assert sharpness.critical_inverse_temperature(tie).isinf()
    assert sharpness.sharpness(tie) == 0
    assert sharpness.sharpness(torch.tensor([3.0])).isinf()


def test_both_zeros_tie():
    for zeros in ([0.0, -0.0, -3.0], [-0.0, 0.0, -3.0]):
        assert sharpness.critical_inverse_temperature(torch.tensor(zeros)) == torch.inf


def test_the_ratio_scales_with_the_temperature():
    logits = torch.tensor([[3.0, 1.0, 0.0], [0.5, 0.2, 0.1]], dtype=torch.float64)
    warm, cold = sharpness.sharpness(logits, 1.0), sharpness.sharpness(logits, 0.1)
    assert torch.allclose(cold, 10 * warm)
    assert torch.allclose(sharpness.sharpness(logits / 0.1), cold)
