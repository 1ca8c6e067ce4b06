"""Weights over L, and the bounds on the largest."""

import polars as pl
import pytest
from headgauge.report.paper.rules import looks_of
from headgauge.report.paper.vanishing import (
    BOUNDS,
    WEIGHTS,
    draw_bounds,
    draw_rule_weights,
    draw_weights,
    vanishing_words,
)

from .conftest import AT_32, BOUNDS_AT_32, CLOSEST, LENGTHS


@pytest.fixture
def frame(whole_paper):
    return whole_paper["vanishing"]


def test_the_weights_are_those_of_the_models_own_rule_beside_one_over_l(axes, lines, frame):
    draw_weights(axes, frame.reverse())
    for name, first in AT_32.items():
        ((across, up),) = lines(axes, WEIGHTS[name].label)
        assert across == list(LENGTHS)
        assert up[0] == pytest.approx(first)
    ((across, up),) = lines(axes, "1/L: the weight of every key if all were alike")
    assert up == [1 / 32, 1 / 1024]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_bounds_stand_beside_the_weight_and_one_far_above_is_told(axes, lines, words, frame):
    draw_bounds(axes, frame)
    assert lines(axes, "largest weight")[0][1][0] == pytest.approx(AT_32["largest_weight"])
    for name, first in BOUNDS_AT_32.items():
        assert lines(axes, BOUNDS[name].label)[0][1][0] == pytest.approx(first)
    assert axes.get_ylim()[1] < 1e5
    assert "Corollary 1 as printed: $10^{28}$, above the axis" in words(axes)
    axes.clear()
    spread = pl.when(pl.col("length") > 32).then(pl.col("mean") * 1e3).otherwise("mean")
    draw_bounds(axes, frame.with_columns(mean=spread).filter(measure="bound_printed"))
    assert "Corollary 1 as printed: $10^{28}$ to $10^{31}$, above the axis" in words(axes)


def test_bounds_that_can_be_seen_are_not_cut(axes, words, frame):
    near = pl.when(measure="bound_printed").then(pl.col("mean") / 1e26).otherwise("mean")
    draw_bounds(axes, frame.with_columns(mean=near))
    assert not any("above the axis" in word for word in words(axes))
    assert axes.get_ylim()[1] > 100


def test_each_rule_has_its_own_numbers(axes, lines, whole_paper, frame):
    draw_rule_weights(axes, frame, looks_of(whole_paper, CLOSEST), "largest_off_sink")
    assert lines(axes, "the model's own")[0][1][0] == pytest.approx(0.3)
    assert lines(axes, "ssmax")[0][1][0] == pytest.approx(0.27)


def test_what_was_not_measured_is_told(axes, words, frame):
    draw_weights(axes, frame.clear())
    assert words(axes) == ["no weights in this run"]
    axes.clear()
    draw_bounds(axes, frame.filter(~pl.col("measure").str.starts_with("bound")))
    assert words(axes)[0].replace("\n", " ") == "no bound holds for this model's weights"
    assert vanishing_words(frame.clear()) == "nothing was measured"


def test_the_small_print_counts_heads_windows_and_rows(frame):
    told = vanishing_words(frame)
    assert told.startswith(
        "means over 270 heads and 2 windows of 32 query rows in the last quarter"
    )
