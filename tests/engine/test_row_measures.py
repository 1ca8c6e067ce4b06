import math

import numpy as np
import pytest
import torch

from headgauge import engine
from headgauge.errors import InputError
from headgauge.theory import concentration, sensitivity, sharpness


def test_every_kind_of_rows_against_theory(make, weights_kind, mask, path):
    weights, _, visible = make(weights_kind, "random", mask)
    found = engine.row_measures(weights, visible)
    seen = torch.ones_like(weights, dtype=torch.bool) if visible is None else visible
    for row, keys in enumerate(seen):
        if not keys.any():
            assert not found.counts[row]
            assert np.isnan(found.entropy[row])
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
    weights, _, visible = make("random", "random", mask)
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


def test_output_norm_is_the_length_of_the_weighted_sum(path):
    weights = torch.tensor([[0.5, 0.5, 0.9]])
    visible = torch.tensor([[True, True, False]])
    values = torch.tensor([[6.0, 0.0], [0.0, 8.0], [1e9, 0.0]])
    assert engine.row_measures(weights, visible, values=values).output_norm == pytest.approx([5.0])


def test_the_first_token_is_found_behind_padding(path):
    weights = torch.tensor([[0.0, 0.7, 0.3]])
    visible = torch.tensor([[False, True, True]])
    assert engine.row_measures(weights, visible, first_key=1).sink_weight == pytest.approx([0.7])


def test_the_jacobian_of_long_rows_is_the_dense_one(path):
    source = torch.Generator().manual_seed(0)
    logits = torch.randn(40, 60, dtype=torch.float64, generator=source)
    logits = logits * torch.logspace(-2, 2, 40, dtype=torch.float64)[:, None]
    weights = torch.softmax(logits, -1)
    dense = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None, :]
    wanted = torch.linalg.matrix_norm(dense, 2).numpy()
    assert np.allclose(engine.row_measures(weights).jacobian_norm, wanted, rtol=1e-9, atol=1e-15)


def test_a_wrong_shape_is_told(unchecked):
    with pytest.raises(InputError, match=r"logits must be \(2, 4\)"):
        engine.row_measures(torch.ones(2, 4), logits=torch.ones(2, 5))
