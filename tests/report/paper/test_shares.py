"""Lemma 1 and Figure 3."""

import math

import polars as pl
import pytest

from headgauge.report.paper.shares import rule_words, separability, share_panel, vanishing
from headgauge.report.paper.tables import of_choice
from report.conftest import panels

from .conftest import AT_32, BOUNDS_AT_32, CLOSEST, LENGTHS, RULES, SHARES


@pytest.fixture
def weights(whole_paper):
    return vanishing(whole_paper)


def test_the_weights_are_those_of_each_rule_beside_one_over_l(weights, series):
    for name, first in AT_32.items():
        line = series(weights.panels[0], name, rule="model")
        assert (line.x, line.y[0]) == (list(LENGTHS), pytest.approx(first))
        assert series(weights.panels[0], name, rule="ssmax").y[0] == pytest.approx(first * 0.9)
    assert series(weights.panels[0], "guide").y == [1 / length for length in LENGTHS]


def test_bounds_stand_beside_the_weight_and_one_far_above_is_told(weights, whole_paper, series):
    bounds = weights.panels[1]
    assert series(bounds, "largest_weight").y[0] == pytest.approx(AT_32["largest_weight"])
    for name, first in BOUNDS_AT_32.items():
        assert series(bounds, name).y[0] == pytest.approx(first)
        assert series(bounds, name).shown == (name != "bound_printed")
    assert "Corollary 1 as printed gives 10²⁸, far above" in weights.caption[0].text
    near = pl.when(measure="bound_printed").then(pl.col("mean") / 1e26).otherwise("mean")
    frame = whole_paper["vanishing"].with_columns(mean=near)
    seen = vanishing(whole_paper | {"vanishing": frame})
    assert series(seen.panels[1], "bound_printed").shown
    assert "far above" not in seen.caption[0].text


def test_each_rule_has_its_own_numbers_in_its_own_look(weights, series):
    panel = weights.panels[3]
    assert series(panel, "model").y[0] == pytest.approx(0.3)
    assert series(panel, "ssmax").y[0] == pytest.approx(0.27)
    assert len({each.look for each in panel.series}) == len(RULES) + 1


def test_weights_that_were_not_measured_are_told(whole_paper):
    frame = whole_paper["vanishing"]
    empty = vanishing(whole_paper | {"vanishing": frame.clear()})
    assert [panel.series for panel in panels(empty)] == [()] * 4
    unbound = frame.filter(~pl.col("measure").str.starts_with("bound"))
    panel = panels(vanishing(whole_paper | {"vanishing": unbound}))[1]
    assert (panel.series, panel.empty) == ((), "no bound holds for this model's weights")


def test_the_rules_are_counted_and_what_ssmax_is_here_is_told():
    assert rule_words(["model"]) == "no other rule was put on the logits in this run"
    told = rule_words(RULES)
    assert told.startswith("7 other rules")
    assert "ssmax has s = 1, so it multiplies the logits by log n: 6.9 at n = 1024" in told
    assert math.log(1024) == pytest.approx(6.9, abs=0.05)
    assert "ssmax" not in rule_words(["model", "topk"])


def test_the_boxes_are_the_quartiles_over_heads_and_the_line_their_mean(whole_paper, series):
    panel = share_panel(of_choice(whole_paper["fig3"], CLOSEST).reverse(), "")
    line = series(panel, "separability")
    assert line.x == list(SHARES)
    assert line.y == pytest.approx(list(SHARES.values()))
    assert line.boxes["q25"][4] == pytest.approx(0.838 * 0.9)
    assert line.boxes["q75"][4] == pytest.approx(0.838 * 1.1)
    assert line.boxes["minimum"][4] == pytest.approx(0.838 * 0.3)
    assert panel.marks[0].values == (0.70, 0.85)


def test_every_setting_of_figure_3_has_its_own_boxes(whole_paper, series):
    (panel,) = separability(whole_paper).panels
    for rule, factor in (("model", 1.0), ("sparsemax", 0.88)):
        line = series(panel, "separability", vectors="final", scale="unit", rule=rule)
        assert line.boxes["median"][4] == pytest.approx(0.838 * 1.02 * factor)
