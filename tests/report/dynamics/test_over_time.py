"""What the figures over time describe: their lines, their axes, their words."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from headgauge.report.dynamics.over_time import (
    gamma_figure,
    overview,
    phase_figure,
    swarms_figure,
)
from report.conftest import panels

from .conftest import ALL


def panel(figure, title) -> Any:
    (found,) = [each for each in figure.panels if each.title == title]
    return found


def line(panel, name) -> Any:
    (found,) = [each for each in panel.series if each.name == name]
    return found


@pytest.fixture(scope="module")
def gamma(whole):
    return gamma_figure(whole["curves"], "the run")


def straightness(across, up):
    """1 for a straight line."""
    return abs(np.corrcoef(across, up)[0, 1])


def test_a_line_for_each_scheme_in_the_order_of_time(whole, gamma):
    backwards = gamma_figure(whole["curves"].reverse(), "")
    for figure in (gamma, backwards):
        radius = panel(figure, "radius r")
        assert [each.name for each in radius.series] == list(ALL)
        own = whole["curves"].filter(scheme="peri_ln")
        drawn = line(radius, "peri_ln")
        assert (drawn.x, drawn.y) == (own["time"].to_list(), own["radius"].to_list())
        assert not drawn.look.marker
        assert drawn.label == "Peri-LN"
    few = gamma_figure(whole["curves"].filter(pl.col("time") < 1.0), "")
    assert line(panel(few, "radius r"), "peri_ln").look.marker


def test_the_gap_keeps_its_digits_where_gamma_has_lost_them(whole, gamma):
    up = line(panel(gamma, "gap 1 − γ over t"), "post_ln").y
    last = whole["curves"].filter(scheme="post_ln").sort("time")
    assert last["gamma"][-1] == 1
    assert up[-1] == pytest.approx(math.exp(last["log_gap"][-1]))
    assert up[-1] < 1e-20
    assert panel(gamma, "gap 1 − γ over t").y.log


def test_exponential_is_straight_over_t_and_polynomial_over_log_t(whole):
    late = gamma_figure(whole["curves"].filter(pl.col("time") > 15), "")
    over_t, over_log = panel(late, "gap 1 − γ over t"), panel(late, "gap 1 − γ over log t")
    straight = {
        name: straightness(line(over_t, name).x, np.log(line(over_t, name).y))
        for name in ("post_ln", "peri_ln")
    }
    assert straight["post_ln"] > 0.99999 > straight["peri_ln"]
    slow = line(over_log, "peri_ln")
    assert straightness(np.log(slow.x), np.log(slow.y)) > 0.9999
    assert over_log.x.log


def test_what_has_long_collapsed_does_not_lengthen_the_axis(whole):
    gone = pl.when(pl.col("time") > 29).then(-300.0).otherwise("log_gap")
    figure = gamma_figure(whole["curves"].with_columns(log_gap=gone), "")
    assert 1e-40 < panel(figure, "gap 1 − γ over t").y.low < 1e-20


def test_over_log_t_the_slow_ones_have_the_room(gamma):
    over_log = panel(gamma, "gap 1 − γ over log t")
    slowest = line(over_log, "pre_ln").y[-1]
    assert (over_log.y.low, over_log.y.high) == (pytest.approx(slowest / 100), 2.0)
    assert min(each.x[0] for each in over_log.series) > 0


def test_the_guides_have_the_slopes_they_are_named_after(gamma):
    guide = line(panel(gamma, "gap 1 − γ over t"), "slope of e⁻²ᵗ")
    assert np.diff(np.log(guide.y)) / np.diff(guide.x) == pytest.approx(-2)
    guide = line(panel(gamma, "gap 1 − γ over log t"), "slope of t⁻²")
    assert np.diff(np.log(guide.y)) / np.diff(np.log(guide.x)) == pytest.approx(-2)


def test_numbers_that_are_none_are_not_drawn(whole):
    own = whole["curves"].filter(scheme="post_ln").head(3)
    holes = own.with_columns(
        velocity=pl.Series([1.0, math.nan, math.inf]), log_gap=pl.lit(-math.inf)
    )
    figure = gamma_figure(holes, "")
    drawn = line(panel(figure, "velocity γ′"), "post_ln")
    assert (drawn.x, drawn.y) == ([own["time"][0]], [1.0])
    for title in ("gap 1 − γ over t", "gap 1 − γ over log t"):
        assert not panel(figure, title).series
        assert panel(figure, title).empty == "not in this run"


def test_the_baseline_does_not_widen_the_axis_unless_it_is_alone(whole):
    far = pl.when(pl.col("scheme") == "unnormalised").then(1e6).otherwise("attention_norm")
    curves = whole["curves"].with_columns(attention_norm=far)
    norm = panel(gamma_figure(curves, ""), "‖A‖")
    assert norm.y.high < 1.1
    assert not norm.y.log
    alone = panel(gamma_figure(curves.filter(scheme="unnormalised"), ""), "‖A‖")
    assert alone.y.high > 1e6


def test_even_ratios_are_for_what_spans_much(whole):
    own = whole["curves"].filter(scheme="ngpt").head(3)
    for numbers, log in (
        ([1, 2, 31], True),
        ([1, 2, 29], False),
        ([0, 2, 90], True),
        ([-1, 2, 90], False),
        ([1.0, 2.0, 1e300], True),
        ([math.nan] * 3, False),
    ):
        frame = own.with_columns(radius=pl.Series(numbers, dtype=pl.Float64))
        assert panel(gamma_figure(frame, ""), "radius r").y.log == log, numbers
    rest = own.with_columns(radius=pl.Series([1.0, 1e-3, 1e-30]))
    axis = panel(gamma_figure(rest, ""), "radius r").y  # what comes to rest squeezes nobody
    assert 1e-6 < axis.low < 1e-3
    assert 1 < axis.high < 10


def test_swarms_have_a_row_for_each_measure_and_a_column_for_each_kind(whole):
    swarms = whole["swarms"]
    figure = swarms_figure(swarms.reverse(), "")
    assert (len(figure.panels), figure.columns) == (15, 3)
    assert [each.title for each in figure.panels[:4]] == [
        "Q = K = V = I",
        "random Q, K, V",
        "new Q, K, V per unit of time",
        "radius r",
    ]
    assert len({(each.y.low, each.y.high) for each in figure.panels[:3]}) == 1
    own = swarms.filter(weights="random", scheme="pre_ln").sort("time")
    drawn = line(figure.panels[1], "pre_ln")
    assert (drawn.low, drawn.high) == (own["low"].to_list(), own["high"].to_list())
    assert drawn.facts["farthest pair"] == own["least_cosine"].to_list()
    assert line(figure.panels[4], "pre_ln").low is None
    (switch,) = figure.switches
    words = [value for value, _ in switch.options]
    assert words[1] == "random Q, K, V; n = 64 tokens, d = 512, 1 head, β = 22.63"
    assert [each.at for each in figure.panels[:3]] == [{"weights": each} for each in words]
    assert switch.side_by_side
    told = " ".join(each.text for each in figure.caption)
    assert "random Q, K, V: n = 64 tokens, d = 512, 1 head, β = 22.63, 20 seeds." in told
    assert "may leave a panel" in told


def test_one_kind_of_weights_has_its_panels_in_two_rows(make_simulation):
    one = swarms_figure(make_simulation(kinds={"random": (8, 12, 1.7)})["swarms"], "")
    assert [each.title for each in one.panels[:2]] == ["mean cosine", "radius r"]
    assert (one.columns, one.switches) == (3, ())


def test_a_phase_diagram_has_the_probability_of_each_time_and_beta(whole):
    phase = whole["phase"]
    figure = phase_figure(phase.sample(fraction=1.0, shuffle=True, seed=1), "")
    assert figure.columns == len(ALL)
    assert {each.contour for each in panels(figure)} == {0.5}
    (own,) = [
        each for each in panels(figure) if (each.title, each.y.label) == ("Pre-LN", "β; d = 128")
    ]
    assert own.at["scheme"] == "pre_ln"
    assert own.at["size"] == "n = 32 tokens, d = 128"
    assert (own.rows[0], own.rows[-1], own.columns[0], own.columns[-1]) == ("9", "0", "0", "30")
    there = phase.filter(scheme="pre_ln", dim=128, time=7.0, beta=1.5)["probability"].item()
    assert own.values[own.rows.index("1.5")][own.columns.index("7")] == there
    assert "n = 32 tokens, 20 seeds" in figure.caption[1].text


def test_a_phase_diagram_says_what_it_does_not_have(whole):
    own = whole["phase"].filter(dim=8, scheme="ngpt")
    hole = own.filter(~((pl.col("time") == 3.0) & (pl.col("beta") == 0.0)))
    (holed,) = panels(phase_figure(hole, ""))
    assert [row.count(None) for row in holed.values] == [0] * 18 + [1]
    assert not holed.unit
    (dark,) = panels(phase_figure(own.with_columns(probability=pl.lit(0.0)), ""))
    assert dark.unit == "below one half everywhere"


def test_the_overview_has_random_weights_and_one_scheme_of_each_kind(whole):
    titles = [each.title for each in overview(whole, "").panels]
    assert titles == [
        "common cosine γ of the reduced system",
        "gap 1 − γ over t",
        "mean cosine, random Q, K, V",
        "Post-LN: pairs together",
        "LN-Scaling: pairs together",
        "Peri-LN: pairs together",
    ]
    phase = panels(overview({"phase": whole["phase"]}, ""))[0]
    assert (
        phase.values[0][-1]
        == whole["phase"].filter(scheme="post_ln", dim=1024, beta=9.0)["probability"].tail(1).item()
    )
