import math

import mpmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headgauge.theory.normalization import sensitivity


def matrix(weights: torch.Tensor) -> torch.Tensor:
    return torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]


def precise_eigenvalue(weights: torch.Tensor) -> float:
    """λ₁ in sixty digits, with the row's sum made exactly one."""
    with mpmath.workdps(60):
        row = [mpmath.mpf(value) for value in weights.tolist()]
        total = mpmath.fsum(row)
        row = [value / total for value in row]
        size = len(row)
        dense = mpmath.matrix(size, size)
        for i in range(size):
            for j in range(size):
                dense[i, j] = (row[i] if i == j else 0) - row[i] * row[j]
        return float(max(mpmath.eigsy(dense, eigvals_only=True)))


def test_norms_agree_with_dense_linear_algebra(rows):
    weights, _ = rows
    eigenvalues = torch.linalg.eigvalsh(matrix(weights))[..., -1]
    assert torch.allclose(
        sensitivity.largest_eigenvalue(weights), eigenvalues, rtol=1e-12, atol=1e-14
    )
    dense = matrix(weights).norm(dim=(-2, -1))
    assert torch.allclose(sensitivity.frobenius_norm(weights), dense, rtol=1e-12, atol=1e-14)
    assert torch.allclose(
        sensitivity.spectral_norm(weights, 0.1), 10 * eigenvalues, rtol=1e-12, atol=1e-14
    )


@settings(max_examples=50)
@given(st.lists(st.floats(-60, 60), min_size=2, max_size=6))
def test_the_eigenvalue_keeps_its_digits_next_to_a_one_hot_row(logits):
    weights = torch.softmax(torch.tensor(logits, dtype=torch.float64), -1)
    exact = precise_eigenvalue(weights)
    assert sensitivity.largest_eigenvalue(weights).item() == pytest.approx(exact, rel=1e-13)
    lower = sensitivity.closed_lower_bound(weights).item()
    upper = sensitivity.closed_upper_bound(weights).item()
    assert lower <= exact * (1 + 1e-13)
    assert exact <= upper * (1 + 1e-13)
    assert sensitivity.frobenius_norm(weights).item() >= exact * (1 - 1e-13)


