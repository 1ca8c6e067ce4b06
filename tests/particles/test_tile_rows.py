"""Tiles against the product they are a part of, compiled and as Python."""

import numpy as np
import pytest

from headgauge.kernels import compiled
from headgauge.particles import tile_rows
from headgauge.particles.tile_rows import HIGH, NARROW, WIDE, narrow, wide


@compiled
def two_tiles(weights, gaps, met, row, start, stop):
    narrow(weights, gaps, met, row, 1)
    wide(weights, gaps, met, row + HIGH, 3)


@pytest.mark.parametrize("keys", [1, 5, 300])
def test_a_tile_is_a_part_of_the_product_and_nothing_beside_it_changes(keys: int):
    """From columns that no register begins at; weights may be wider than there are keys."""
    draw = np.random.default_rng(keys)
    weights = draw.standard_normal((2 * HIGH + 1, keys + 7)).astype(np.float32)
    gaps = draw.standard_normal((keys, WIDE + 5)).astype(np.float32)
    whole = weights[:, :keys].astype(np.float64) @ gaps
    expected = np.full(whole.shape, np.nan)
    expected[1 : 1 + HIGH, 1 : 1 + NARROW] = whole[1 : 1 + HIGH, 1 : 1 + NARROW]
    lower = slice(1 + HIGH, 1 + 2 * HIGH), slice(3, 3 + WIDE)
    expected[lower] = whole[lower]
    for run in (two_tiles, getattr(two_tiles, "py_func", two_tiles)):
        met = np.full(whole.shape, np.nan, np.float32)
        run(weights, gaps, met, 1, 0, 0)
        np.testing.assert_allclose(met, expected, rtol=0, atol=1e-6 * (keys + 4))


def test_a_tile_that_leaves_the_product_is_told_where_python_looks():
    weights, gaps, met = np.ones((4, 2)), np.ones((2, NARROW)), np.ones((4, NARROW))
    for row, column in ((1, 0), (0, 1)):
        with pytest.raises(IndexError, match=r"^a tile at \d, \d leaves a product of \(4, 16\)$"):
            tile_rows.narrow(weights, gaps, met, row, column)


def test_other_numbers_are_refused_when_it_is_compiled():
    """They would be read as what they are not."""
    given = np.ones((9, 3)), np.ones((3, WIDE + 3)), np.ones((9, WIDE + 3))
    with pytest.raises(Exception, match=r"float64"):
        two_tiles(*given, 0, 0, 0)
