"""LSSA and LSSAR."""

import math

import pytest
import torch

from headgauge import normalizers

F64 = torch.float64
LSSA = normalizers.get("lssa", dim=32)
LSSAR = normalizers.get("lssar", dim=32, power=4)


def test_lssa_formula() -> None:
    cosines = torch.tensor([-0.9, -0.1, 0.4, 0.8], dtype=F64)
    raised = torch.log1p(torch.exp(math.log(32) * math.log(4) * cosines))
    torch.testing.assert_close(LSSA(cosines), raised / raised.sum())


def test_lssa_far_below_zero_it_is_softmax() -> None:
    cosines = torch.tensor([-1e4, -1e4 + 0.3, -2e4], dtype=F64)
    expected = torch.softmax(math.log(32) * math.log(3) * cosines, -1)
    torch.testing.assert_close(LSSA(cosines), expected)


def test_lssa_no_step_where_the_two_formulas_meet() -> None:
    edge = -18 / (math.log(32) * math.log(2))
    offsets = torch.tensor([-1e-9, 1e-9], dtype=F64)
    logits = torch.stack([edge + offsets, torch.full_like(offsets, edge + 0.1)], dim=-1)
    weights = LSSA(logits)
    slope = LSSA.jacobian(logits).dense()[0, 0, 0]
    step = float(weights[1, 0] - weights[0, 0])
    assert step == pytest.approx(float(slope) * 2e-9, rel=1e-5)


def test_lssa_bound_is_approached_far_below_zero() -> None:
    logits = torch.tensor([-50.0, -50.0, -60.0], dtype=F64)
    bound = math.log(32) * math.log(3) / 2
    assert LSSA.jacobian_bound(3) == pytest.approx(bound)
    assert float(LSSA.spectral_norm(logits)) == pytest.approx(bound, rel=1e-6)


def test_lssar_formula_on_the_weights_of_lssa() -> None:
    cosines = torch.randn(6, 9, generator=torch.Generator().manual_seed(0), dtype=F64)
    first = normalizers.get("lssa", dim=32)(cosines)
    raised = (9 * first - 1).relu() ** 4
    torch.testing.assert_close(LSSAR(cosines), raised / raised.sum(-1, keepdim=True))
    assert ((LSSAR(cosines) == 0) == (first <= 1 / 9)).all()


def test_lssar_a_flat_row_and_a_single_key_keep_the_first_stage() -> None:
    for dtype in (torch.float32, F64, torch.bfloat16):
        for n in (1, 2, 3, 7, 49):
            logits = torch.full((n,), 0.3, dtype=dtype, requires_grad=True)
            weights = LSSAR(logits)
            torch.testing.assert_close(weights, torch.full_like(weights, 1 / n))
            weights[0].backward()
            assert logits.grad is not None
            assert logits.grad.abs().max() < 10


def test_lssar_a_large_power_neither_overflows_nor_vanishes() -> None:
    rule = normalizers.get("lssar", power=200)
    logits = torch.tensor([0.1, 0.11, -0.2, 0.0])
    weights = rule(logits)
    assert weights.isfinite().all()
    assert weights.argmax() == 1
    assert float(weights.sum()) == 1.0
