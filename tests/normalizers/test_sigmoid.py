import torch

from headgauge import normalizers

F64 = torch.float64


def test_bias_is_minus_log_n_of_the_row() -> None:
    logits = torch.randn(4, 4, dtype=F64)
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    n = torch.arange(1.0, 5, dtype=F64)[:, None]
    expected = torch.sigmoid(logits - n.log()) * mask
    torch.testing.assert_close(normalizers.get("sigmoid")(logits, mask), expected)


def test_learned_bias_gets_a_gradient() -> None:
    logits = torch.randn(3, 4, 5, dtype=F64)
    bias = torch.randn(3, 1, dtype=F64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda b: normalizers.get("sigmoid", bias=b)(logits), bias)


def test_bound_is_attained_where_z_plus_b_is_zero() -> None:
    rule = normalizers.get("sigmoid")
    logits = torch.full((1, 7), 7.0, dtype=F64).log()
    torch.testing.assert_close(rule.spectral_norm(logits), torch.tensor([0.25], dtype=F64))
    assert rule.jacobian_bound(7) == 0.25
