"""Sigmoid and ReLU."""

import torch

from headgauge import normalizers

F64 = torch.float64


def test_sigmoid_bias_is_minus_log_n_of_the_row() -> None:
    logits = torch.randn(4, 4, dtype=F64)
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    n = torch.arange(1.0, 5, dtype=F64)[:, None]
    expected = torch.sigmoid(logits - n.log()) * mask
    torch.testing.assert_close(normalizers.get("sigmoid")(logits, mask), expected)


def test_sigmoid_learned_bias_gets_a_gradient() -> None:
    logits = torch.randn(3, 4, 5, dtype=F64)
    bias = torch.randn(3, 1, dtype=F64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda b: normalizers.get("sigmoid", bias=b)(logits), bias)


def test_sigmoid_bound_is_attained_where_z_plus_b_is_zero() -> None:
    rule = normalizers.get("sigmoid")
    logits = torch.full((1, 7), 7.0, dtype=F64).log()
    torch.testing.assert_close(rule.spectral_norm(logits), torch.tensor([0.25], dtype=F64))
    assert rule.jacobian_bound(7) == 0.25


def test_relu_is_divided_by_the_visible_keys() -> None:
    logits = torch.tensor([[4.0, -1.0, 2.0, 8.0]], dtype=F64)
    mask = torch.tensor([True, True, True, False])
    weights = normalizers.get("relu", exponent=2)(logits, mask)
    torch.testing.assert_close(weights, torch.tensor([[4.0, 0, 2, 0]], dtype=F64) / 9)


def test_relu_bound_is_attained() -> None:
    rule = normalizers.get("relu", exponent=0.5)
    norm = rule.spectral_norm(torch.tensor([1.0, -1.0, -1.0, -1.0], dtype=F64))
    assert float(norm) == rule.jacobian_bound(4) == 0.5
    assert rule.spectral_norm(-torch.ones(4)) == 0
