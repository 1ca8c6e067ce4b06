import torch

from headgauge import normalizers

F64 = torch.float64


def test_is_divided_by_the_visible_keys() -> None:
    logits = torch.tensor([[4.0, -1.0, 2.0, 8.0]], dtype=F64)
    mask = torch.tensor([True, True, True, False])
    weights = normalizers.get("relu", exponent=2)(logits, mask)
    torch.testing.assert_close(weights, torch.tensor([[4.0, 0, 2, 0]], dtype=F64) / 9)


def test_bound_is_attained() -> None:
    rule = normalizers.get("relu", exponent=0.5)
    norm = rule.spectral_norm(torch.tensor([1.0, -1.0, -1.0, -1.0], dtype=F64))
    assert float(norm) == rule.jacobian_bound(4) == 0.5
    assert rule.spectral_norm(-torch.ones(4)) == 0
