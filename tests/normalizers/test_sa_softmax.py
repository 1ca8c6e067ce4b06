"""Self-adjusted softmax, plain and normalised."""

import pytest
import torch

from headgauge import normalizers

F64 = torch.float64
NORMALIZED = normalizers.get("sa_softmax_normalized")


def test_plain_formula_and_negative_weights() -> None:
    logits = torch.tensor([-1.0, 0.5, 2.0], dtype=F64)
    weights = normalizers.get("sa_softmax")(logits)
    torch.testing.assert_close(weights, logits * torch.softmax(logits, -1))
    assert weights[0] < 0


def test_plain_norm_grows_with_the_logits() -> None:
    rule = normalizers.get("sa_softmax")
    for a in (1.0, 10.0, 100.0):
        pair = float(rule.spectral_norm(torch.tensor([a, a], dtype=F64)))
        assert pair == pytest.approx(a / 2 + 0.5, rel=1e-9)
    assert float(rule.spectral_norm(torch.tensor([100.0, 100.0, 0.0], dtype=F64))) == (
        pytest.approx(50.5, abs=0.01)
    )


def test_normalized_formula_on_rows_of_each_sign() -> None:
    mixed = torch.tensor([-1.0, 0.5, 2.0], dtype=F64)
    for logits, share in (
        (mixed, (mixed + 1) / 3),
        (mixed + 2, (mixed + 2) / 4),
        (mixed - 3, (mixed + 1) / 4),
    ):
        torch.testing.assert_close(NORMALIZED(logits), share * torch.softmax(logits, -1))


def test_normalized_invisible_keys_do_not_move_the_ends() -> None:
    logits = torch.tensor([1.0, 2.0, -50.0, 70.0], dtype=F64)
    mask = torch.tensor([True, True, False, False])
    torch.testing.assert_close(NORMALIZED(logits, mask)[:2], NORMALIZED(logits[:2]))


def test_normalized_single_keys_and_the_jump_at_zero() -> None:
    assert NORMALIZED(torch.tensor([[3.0], [-3.0], [0.0]])).tolist() == [[1.0], [0.0], [0.0]]
    direction = torch.tensor([1.0, -0.5, 0.2], dtype=F64)
    near = NORMALIZED(1e-9 * torch.stack([direction, -direction]))
    assert (near[0] - near[1]).abs().max() > 0.2


def test_normalized_rows_sum_to_less_than_one() -> None:
    sums = NORMALIZED(torch.randn(1000, 10, generator=torch.Generator().manual_seed(0))).sum(-1)
    assert sums.max() <= 1
    assert sums.mean() < 0.9


def test_normalized_padding_takes_no_share_of_the_gradient() -> None:
    """At z_min = 0 the rule has a kink; hidden keys must not choose the side."""
    logits = torch.tensor([0.0, 1.0, 2.0], dtype=F64)
    mask = torch.tensor([True] * 3 + [False] * 3)
    plain = torch.autograd.functional.jacobian(NORMALIZED, logits)
    padded = torch.nn.functional.pad(logits, (0, 3))
    wide = torch.autograd.functional.jacobian(lambda z: NORMALIZED(z, mask), padded)
    torch.testing.assert_close(wide[:3, :3], plain)
    torch.testing.assert_close(NORMALIZED.jacobian(logits).dense(), plain)
