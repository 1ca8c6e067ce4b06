import numpy as np
import pytest
import torch

from headgauge.engine import Geometry
from headgauge.errors import InputError


def test_unit_by_default_and_zero_vectors_stay_zero():
    geometry = Geometry.of(torch.tensor([[3.0, 4.0], [0.0, 0.0], [1e-30, 0.0]]))
    assert geometry.vectors.tolist() == [[0.6, 0.8], [0.0, 0.0], [1.0, 0.0]]


def test_raw_vectors_stay_as_they_are():
    vectors = torch.tensor([[3.0, 4.0], [0.0, 2.0]])
    geometry = Geometry.of(vectors, raw=True)
    assert torch.equal(geometry.vectors, vectors.double())
    assert geometry.norms2.tolist() == [25.0, 4.0]


def test_the_nearest_predecessor_of_near_duplicates():
    source = torch.Generator().manual_seed(0)
    x = torch.randn(1, 6, dtype=torch.float64, generator=source)
    x = x + 1e-9 * torch.randn(30, 6, dtype=torch.float64, generator=source)
    places, squares, order = Geometry.of(x, raw=True).nearest
    apart = torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist")
    for i in range(1, 30):
        assert places[i] == int(apart[i, :i].argmin())
        assert squares[i] ** 0.5 == pytest.approx(float(apart[i, :i].min()), rel=1e-12)
    assert np.all(np.diff(squares[order][:-1]) >= 0)


@pytest.mark.parametrize("bad", [torch.ones(3), torch.ones(0, 4)])
def test_a_wrong_shape_is_told(unchecked, bad):
    with pytest.raises(InputError, match=r"must be \(keys, dim\)"):
        Geometry.of(bad)


def test_infinite_vectors_are_refused():
    with pytest.raises(InputError, match="NaN or infinity"):
        Geometry.of(torch.tensor([[1.0, torch.inf]]))
