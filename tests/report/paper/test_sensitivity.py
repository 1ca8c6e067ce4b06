"""Figure 4."""

import polars as pl
import pytest

from headgauge.report.paper.sensitivity import (
    STEPS,
    kinds_of_steps,
    sensitivity_in_files,
    sensitivity_on_page,
    sensitivity_panel,
    sensitivity_words,
)
from report.conftest import panels


@pytest.fixture
def steps(whole_paper):
    return whole_paper["fig4"]


def names(panel):
    return [each.name for each in panel.series]


def test_only_the_steps_of_the_direction_are_drawn(steps, series):
    panel = sensitivity_panel(steps, "scaled", "worst", "")
    expected = steps.filter(direction="worst", epsilon=0.1, logits="scaled").sort("temperature")
    line = series(panel, "step 0.1")
    assert (line.x, line.y) == (expected["temperature"].to_list(), expected["maximum"].to_list())
    assert (panel.x.log, panel.y.log) == (True, True)


def test_the_printed_bound_the_sharp_one_and_one_for_each_step(steps):
    panel = sensitivity_panel(steps, "scaled", "random", "")
    found = names(panel)
    assert [found.count(name) for name in ("printed bound", "corrected bound")] == [1, 1]
    sharp = [each for each in panel.series if each.name == "sharp bound"]
    own = [each for each in panel.series if each.name.startswith("step")]
    assert [each.look.colour for each in sharp] == [each.look.colour for each in own]


def test_the_exact_mean_belongs_to_the_random_step_and_the_exact_norm_to_scaled_logits(steps):
    assert {"exact", "exact mean"} <= set(names(sensitivity_panel(steps, "scaled", "random", "")))
    worst = names(sensitivity_panel(steps, "scaled", "worst", ""))
    assert "exact" in worst
    assert "exact mean" not in worst
    raw = names(sensitivity_panel(steps, "raw", "random", ""))
    assert not any(name.startswith("exact") for name in raw)
    assert "printed bound" in raw


def test_kinds_of_steps_are_those_that_were_taken_the_models_own_logits_first(steps):
    raw_first = steps.sort("logits", maintain_order=True)
    assert [(kind["logits"], kind["direction"]) for kind in kinds_of_steps(raw_first)] == [
        ("scaled", "random"),
        ("scaled", "random over all keys"),
        ("scaled", "worst"),
        ("raw", "random"),
    ]
    assert kinds_of_steps(steps.filter(pl.col("direction").str.ends_with("bound"))) == []


def test_figure_4_has_as_many_panels_as_kinds_of_steps_all_on_one_axis(whole_paper, steps):
    figure = sensitivity_in_files(whole_paper)
    assert [panel.title for panel in figure.panels] == [
        "(a) random direction, scaled logits",
        "(b) random over all keys, scaled logits",
        "(c) worst direction, scaled logits",
        "(d) random direction, raw logits",
    ]
    assert len({(panel.y.low, panel.y.high) for panel in figure.panels}) == 1
    one = steps.filter(direction="random", logits="scaled")
    kinds = [(kind, name) for kind in ("scaled", "raw") for name in STEPS]
    for count, columns in enumerate((1, 2, 3, 2, 3, 3), start=1):
        rows = [one.with_columns(logits=pl.lit(k), direction=pl.lit(n)) for k, n in kinds[:count]]
        figure = sensitivity_in_files({"fig4": pl.concat(rows)})
        assert (len(figure.panels), figure.columns) == (count, columns)
        assert all(panel.series for panel in panels(figure))


def test_the_page_has_steps_under_other_rules_without_softmaxs_bounds(steps):
    other = steps.filter(direction="random", logits="scaled")
    other = other.with_columns(direction=pl.lit("random under sparsemax"))
    figure = sensitivity_on_page({"fig4": pl.concat([steps, other])})
    directions = [value for value, _ in figure.switches[0].options]
    assert directions == [*STEPS, "random under sparsemax"]
    (panel,) = [each for each in figure.panels if each.at["direction"] == directions[-1]]
    assert names(panel) == ["step 0.001", "step 0.1", "step 10"]
    assert figure.switches[1].options == (("scaled", "scaled by 1/√d"), ("raw", "raw"))


def test_bounds_far_above_do_not_squeeze_what_was_measured(steps):
    huge = pl.when(pl.col("direction") == "corrected bound").then(1e30).otherwise("maximum")
    panel = sensitivity_panel(steps.with_columns(maximum=huge), "scaled", "random", "")
    low, high = panel.y.low or 0, panel.y.high or 0
    assert 0 < low < high < 1e4
    gone = sensitivity_panel(steps.filter(pl.col("direction") != "worst"), "scaled", "worst", "")
    assert (gone.series, gone.empty) == ((), "no step in a worst direction in this run")


def test_the_small_print_counts_heads_and_rows_and_tells_whose_grid_it_is(steps):
    told = "the largest of 270 heads, each the mean over 64 rows spread over the window"
    assert sensitivity_words(steps).startswith(told + "; bands: 95 % from the spread over rows;")
    unsure = steps.with_columns(low=pl.lit(None, pl.Float64))
    assert sensitivity_words(unsure).startswith(told + "; no intervals;")
    bounds = steps.filter(pl.col("direction").str.ends_with("bound"))
    assert sensitivity_words(bounds) == "nothing was measured"
    assert "one random direction for every T and ε" in sensitivity_words(steps)
    assert sensitivity_words(steps).endswith("which T is our choice: the paper prints none")
