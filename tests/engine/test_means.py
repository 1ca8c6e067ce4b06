import numpy as np
import pytest
import torch

from headgauge import engine
from headgauge.errors import InputError


def _rows(count: int = 9) -> tuple[torch.Tensor, engine.Geometry, torch.Tensor]:
    source = torch.Generator().manual_seed(0)
    visible = torch.ones(count, count, dtype=torch.bool).tril()
    logits = torch.randn(count, count, generator=source).masked_fill(~visible, -torch.inf)
    vectors = torch.randn(count, 4, generator=source)
    return torch.softmax(logits, -1), engine.Geometry.of(vectors), visible


def test_blocks_add_up_to_the_whole():
    weights, geometry, visible = _rows()
    whole = engine.curves(weights, geometry, [1, 4], visible)
    means = engine.Means()
    for some in (slice(2), slice(2, 5), slice(5, None)):
        means.add(engine.curves(weights[some], geometry, [1, 4], visible[some]))
    assert means.rows.tolist() == [8, 5]  # rows that see more than N keys
    for name, mean in means.means().items():
        assert np.allclose(mean, np.nanmean(vars(whole)[name], axis=0), rtol=1e-12), name


def test_under_all_keys_every_row_counts():
    weights, geometry, visible = _rows()
    means = engine.Means()
    means.add(engine.curves(weights, geometry, [1, 4, 9], visible, keys="all"))
    assert means.rows.tolist() == [9, 9, 9]


def test_a_measure_that_misses_a_counting_row_has_no_mean():
    weights, geometry, _ = _rows()
    weights[3] *= 0.5  # no longer sums to one
    means = engine.Means()
    means.add(engine.curves(weights, geometry, [2]))
    assert np.isnan(means.mean("bound_printed")).all()
    assert np.isfinite(means.mean("distance")).all()


def test_without_rows_there_is_no_mean():
    weights, geometry, visible = _rows()
    means = engine.Means()
    means.add(engine.curves(weights[:2], geometry, [5], visible[:2]))
    assert means.rows.tolist() == [0]
    assert np.isnan(means.mean("distance")).all()


def test_what_does_not_belong_together_is_refused():
    weights, geometry, _ = _rows()
    means = engine.Means()
    means.add(engine.curves(weights, geometry, [1, 2]))
    with pytest.raises(InputError, match="another list of N"):
        means.add(engine.curves(weights, geometry, [1]))
    with pytest.raises(InputError, match="no measure 'entropy'"):
        means.mean("entropy")
