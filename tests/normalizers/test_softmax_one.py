import torch

from headgauge import normalizers

F64 = torch.float64
RULE = normalizers.get("softmax_one")


def test_formula() -> None:
    logits = torch.tensor([-1.0, 0.0, 1.0], dtype=F64)
    torch.testing.assert_close(RULE(logits), logits.exp() / (1 + logits.exp().sum()))


def test_fades_to_nothing_and_becomes_softmax() -> None:
    logits = torch.randn(5, dtype=F64)
    assert RULE(logits - 50).sum() < 1e-18
    torch.testing.assert_close(RULE(logits + 50), torch.softmax(logits, -1))
    assert RULE(torch.tensor([1e4, -1e4])).tolist() == [1.0, 0.0]


def test_bound_is_approached() -> None:
    norms = RULE.spectral_norm(torch.tensor([[2.0, 2.0], [9.0, 9.0], [20.0, 20.0]], dtype=F64))
    assert (norms < 0.5).all()
    assert norms[-1] > 0.499999
    assert float(RULE.spectral_norm(torch.zeros(1, dtype=F64))) == 0.25 == RULE.jacobian_bound(1)
