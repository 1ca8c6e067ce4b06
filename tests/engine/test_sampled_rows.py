"""A few rows at once are what theory says of each by itself."""

import math

import pytest
import torch

from headgauge.engine.sampled_rows import sampled_rows
from headgauge.theory.normalization import sensitivity, separability
from headgauge.theory.normalization.selection import top_n


@pytest.mark.parametrize("n", [1, 2, 8])
def test_rows_are_theorys(n):
    torch.manual_seed(0)
    visible = torch.rand(3, 2, 30) < 0.7
    visible[0, 0] = False
    visible[0, 1] = torch.arange(30) < n  # sees no more than N
    logits = 3 * torch.randn(3, 2, 30)
    weights = torch.softmax(logits.masked_fill(~visible, -math.inf), -1).nan_to_num(0.0)
    vectors = torch.randn(3, 2, 30, 5)
    found = sampled_rows(weights, visible, vectors, n)
    for at in torch.cartesian_prod(torch.arange(3), torch.arange(2)).tolist():
        seen = visible[*at]
        alpha = weights[*at][seen].double()
        x = torch.nn.functional.normalize(vectors[*at][seen].double(), dim=-1)
        norm, share = float(found.jacobian_norm[*at]), float(found.separability[*at])
        if not len(alpha):
            assert math.isnan(norm)
        else:
            assert norm == pytest.approx(float(sensitivity.largest_eigenvalue(alpha)), rel=1e-6)
        if len(alpha) <= n:
            assert math.isnan(share)
        else:
            assert share == float(separability.separability(alpha, x, top_n(alpha, n)))


def test_fewer_keys_than_n_have_no_separability():
    weights = torch.full((2, 3), 1 / 3)
    found = sampled_rows(weights, torch.ones(2, 3, dtype=torch.bool), torch.randn(2, 3, 4), 8)
    assert found.separability.isnan().all()
    assert found.jacobian_norm.tolist() == pytest.approx([1 / 3] * 2)
