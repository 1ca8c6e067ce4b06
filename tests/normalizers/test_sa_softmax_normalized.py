import torch

from headgauge import normalizers

F64 = torch.float64
RULE = normalizers.get("sa_softmax_normalized")


def test_formula_on_rows_of_each_sign() -> None:
    mixed = torch.tensor([-1.0, 0.5, 2.0], dtype=F64)
    for logits, share in (
        (mixed, (mixed + 1) / 3),
        (mixed + 2, (mixed + 2) / 4),
        (mixed - 3, (mixed + 1) / 4),
    ):
        torch.testing.assert_close(RULE(logits), share * torch.softmax(logits, -1))


def test_invisible_keys_do_not_move_the_ends() -> None:
    logits = torch.tensor([1.0, 2.0, -50.0, 70.0], dtype=F64)
    mask = torch.tensor([True, True, False, False])
    torch.testing.assert_close(RULE(logits, mask)[:2], RULE(logits[:2]))


def test_single_keys_and_the_jump_at_zero() -> None:
    assert RULE(torch.tensor([[3.0], [-3.0], [0.0]])).tolist() == [[1.0], [0.0], [0.0]]
    direction = torch.tensor([1.0, -0.5, 0.2], dtype=F64)
    near = RULE(1e-9 * torch.stack([direction, -direction]))
    assert (near[0] - near[1]).abs().max() > 0.2


def test_rows_sum_to_less_than_one() -> None:
    sums = RULE(torch.randn(1000, 10, generator=torch.Generator().manual_seed(0))).sum(-1)
    assert sums.max() <= 1
    assert sums.mean() < 0.9


def test_padding_takes_no_share_of_the_gradient() -> None:
    """At z_min = 0 the rule has a kink; hidden keys must not choose the side."""
    logits = torch.tensor([0.0, 1.0, 2.0], dtype=F64)
    mask = torch.tensor([True] * 3 + [False] * 3)
    plain = torch.autograd.functional.jacobian(RULE, logits)
    padded = torch.nn.functional.pad(logits, (0, 3))
    wide = torch.autograd.functional.jacobian(lambda z: RULE(z, mask), padded)
    torch.testing.assert_close(wide[:3, :3], plain)
    torch.testing.assert_close(RULE.jacobian(logits).dense(), plain)
