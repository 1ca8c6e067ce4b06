"""A measure over time."""

import math

import polars as pl
import pytest

from headgauge.report.dynamics.over_time import draw_over_time, ratios_if_wide

from .conftest import ALL


def test_a_line_for_each_scheme_in_the_order_of_time(axes, lines, whole):
    curves = whole["curves"]
    draw_over_time(axes, curves.reverse(), "radius")
    assert len(axes.get_lines()) == len(ALL)
    own = curves.filter(scheme="peri_ln")
    assert lines(axes, "Peri-LN") == [(own["time"].to_list(), own["radius"].to_list())]
    assert axes.get_xlim() == (0, 30)


def test_the_band_is_between_its_columns(axes, whole):
    own = whole["swarms"].filter(weights="random", scheme="pre_ln")
    draw_over_time(axes, own, "mean_cosine", ("low", "high"))
    (band,) = axes.collections
    edges = band.get_paths()[0].get_extents()
    assert (edges.ymin, edges.ymax) == (own["low"].min(), own["high"].max())


def test_numbers_that_are_none_are_not_drawn(axes, lines, words, whole):
    own = whole["curves"].filter(scheme="post_ln").head(3)
    holes = own.with_columns(velocity=pl.Series([1.0, math.nan, math.inf]))
    draw_over_time(axes, holes, "velocity")
    assert lines(axes, "Post-LN") == [([own["time"][0]], [1.0])]
    axes.clear()
    draw_over_time(axes, own.clear(), "velocity")
    assert words(axes) == ["not in this run"]


def test_the_baseline_does_not_widen_the_axis_unless_it_is_alone(axes, whole):
    far = pl.when(pl.col("scheme") == "unnormalised").then(1e6).otherwise("attention_norm")
    curves = whole["curves"].with_columns(attention_norm=far)
    draw_over_time(axes, curves, "attention_norm")
    ratios_if_wide(axes, curves, "attention_norm")
    assert axes.get_ylim()[1] < 1.1
    assert axes.get_yscale() == "linear"
    axes.clear()
    draw_over_time(axes, curves.filter(scheme="unnormalised"), "attention_norm")
    assert axes.get_ylim()[1] > 1e6


def wide(numbers):
    speeds = [float(number) for number in numbers]
    return pl.DataFrame({"scheme": "ngpt", "time": [0.0, 1.0, 2.0], "speed": speeds})


@pytest.mark.parametrize(
    ("numbers", "scale"),
    [
        ([1, 2, 31], "log"),
        ([1, 2, 29], "linear"),
        ([0, 2, 90], "log"),
        ([-1, 2, 90], "linear"),
        ([1, 2, 1e300], "log"),
    ],
)
def test_even_ratios_are_for_what_spans_much(axes, numbers, scale):
    draw_over_time(axes, wide(numbers), "speed")
    ratios_if_wide(axes, wide(numbers), "speed")
    assert axes.get_yscale() == scale


def test_what_comes_to_rest_does_not_squeeze_the_others(axes):
    frame = wide([1, 1e-3, 1e-30])
    draw_over_time(axes, frame, "speed")
    ratios_if_wide(axes, frame, "speed")
    low, high = axes.get_ylim()
    assert 1e-6 < low < 1e-3
    assert 1 < high < 10


def test_a_measure_that_was_never_seen_has_no_scale(axes):
    ratios_if_wide(axes, wide([math.nan] * 3), "speed")
    assert axes.get_yscale() == "linear"
