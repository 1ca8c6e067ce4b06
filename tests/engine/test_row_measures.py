import itertools
import math

import numpy as np
import pytest
import torch

from headgauge import engine
from headgauge.theory.normalization import concentration, sensitivity, sharpness

from .conftest import WEIGHTS


def test_every_kind_of_rows_against_theory(make, mask, path, unchecked):
    weights, _, visible = make(WEIGHTS, "random", mask)
    found = engine.row_measures(weights, visible)
    seen = torch.ones_like(weights, dtype=torch.bool) if visible is None else visible
    for row, keys in enumerate(seen):
        if not keys.any():
            assert all(np.isnan(numbers[row]) for numbers in vars(found).values())
            continue
        a = weights[row][keys]
        for got, wanted in (
            (found.entropy[row], concentration.entropy(a)),
            (found.effective_n[row], concentration.effective_n(a)),
            (found.jacobian_norm[row], sensitivity.spectral_norm(a)),
        ):
            assert got == pytest.approx(float(wanted), rel=1e-11, abs=1e-300, nan_ok=True)
        assert found.sink_weight[row] == (weights[row, 0] if keys[0] else 0.0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_logits_against_theory(make, mask, path, dtype):
    weights, _, visible = make(("random",), "random", mask)
    source = torch.Generator().manual_seed(2)
    logits = torch.randn(weights.shape, generator=source, dtype=dtype)
    logits[2] = logits[2].round()  # ties at the top
    found = engine.row_measures(weights, visible, logits=logits)
    seen = torch.ones_like(weights, dtype=torch.bool) if visible is None else visible
    for row, keys in enumerate(seen):
        if keys.any():
            z = logits[row][keys].double()
            assert found.max_logit[row] == float(z.max())
            assert found.sharpness[row] == pytest.approx(float(sharpness.sharpness(z)), rel=1e-12)
        else:
            assert np.isnan(found.sharpness[row])


def test_the_largest_logit_is_taken_before_a_softcap(path):
    weights = torch.full((1, 3), 1 / 3)
    capped, before = torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[1.0, 2.0, 30.0]])
    found = engine.row_measures(weights, logits=capped, uncapped=before)
    assert found.max_logit == [30.0]
    assert found.sharpness == pytest.approx([1 / math.log(2)], rel=1e-6)


def test_the_jacobian_of_long_rows_is_the_dense_one(path):
    source = torch.Generator().manual_seed(0)
    logits = torch.randn(40, 60, dtype=torch.float64, generator=source)
    logits = logits * torch.logspace(-2, 2, 40, dtype=torch.float64)[:, None]
    weights = torch.softmax(logits, -1)
    dense = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None, :]
    wanted = torch.linalg.matrix_norm(dense, 2).numpy()
    assert np.allclose(engine.row_measures(weights).jacobian_norm, wanted, rtol=1e-9, atol=1e-15)


def test_float32_weights_lose_nothing(path, unchecked):
    """Held against theory in float64 on the same weights, from flat to nearly one-hot, also with a
    sink's share missing."""
    source = torch.Generator().manual_seed(7)
    visible = torch.arange(300) <= torch.arange(10, 300, 20)[:, None]
    logits = torch.randn(visible.shape, generator=source)
    for scale, share in itertools.product((0.0, 1e-3, 1.0, 5.0, 30.0), (1.0, 0.999, 0.4)):
        weights = torch.softmax((scale * logits).masked_fill(~visible, -torch.inf), -1) * share
        found = engine.row_measures(weights, visible)
        for row, keys in enumerate(visible):
            a = weights[row][keys].double()
            entropy, norm = float(concentration.entropy(a)), float(sensitivity.spectral_norm(a))
            assert found.entropy[row] == pytest.approx(entropy, rel=1e-12, abs=0)
            assert found.jacobian_norm[row] == pytest.approx(norm, rel=1e-11, abs=0, nan_ok=True)


