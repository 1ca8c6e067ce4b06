"""Colours end where the measure does, or at percentiles, and say so."""

import numpy as np
from matplotlib.colors import LogNorm, TwoSlopeNorm
from matplotlib.figure import Figure

from headgauge.report.panels import UNSEEN, colours, hatch
from headgauge.report.words import MEASURES, Measure


def test_a_bounded_measure_has_its_own_ends_whatever_the_data():
    scale = colours(np.array([[0.1, 0.2]]), MEASURES["jacobian_norm"])
    assert (scale.norm.vmin, scale.norm.vmax, scale.extend, scale.note) == (0, 0.5, "neither", "")


def test_a_long_tail_does_not_wash_out_the_rest():
    values = np.append(np.linspace(1, 2, 99), 1e6)
    scale = colours(values, Measure("", "", ""))
    assert scale.norm.vmin is not None
    assert scale.norm.vmax is not None
    assert 1 < scale.norm.vmin < 1.1
    assert 1.9 < scale.norm.vmax < 2.1
    assert scale.extend == "both"
    assert scale.note == "arrow: past the 2nd or 98th percentile"


def test_beyond_a_fixed_end_is_an_arrow_with_its_number():
    scale = colours(np.array([0.5, 3.0]), MEASURES["output_ratio"])
    assert isinstance(scale.norm, TwoSlopeNorm)
    assert (scale.norm.vcenter, scale.extend, scale.note) == (1, "max", "arrow: above 2")


def test_equal_values_and_no_values_have_a_scale():
    for values in (np.full(4, 7.0), np.full(4, np.nan), np.zeros(4), np.ones(4)):
        for name in ("max_logit", "effective_n", "output_norm"):
            norm = colours(values, MEASURES[name]).norm
            assert norm.vmin is not None
            assert norm.vmax is not None
            assert norm.vmin < norm.vmax


def test_effective_n_is_on_a_logarithmic_scale():
    assert isinstance(colours(np.array([1.0, 400.0]), MEASURES["effective_n"]).norm, LogNorm)


def test_runs_of_unseen_cells_are_covered_at_once():
    axes = Figure().add_subplot()
    hatch(axes, np.array([[True, True, False, True], [False] * 4]), UNSEEN)
    boxes = [path.get_extents().bounds for path in axes.collections[0].get_paths()]
    assert boxes == [(-0.5, -0.5, 2.0, 1.0), (2.5, -0.5, 1.0, 1.0)]
    assert axes.collections[0].get_hatch()
