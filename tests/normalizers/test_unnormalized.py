"""Sigmoid, ReLU, softmax-1 and the sink, softpick."""

import pytest
import torch

from headgauge import normalizers

F64 = torch.float64
ONE = normalizers.get("softmax_one")
PICK = normalizers.get("softpick")


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


def test_sink_is_softmax_with_one_more_key_that_is_dropped() -> None:
    logits = torch.randn(2, 3, 4, 5, dtype=F64)
    sink = torch.tensor([[-2.0], [0.0], [900.0]], dtype=F64)
    longer = torch.cat([logits, sink[..., None].expand(2, 3, 4, 1)], dim=-1)
    expected = torch.softmax(longer, -1)[..., :-1]
    torch.testing.assert_close(normalizers.get("sink", sink=sink)(logits), expected)


def test_sink_gradient_to_the_sink() -> None:
    logits = torch.randn(3, 4, 5, dtype=F64)
    mask = torch.ones(4, 5, dtype=torch.bool).tril()
    mask[2] = False
    sink = torch.tensor([[-1.0], [0.0], [1.0]], dtype=F64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: normalizers.get("sink", sink=s)(logits, mask), sink)


def test_sink_default_is_softmax_one() -> None:
    logits = torch.randn(3, 5)
    assert torch.equal(normalizers.get("sink")(logits), normalizers.get("softmax_one")(logits))


def test_sink_a_sink_that_takes_nothing_is_softmax() -> None:
    logits = torch.tensor([[1.0, 2.0, 0.5], [0.0, 0.0, 0.0]])
    mask = torch.tensor([[True, True, True], [False, False, False]])
    nothing = torch.tensor([-torch.inf, -torch.inf])
    weights = normalizers.get("sink", sink=nothing)(logits, mask)
    torch.testing.assert_close(weights[0], torch.softmax(logits[0], -1))
    assert (weights[1] == 0).all()


def test_one_formula() -> None:
    logits = torch.tensor([-1.0, 0.0, 1.0], dtype=F64)
    torch.testing.assert_close(ONE(logits), logits.exp() / (1 + logits.exp().sum()))


def test_one_fades_to_nothing_and_becomes_softmax() -> None:
    logits = torch.randn(5, dtype=F64)
    assert ONE(logits - 50).sum() < 1e-18
    torch.testing.assert_close(ONE(logits + 50), torch.softmax(logits, -1))
    assert ONE(torch.tensor([1e4, -1e4])).tolist() == [1.0, 0.0]


def test_one_bound_is_approached() -> None:
    norms = ONE.spectral_norm(torch.tensor([[2.0, 2.0], [9.0, 9.0], [20.0, 20.0]], dtype=F64))
    assert (norms < 0.5).all()
    assert norms[-1] > 0.499999
    assert float(ONE.spectral_norm(torch.zeros(1, dtype=F64))) == 0.25 == ONE.jacobian_bound(1)


def test_softpick_formula() -> None:
    logits = torch.tensor([-1.0, 0.0, 0.3, 2.0], dtype=F64)
    raised = logits.exp() - 1
    torch.testing.assert_close(PICK(logits), raised.relu() / (raised.abs().sum() + 1e-6))


def test_softpick_small_and_large_logits_keep_their_digits() -> None:
    small = torch.tensor([1e-12, 2e-12], dtype=F64)
    rule = normalizers.get("softpick", epsilon=0)
    torch.testing.assert_close(
        rule(small), torch.tensor([1 / 3, 2 / 3], dtype=F64), rtol=1e-9, atol=0
    )
    torch.testing.assert_close(rule(small.float()), torch.tensor([1 / 3, 2 / 3]))
    assert PICK(torch.tensor([1e4, -1e4, 1e4])).tolist() == [0.5, 0.0, 0.5]


def test_softpick_epsilon_shrinks_with_the_rest() -> None:
    rule = normalizers.get("softpick", epsilon=0.1)
    logits = torch.tensor([5.0, 4.0], dtype=F64)
    raised = logits.exp() - 1
    torch.testing.assert_close(rule(logits), raised / (raised.sum() + 0.1))


def test_softpick_nothing_to_pick() -> None:
    assert PICK(torch.tensor([-1.0, 0.0])).tolist() == [0.0, 0.0]
    assert normalizers.get("softpick", epsilon=0)(torch.zeros(3)).tolist() == [0.0] * 3


def test_softpick_the_jump_at_zero() -> None:
    norms = PICK.spectral_norm(torch.tensor([[1e-9, -1e-9], [1e-3, -1e-3]], dtype=F64))
    assert float(norms[0]) == pytest.approx(1e6, rel=0.01)
    assert norms[1] > 100
    assert normalizers.get("softpick", epsilon=0).jacobian_bound(2) == float("inf")
