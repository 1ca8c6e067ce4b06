"""The phase diagram."""

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.contour import QuadContourSet

from headgauge.report.dynamics.phase import colour_bar, draw_phase


@pytest.fixture
def own(whole):
    return whole["phase"].filter(scheme="pre_ln", dim=128)


def cells(axes):
    """The mesh's numbers, a row for each β."""
    (mesh,) = [part for part in axes.collections if isinstance(part, QuadMesh)]
    numbers = mesh.get_array()
    assert numbers is not None
    return np.ma.asarray(numbers)


def contours(axes):
    return [part for part in axes.collections if isinstance(part, QuadContourSet)]


def test_each_cell_has_the_probability_of_its_time_and_beta(axes, own):
    mesh = draw_phase(axes, own.sample(fraction=1.0, shuffle=True, seed=1))
    assert mesh is not None
    times, betas = sorted(set(own["time"])), sorted(set(own["beta"]))
    there = own.filter(time=times[7], beta=betas[3])["probability"].item()
    assert cells(axes)[3, 7] == there
    assert mesh.get_clim() == (0, 1)


def test_times_are_ordered_as_numbers_not_as_words(axes, own):
    draw_phase(axes, own)
    assert (np.diff(cells(axes)[0]) >= 0).all()


def test_the_line_is_where_half_of_the_pairs_are_one(axes, own):
    draw_phase(axes, own)
    (line,) = contours(axes)
    assert list(line.levels) == [0.5]
    beta = sorted(set(own["beta"]))[6]
    at = own.filter(beta=beta).sort("time")
    expected = np.interp(0.5, at["probability"], at["time"])
    points = np.asarray(line.get_paths()[0].vertices)
    there = points[np.abs(points[:, 1] - beta) < 1e-9]
    assert there[:, 0] == pytest.approx([expected])


def test_without_a_half_there_is_no_line_but_a_word(axes, words, own):
    draw_phase(axes, own.with_columns(probability=pl.lit(0.0)))
    assert not contours(axes)
    assert "nowhere half\nof the pairs" in words(axes)


def test_cells_that_were_not_run_are_holes(axes, own):
    hole = own.filter(~((pl.col("time") == 3.0) & (pl.col("beta") == 0.0)))
    draw_phase(axes, hole)
    assert np.ma.count_masked(cells(axes)) == 1


@pytest.mark.parametrize(("low", "scale"), [(0.01, "log"), (0.0, "linear")])
def test_times_in_even_ratios_have_an_axis_of_them(axes, own, low, scale):
    times = [low, *(0.01 * 2.0**step for step in range(1, 11))]
    rows = [
        own.filter(time=float(place)).with_columns(time=pl.lit(time))
        for place, time in enumerate(times)
    ]
    draw_phase(axes, pl.concat(rows))
    assert axes.get_xscale() == scale
    assert axes.get_yscale() == "linear"


def test_one_time_alone_can_be_drawn(axes, own):
    draw_phase(axes, own.filter(time=5.0))
    axes.get_figure().draw_without_rendering()


def test_a_scheme_that_was_not_run_is_told(axes, words, own):
    assert draw_phase(axes, own.clear()) is None
    assert words(axes) == ["not in this run"]


def test_the_bar_says_what_the_colours_are(axes, words, own):
    mesh = draw_phase(axes, own)
    assert mesh is not None
    colour_bar(axes, mesh)
    assert "share of pairs with a cosine of .999 or more" in words(axes.get_figure())
