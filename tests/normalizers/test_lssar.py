import torch

from headgauge import normalizers

F64 = torch.float64
RULE = normalizers.get("lssar", dim=32, power=4)


def test_formula_on_the_weights_of_lssa() -> None:
    cosines = torch.randn(6, 9, generator=torch.Generator().manual_seed(0), dtype=F64)
    first = normalizers.get("lssa", dim=32)(cosines)
    raised = (9 * first - 1).relu() ** 4
    torch.testing.assert_close(RULE(cosines), raised / raised.sum(-1, keepdim=True))
    assert ((RULE(cosines) == 0) == (first <= 1 / 9)).all()


def test_a_flat_row_and_a_single_key_keep_the_first_stage() -> None:
    for dtype in (torch.float32, F64, torch.bfloat16):
        for n in (1, 2, 3, 7, 49):
            logits = torch.full((n,), 0.3, dtype=dtype, requires_grad=True)
            weights = RULE(logits)
            torch.testing.assert_close(weights, torch.full_like(weights, 1 / n))
            weights[0].backward()
            assert logits.grad is not None
            assert logits.grad.abs().max() < 10


def test_a_large_power_neither_overflows_nor_vanishes() -> None:
    rule = normalizers.get("lssar", power=200)
    logits = torch.tensor([0.1, 0.11, -0.2, 0.0])
    weights = rule(logits)
    assert weights.isfinite().all()
    assert weights.argmax() == 1
    assert float(weights.sum()) == 1.0
