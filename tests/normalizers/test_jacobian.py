"""Diagonal plus low rank."""

import torch

from headgauge import normalizers
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
        jacobian.transposed().product(vector), (dense.mT @ vector[..., None])[..., 0]
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


def test_a_row_that_does_not_settle_is_bisected(monkeypatch) -> None:
    monkeypatch.setattr("headgauge.normalizers.jacobian._CYCLES", 1)
    for terms in (0, 1, 2, 3):
        jacobian = random_jacobian(5, 50, terms)
        expected = torch.linalg.matrix_norm(jacobian.dense(), 2)
        torch.testing.assert_close(jacobian.spectral_norm(), expected, rtol=1e-11, atol=0.0)


def test_counting_singular_values() -> None:
    jacobian = random_jacobian(4, 12, 2)
    singular = torch.linalg.svdvals(jacobian.dense())
    for value in (0.0, 0.5, 1.0, 2.5, 1e3):
        counted = jacobian.count_above(torch.full((4,), value, dtype=torch.float64))
        assert counted.tolist() == (singular > value).sum(-1).tolist()


def test_smooth_rows_need_no_matrix(monkeypatch) -> None:
    """Singular values that lie close together; keys × keys numbers would be 0.5 GB each."""

    def refuse(_self: Jacobian) -> torch.Tensor:
        raise AssertionError("a dense matrix was made")

    smooth = torch.linspace(0.0, 0.1, 600, dtype=torch.float64)
    rule = normalizers.get("lssa")
    expected = torch.linalg.matrix_norm(rule.jacobian(smooth).dense(), 2)
    monkeypatch.setattr(Jacobian, "dense", refuse)
    torch.testing.assert_close(rule.spectral_norm(smooth), expected, rtol=1e-8, atol=0.0)
    long = torch.linspace(0.0, 1.0, 8192)
    for name in ("lssa", "sa_softmax", "softpick", "adaptive_temperature"):
        assert normalizers.get(name).spectral_norm(long).isfinite().all()


def test_entries_whose_squares_are_no_numbers() -> None:
    for size in (1e-200, 1e200):
        base = random_jacobian(2, 6, 1)
        (left, right), *_ = base.terms
        scaled = Jacobian(base.diagonal * size, ((left * size, right),))
        torch.testing.assert_close(scaled.spectral_norm(), base.spectral_norm() * size)


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
