import pytest
import torch

from headgauge.theory.normalization.distance import distance, distances_to_context
from headgauge.theory.normalization.selection import top_n


@pytest.mark.parametrize("n", [0, 1, 3, 7, 8])
def test_distance_is_equation_7(rows, n):
    weights, vectors = rows
    selected = top_n(weights, n)
    got = distance(weights, vectors, selected)
    for row in range(len(weights)):
        y = weights[row][:, None] * vectors[row]
        s = y[selected[row]].sum(0)
        expected = sum(float((y[i] - s).norm()) for i in range(8) if not selected[row, i])
        assert got[row].item() == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_a_token_next_to_the_context_keeps_its_digits():
    """y₂ = (1 − 1e-8) y₁: the expanded square would return noise."""
    weights = torch.tensor([0.5, 0.5 * (1 - 1e-8)], dtype=torch.float64)
    vectors = torch.tensor([[3.0, 4.0], [3.0, 4.0]], dtype=torch.float64)
    each = distances_to_context(weights, vectors, top_n(weights, 1))
    assert each[1].item() == pytest.approx(2.5e-8, rel=1e-7)
    assert each[0].item() == 0


def test_masked_keys_kept_in_add_the_norm_of_the_context(rows):
    """The `all` convention: a weight of zero adds ‖s‖."""
    weights, vectors = rows
    padded = torch.cat([weights, torch.zeros(len(weights), 5, dtype=torch.float64)], -1)
    more = torch.cat([vectors, torch.randn(len(weights), 5, 4, dtype=torch.float64)], -2)
    selected, wider = top_n(weights, 3), top_n(padded, 3)
    context = (weights[..., None] * vectors * selected[..., None]).sum(-2).norm(dim=-1)
    got = distance(padded, more, wider)
    assert torch.allclose(got, distance(weights, vectors, selected) + 5 * context, rtol=1e-12)
