"""Figure 4."""

import polars as pl
import pytest
from headgauge.report.paper.sensitivity import (
    draw_sensitivity,
    of_logits,
    panels_of,
    sensitivity_handles,
    sensitivity_words,
)


@pytest.fixture
def scaled(whole_paper):
    return of_logits(whole_paper["fig4"], "scaled")


def labels(axes):
    return [line.get_label() for line in axes.get_lines() if len(line.get_xdata())]


def test_only_the_steps_of_the_direction_are_drawn(axes, lines, scaled):
    draw_sensitivity(axes, scaled, "worst")
    expected = scaled.filter(direction="worst", epsilon=0.1).sort("temperature")
    ((across, up),) = lines(axes, "g, ε = 0.1")
    assert across == expected["temperature"].to_list()
    assert up == expected["maximum"].to_list()
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_the_printed_bound_the_sharp_one_and_one_for_each_step(axes, scaled):
    draw_sensitivity(axes, scaled, "random")
    drawn = labels(axes)
    assert sum("printed bound" in label for label in drawn) == 1
    assert sum("1/(2T)" in label for label in drawn) == 1
    assert sum("tanh" in label for label in drawn) == 3
    assert len(sensitivity_handles(scaled)) == 8


def test_the_exact_mean_belongs_to_the_random_step(axes, scaled):
    draw_sensitivity(axes, scaled, "random")
    assert any("exact mean" in label for label in labels(axes))
    axes.clear()
    draw_sensitivity(axes, scaled, "worst")
    assert not any("exact mean" in label for label in labels(axes))
    assert any("worst step" in label for label in labels(axes))


def test_panels_are_those_in_which_steps_were_taken_the_models_own_logits_first(whole_paper):
    frame = whole_paper["fig4"].reverse()
    assert panels_of(frame) == [
        ("scaled", "random"),
        ("scaled", "random over all keys"),
        ("scaled", "worst"),
        ("raw", "random"),
    ]
    assert panels_of(frame.filter(pl.col("direction").str.ends_with("bound"))) == []


def test_raw_logits_have_the_bounds_but_not_the_exact_norm_of_the_scaled(axes, lines, whole_paper):
    raw = of_logits(whole_paper["fig4"], "raw")
    exact = whole_paper["fig4"].filter(pl.col("direction") == "exact")
    draw_sensitivity(axes, pl.concat([raw, exact]), "random")
    drawn = labels(axes)
    assert not any("exact" in label for label in drawn)
    assert sum("bound" in label for label in drawn) == 1
    expected = raw.filter(direction="random", epsilon=10.0).sort("temperature")["maximum"]
    assert lines(axes, "g, ε = 10")[0][1] == expected.to_list()


def test_bands_end_at_the_axis_where_the_interval_goes_below(axes, scaled):
    low = pl.when(pl.col("temperature") < 0.1).then(-1.0).otherwise("low")
    draw_sensitivity(axes, scaled.with_columns(low=low), "random")
    lowest = [band.get_paths()[0].vertices[:, 1].min() for band in axes.collections]
    assert min(lowest) == axes.get_ylim()[0] > 0


def test_markers_of_lines_on_one_another_take_turns(axes, scaled):
    draw_sensitivity(axes, scaled, "random")
    turns = [line.get_markevery() for line in axes.get_lines() if line.get_marker() in list("os^")]
    assert turns == [(0, 3), (1, 3), (2, 3)]


def test_bounds_far_above_do_not_squeeze_what_was_measured(axes, scaled):
    huge = pl.when(pl.col("direction") == "corrected bound").then(1e30).otherwise("maximum")
    draw_sensitivity(axes, scaled.with_columns(maximum=huge), "random")
    assert axes.get_ylim()[1] < 1e4


def test_a_direction_that_was_not_taken_is_told(axes, words, scaled):
    draw_sensitivity(axes, scaled.filter(pl.col("direction") != "worst"), "worst")
    assert words(axes)[0].replace("\n", " ") == "no step in a worst direction in this run"


def test_the_small_print_counts_heads_and_rows(scaled):
    told = "the largest of 270 heads, each the mean over 64 rows spread over the window"
    assert sensitivity_words(scaled).startswith(told + "; bands: 95 % from the spread over rows;")
    unsure = scaled.with_columns(low=pl.lit(None, pl.Float64))
    assert sensitivity_words(unsure).startswith(told + "; no intervals;")
    bounds = scaled.filter(pl.col("direction").str.ends_with("bound"))
    assert sensitivity_words(bounds) == "nothing was measured"


def test_the_small_print_tells_the_one_direction_and_whose_grid_it_is(scaled):
    told = sensitivity_words(scaled)
    assert "one random direction serves every T and ε" in told
    assert "the grid of T is ours: the paper prints none" in told
