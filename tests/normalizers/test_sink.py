import torch

from headgauge import normalizers

F64 = torch.float64


def test_is_softmax_with_one_more_key_that_is_dropped() -> None:
    logits = torch.randn(2, 3, 4, 5, dtype=F64)
    sink = torch.tensor([[-2.0], [0.0], [900.0]], dtype=F64)
    longer = torch.cat([logits, sink[..., None].expand(2, 3, 4, 1)], dim=-1)
    expected = torch.softmax(longer, -1)[..., :-1]
    torch.testing.assert_close(normalizers.get("sink", sink=sink)(logits), expected)


def test_gradient_to_the_sink() -> None:
    logits = torch.randn(3, 4, 5, dtype=F64)
    mask = torch.ones(4, 5, dtype=torch.bool).tril()
    mask[2] = False
    sink = torch.tensor([[-1.0], [0.0], [1.0]], dtype=F64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: normalizers.get("sink", sink=s)(logits, mask), sink)


def test_default_is_softmax_one() -> None:
    logits = torch.randn(3, 5)
    assert torch.equal(normalizers.get("sink")(logits), normalizers.get("softmax_one")(logits))


def test_a_sink_that_takes_nothing_is_softmax() -> None:
    logits = torch.tensor([[1.0, 2.0, 0.5], [0.0, 0.0, 0.0]])
    mask = torch.tensor([[True, True, True], [False, False, False]])
    nothing = torch.tensor([-torch.inf, -torch.inf])
    weights = normalizers.get("sink", sink=nothing)(logits, mask)
    torch.testing.assert_close(weights[0], torch.softmax(logits[0], -1))
    assert (weights[1] == 0).all()
