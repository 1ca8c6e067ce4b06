import numpy as np
import pytest
import torch

from headgauge.engine import Geometry, geometry


def test_unit_by_default_and_zero_vectors_stay_zero():
    unit = Geometry.of(torch.tensor([[3.0, 4.0], [0.0, 0.0], [1e-30, 0.0]]))
    assert unit.vectors.tolist() == [[0.6, 0.8], [0.0, 0.0], [1.0, 0.0]]


def test_raw_vectors_stay_as_they_are():
    vectors = torch.tensor([[3.0, 4.0], [0.0, 2.0]])
    raw = Geometry.of(vectors, raw=True)
    assert torch.equal(raw.vectors, vectors.double())
    assert raw.norms2[:2].tolist() == [25.0, 4.0]
    assert not raw.norms2[2:].any()  # padding


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("limit", [geometry.GRAM_BYTES, 1000])
@pytest.mark.parametrize("apart", [1e-9, 1.0])
def test_the_nearest_predecessor_has_all_its_digits(monkeypatch, precision, limit, apart):
    monkeypatch.setattr(geometry, "GRAM_BYTES", limit)
    source = torch.Generator().manual_seed(0)
    x = torch.randn(1, 6, dtype=torch.float64, generator=source)
    x = x + apart * torch.randn(30, 6, dtype=torch.float64, generator=source)
    x[7] *= 1e3  # its own squares are all rounding beside those of the others
    places, squares, order = Geometry.of(x, raw=True, precision=precision).nearest
    apart = torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")
    for i in range(1, 30):
        assert places[i] == int(apart[i, :i].argmin())
        assert squares[i] ** 0.5 == pytest.approx(float(apart[i, :i].min()), rel=1e-12)
    assert np.all(np.diff(squares[order][:-1]) >= 0)


def test_the_gram_matrix_is_held_up_to_its_limit(monkeypatch):
    some = Geometry.of(torch.eye(8), precision="float32")
    monkeypatch.setattr(geometry, "GRAM_BYTES", 8 * 8 * 4)
    assert some.held
    assert not some.double.held


def test_vectors_out_of_single_precisions_range_stay_in_double():
    assert Geometry.of(torch.eye(2) * 1e-3, raw=True, precision="float32").real == torch.float32
    for far in (1e-20, 1e20):
        wide = Geometry.of(torch.eye(2) * far, raw=True, precision="float32")
        assert wide.real == torch.float64
        assert Geometry.of(torch.eye(2) * far, precision="float32").real == torch.float32
