"""Diagonal plus low rank."""

import torch

from headgauge.normalizers import Jacobian


def random_jacobian(rows: int, keys: int, terms: int, seed: int = 0) -> Jacobian:
    generator = torch.Generator().manual_seed(seed)

    def draw() -> torch.Tensor:
        return torch.randn(rows, keys, generator=generator, dtype=torch.float64)

    return Jacobian(draw(), tuple((draw(), draw()) for _ in range(terms)))


def test_products_are_those_of_the_dense_matrix() -> None:
    jacobian = random_jacobian(4, 9, 2)
    vector = torch.randn(4, 9, dtype=torch.float64)
    dense = jacobian.dense()
    torch.testing.assert_close(jacobian.product(vector), (dense @ vector[..., None])[..., 0])
    torch.testing.assert_close(
        jacobian.transpose_product(vector), (dense.mT @ vector[..., None])[..., 0]
    )


def test_spectral_norm_is_the_largest_singular_value() -> None:
    for keys in (1, 2, 5, 60, 300):
        for terms in (0, 1, 3):
            jacobian = random_jacobian(6, keys, terms, seed=keys)
            expected = torch.linalg.matrix_norm(jacobian.dense(), 2)
            torch.testing.assert_close(jacobian.spectral_norm(), expected, rtol=1e-7, atol=0.0)


def test_nearly_equal_singular_values() -> None:
    diagonal = torch.linspace(0.999, 1.0, 400, dtype=torch.float64).expand(3, 400)
    norm = Jacobian(diagonal).spectral_norm()
    torch.testing.assert_close(norm, torch.ones(3, dtype=torch.float64), rtol=1e-6, atol=0.0)


def test_a_row_that_does_not_settle_gets_the_dense_answer(monkeypatch) -> None:
    monkeypatch.setattr("headgauge.normalizers.jacobian._CYCLES", 1)
    jacobian = random_jacobian(3, 50, 1)
    expected = torch.linalg.matrix_norm(jacobian.dense(), 2)
    torch.testing.assert_close(jacobian.spectral_norm(), expected, rtol=1e-12, atol=0.0)


def test_zero_nan_and_chunks(monkeypatch) -> None:
    monkeypatch.setattr("headgauge.normalizers.jacobian._CHUNK", 20)
    jacobian = random_jacobian(7, 10, 1)
    jacobian.diagonal[2] = torch.nan
    jacobian.diagonal[4] = 0
    jacobian.terms[0][0][4] = 0
    norms = jacobian.spectral_norm()
    assert norms[2].isnan()
    assert norms[4] == 0
    good = [0, 1, 3, 5, 6]
    expected = torch.linalg.matrix_norm(jacobian.dense()[good], 2)
    torch.testing.assert_close(norms[good], expected, rtol=1e-7, atol=0.0)