@settings(max_examples=50)
@given(st.lists(st.floats(-30, 30), min_size=2, max_size=7))
def test_weights_that_sum_to_less_than_one(logits):
    """Softmax-1 and sinks: a principal submatrix of the same matrix."""
    everything = torch.softmax(torch.tensor(logits, dtype=torch.float64), -1)
    missing, weights = everything[0], everything[1:]
    exact = torch.linalg.eigvalsh(matrix(weights))[-1]
    got = sensitivity.largest_eigenvalue(weights, missing)
    assert got.item() == pytest.approx(exact.item(), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("row", [[0.5, 0.2], [0.3], [0.25, 0.25, 0.1], [0.0, 0.0], [0.9, 1e-3]])
def test_what_is_missing_is_found_from_the_sum(row):
    weights = torch.tensor(row, dtype=torch.float64)
    dense = matrix(weights)
    norm = torch.linalg.matrix_norm(dense, 2).item()
    assert sensitivity.largest_eigenvalue(weights).item() == pytest.approx(norm, abs=1e-15)
    frobenius = dense.norm().item()
    assert sensitivity.frobenius_norm(weights).item() == pytest.approx(frobenius, abs=1e-15)
    assert sensitivity.closed_lower_bound(weights).item() <= norm + 1e-15
    assert norm <= sensitivity.closed_upper_bound(weights).item() + 1e-15


@pytest.mark.parametrize("row", [[0.9, 0.4], [1.2, -0.2]])
def test_rows_that_are_no_weights_are_nan(row):
    weights = torch.tensor(row, dtype=torch.float64)
    for norm in (
        sensitivity.largest_eigenvalue,
        sensitivity.frobenius_norm,
        sensitivity.closed_lower_bound,
        sensitivity.closed_upper_bound,
    ):
        assert norm(weights).isnan()


@pytest.mark.parametrize(
    ("dtype", "small"),
    [(torch.float64, 1e-200), (torch.float64, 1e-290), (torch.float32, 1e-25)],
)
def test_nothing_underflows_beside_a_one_hot_entry(dtype, small):
    """λ₁ ≈ ‖C‖_F to first order in q, the sum of the rest: both are of the size of q."""
    weights = torch.tensor([1.0, small] + [small / 10] * 50, dtype=dtype)
    unit = torch.tensor([1.0] + [0.1] * 50, dtype=torch.float64)
    # C ≈ small·M with M = diag(0, u) − e₁uᵀ − ue₁ᵀ + (Σu)e₁e₁ᵀ, to first order.
    first_order = torch.diag(torch.cat([unit.sum()[None], unit]))
    first_order[0, 1:] = first_order[1:, 0] = -unit
    expected = torch.linalg.eigvalsh(first_order)[-1].item()
    got = sensitivity.largest_eigenvalue(weights).double().item() / small
    assert got == pytest.approx(expected, rel=1e-5)
    frobenius = sensitivity.frobenius_norm(weights).double().item() / small
    assert frobenius == pytest.approx(first_order.norm().item(), rel=1e-5)
    assert sensitivity.closed_lower_bound(weights).item() <= got * small * (1 + 1e-5)


def test_the_leading_direction_is_the_eigenvector(rows):
    weights, _ = rows
    direction = sensitivity.leading_direction(weights)
    assert torch.allclose(direction.norm(dim=-1), torch.ones(len(weights), dtype=torch.float64))
    product = (matrix(weights) @ direction[..., None])[..., 0]
    expected = sensitivity.largest_eigenvalue(weights)[..., None] * direction
    assert torch.allclose(product, expected, rtol=1e-12, atol=1e-14)


def test_two_equal_logits_attain_one_half():
    for length in (2, 3, 10):
        weights = torch.zeros(length, dtype=torch.float64)
        weights[:2] = 0.5
        assert sensitivity.spectral_norm(weights, 1.0).item() == 0.5
    assert sensitivity.corollary_3(1.0) == 0.5
    assert sensitivity.corollary_3_printed(1.0) == 0.25
    assert sensitivity.spectral_norm(torch.tensor([0.5, 0.5]), 0.1).item() == pytest.approx(5.0)
    assert sensitivity.corollary_3_printed(0.1) == pytest.approx(math.sqrt(2))


def test_golden_value():
    logits = torch.tensor([0.0, 0.0] + [-20.0] * 8, dtype=torch.float64)
    norm = sensitivity.spectral_norm(torch.softmax(logits, -1))
    assert norm.item() == pytest.approx(0.49999999587769, abs=1e-14)


@pytest.mark.parametrize("length", [1, 2, 100])
def test_degenerate_rows(length):
    one_hot = torch.zeros(length, dtype=torch.float64)
    one_hot[0] = 1
    flat = torch.full((length,), 1 / length, dtype=torch.float64)
    assert sensitivity.largest_eigenvalue(one_hot) == 0
    assert sensitivity.frobenius_norm(one_hot) == 0
    assert sensitivity.closed_upper_bound(one_hot) == 0
    assert sensitivity.closed_lower_bound(one_hot) == 0
    expected = 0 if length == 1 else 1 / length
    assert sensitivity.largest_eigenvalue(flat).item() == pytest.approx(expected)
    assert sensitivity.leading_direction(flat).isfinite().all()


def test_many_long_rows_converge():
    source = torch.Generator().manual_seed(0)
    scale = torch.logspace(-2, 2, 200, dtype=torch.float64)[:, None]
    logits = scale * torch.randn(200, 512, dtype=torch.float64, generator=source)
    weights = torch.softmax(logits, -1)
    norm = sensitivity.largest_eigenvalue(weights)
    assert (sensitivity.closed_lower_bound(weights) <= norm * (1 + 1e-12)).all()
    assert (norm <= sensitivity.closed_upper_bound(weights) * (1 + 1e-12)).all()
    some = slice(0, 200, 40)
    dense = torch.linalg.eigvalsh(matrix(weights[some]))[..., -1]
    assert torch.allclose(norm[some], dense, rtol=1e-12, atol=1e-13)


def test_the_swap_example_is_three_over_two_root_two():
    exact = sensitivity.example_first_order(20, 60.0, 1.0, 1.0)
    assert exact == pytest.approx(3 / (2 * math.sqrt(2)), rel=1e-12)
    printed = sensitivity.example_first_order_printed(1.0, 1.0)
    assert printed > math.sqrt(5) / 2 > exact
    epsilon = 1e-6
    first = torch.zeros(20, dtype=torch.float64)
    second = torch.zeros(20, dtype=torch.float64)
    first[-2], first[-1] = 2.0, 2.0 + epsilon
    second[-2], second[-1] = 2.0 + 2 * epsilon, 2.0
    change = (torch.softmax(first / 0.5, -1) - torch.softmax(second / 0.5, -1)).norm().item()
    expected = sensitivity.example_first_order(20, 2.0, epsilon, 0.5)
    assert change == pytest.approx(expected, rel=1e-4)