@pytest.mark.parametrize("rest", [1e-3, 1e-9, 1e-30, 1e-200])
def test_nearly_one_hot_rows_keep_their_digits(path, rest):
    dtype = torch.float64 if rest < 1e-38 else torch.float32
    others = torch.linspace(0.2, 1.0, 40, dtype=torch.float64) * rest
    weights = torch.cat([others, 1 - others.sum().reshape(1)]).to(dtype).reshape(1, -1)
    found, a = engine.row_measures(weights), weights[0].double()
    exact = sum((-p * math.log(p) for p in a.tolist()), start=0.0)
    assert found.entropy == pytest.approx([exact], rel=1e-12, abs=0)
    wanted = float(sensitivity.spectral_norm(a))
    assert found.jacobian_norm == pytest.approx([wanted], rel=1e-11, abs=0)


def test_the_second_weight_may_be_tied_or_alone(path):
    weights = torch.tensor(
        [
            [0.4, 0.2, 0.2, 0.2, 0.0],
            [0.4, 0.4, 0.1, 0.1, 0.0],
            [0.7, 0.3, 0.0, 0.0, 0.0],
            [0.7, 0.0, 0.0, 0.0, -0.0],
            [1.0, 0.0, 0.0, -0.0, 0.0],
        ],
        dtype=torch.float64,
    )
    found = engine.row_measures(weights)
    dense = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None, :]
    wanted = torch.linalg.eigvalsh(dense)[:, -1].numpy()
    assert np.allclose(found.jacobian_norm, wanted, rtol=1e-12, atol=1e-15)
    assert found.entropy[3:] == pytest.approx([-0.7 * math.log(0.7), 0.0], abs=1e-15)


GAPS = ("normal", "exponential", "pair", "sink", "dense", "staircase", "equal")


def _gaps(kind: str, keys: int) -> torch.Tensor:
    source = torch.Generator().manual_seed(keys)
    if kind == "normal":
        return 3 * torch.randn(keys, generator=source)
    if kind == "exponential":  # log N(t) ~ t: every rank is nearly the supremum
        return torch.rand(keys, generator=source).log()
    if kind == "pair":  # log 2/1 is just above log 3/1.59, and all else is far
        far = -13 - torch.rand(keys, generator=source)
        return torch.cat([torch.tensor([0.0, -1.0, -1.59]), far])[:keys]
    if kind == "sink":
        return torch.cat([torch.tensor([9.0]), torch.randn(keys - 1, generator=source)])
    if kind == "dense":  # nearly all gaps in one bucket, which is then looked through
        far = -1 - 1e-4 * torch.rand(keys - 1, generator=source)
        return torch.cat([torch.tensor([0.0]), far])
    if kind == "staircase":
        return -torch.arange(keys).float().sqrt().floor() - (torch.arange(keys) > 0).float()
    return torch.cat([torch.tensor([0.0]), torch.full((keys - 1,), -2.5)])  # "equal"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("keys", [2, 3, 40, 65, 500, 5000])
def test_sharpness_of_long_rows_is_that_of_the_sorted_row(dtype, keys, path):
    """The compiled rows do not sort, plain torch only where the first ranks do not tell; the
    supremum is nowhere missed by a bucket or behind those ranks."""
    logits = torch.stack([_gaps(kind, keys) * s for kind in GAPS for s in (1e-3, 1.0, 40.0)])
    logits = logits.to(dtype)
    found = engine.row_measures(torch.softmax(logits, -1), logits=logits)
    wanted = sharpness.sharpness(logits.double()).numpy()
    assert np.allclose(found.sharpness, wanted, rtol=1e-15, atol=0)


def test_logits_without_a_sharpness(path):
    logits = torch.zeros(5, 3)
    logits[1:, 0] = torch.tensor([math.inf, math.nan, 1.0, -math.inf])
    logits[3, 1:] = -math.inf
    logits[4] = -math.inf
    found = engine.row_measures(torch.full((5, 3), 1 / 3), logits=logits)
    expected = [0.0, math.inf, math.nan, math.inf, math.nan]
    assert found.sharpness == pytest.approx(expected, nan_ok=True)
    assert found.max_logit == pytest.approx([0, math.inf, math.nan, 1, -math.inf], nan_ok=True)


def test_a_single_key_is_infinitely_sharp(path):
    visible = torch.tensor([[True, False]])
    found = engine.row_measures(torch.tensor([[1.0, 0.0]]), visible, logits=torch.zeros(1, 2))
    assert found.sharpness == [math.inf]
