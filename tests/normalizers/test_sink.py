"""The sink and softmax-1."""

import torch

from headgauge import normalizers

F64 = torch.float64
ONE = normalizers.get("softmax_one")


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
