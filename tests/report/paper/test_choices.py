"""What depends on the choice of vectors and keys, and other rules on the same logits."""

from typing import Any

import polars as pl
import pytest

from headgauge.registry.names import rules
from headgauge.report.paper.choices import (
    choices_figure,
    in_order,
    rule_choice,
    rule_criticals,
    rules_figure,
    share_axis,
)
from headgauge.report.paper.distance import strictest
from headgauge.report.paper.overview import choice_map
from headgauge.report.paper.tables import of_choice, of_text
from report.conftest import panels

from .conftest import CHOICES, CLOSEST, OTHER, RULES


def labels(panel):
    return [label for _, label in panel.y.ticks]


def place_of_none(panel) -> Any:
    return {label: place for place, label in panel.x.ticks}["none"]


def axis_of(*shares) -> Any:
    return share_axis(pl.Series(shares))


def test_the_closest_is_on_top_with_a_star_and_the_judged_has_a_dot(whole_paper, two_texts):
    turned = whole_paper | {"choices": whole_paper["choices"].reverse()}
    panel = panels(choices_figure(turned))[0]
    assert labels(panel)[0] == ", ".join(CLOSEST) + " ★ ●  1"
    assert panel.y.low > panel.y.high  # the first on top
    other = labels(choices_figure(of_text(two_texts, OTHER)).panels[0])
    assert other[:2] == [", ".join(CHOICES[1]) + " ★  1", ", ".join(CLOSEST) + " ●  2"]


def test_printed_and_corrected_shares_stand_on_the_line_of_their_choice(whole_paper, series):
    panel = panels(choices_figure(whole_paper))[0]
    rows = in_order(whole_paper["choices"])
    nowhere = place_of_none(panel)
    printed, corrected = series(panel, "critical_share"), series(panel, "corrected")
    assert printed.x == [nowhere if share is None else share for share in rows["critical_share"]]
    assert [round(place) for place in printed.y] == list(range(8))
    assert sum(printed.hollow) == 1
    hidden = rows.select("vectors", "scale").rows().index(("hidden", "unit"))
    assert corrected.x[hidden] == pytest.approx(307 / 1024)
    assert sum(corrected.hollow) == 7
    assert nowhere > max(rows["critical_share"].drop_nulls())
    assert panel.marks[0].values == (0.06,)


def test_small_shares_are_on_an_axis_of_even_ratios_that_holds_them(whole_paper):
    axis, _ = axis_of(0.002, 0.003, 0.94)
    assert axis.log
    assert axis.low < 0.002 < 0.94 < axis.high
    assert "none" not in [label for _, label in axis.ticks]
    wider, nowhere = axis_of(0.002, None)
    assert wider.low < 0.002 < nowhere < wider.high


def test_plateaus_and_the_share_of_heads_within_the_band(whole_paper, series):
    panel = panels(choices_figure(whole_paper))[1]
    ranges = [each for each in panel.series if each.name == "range"]
    assert (list(ranges[0].x), list(ranges[0].y)) == ([0.82, 0.84], [0, 0])
    assert series(panel, "settled").x[0] == 0.838
    assert labels(panel)[0] == "50 %"
    assert panel.marks[0].values == (0.70, 0.85)


def test_no_choices_are_told(whole_paper):
    empty = whole_paper | {"choices": whole_paper["choices"].clear()}
    for panel in (*panels(choices_figure(empty)), choice_map(empty["choices"])[0]):
        assert panel.empty == "no choices in this run"
        assert not any(len(each.x) for each in panel.series)


def test_each_choice_has_its_number_at_its_point_and_in_the_small_print(whole_paper):
    rows = in_order(whole_paper["choices"])
    panel, told = choice_map(whole_paper["choices"])
    nowhere = place_of_none(panel)
    found = {
        name: (x, y)
        for each in panel.series
        for name, x, y in zip(each.names or [], each.x, each.y, strict=False)
    }
    for row in rows.iter_rows(named=True):
        share = nowhere if row["critical_share"] is None else row["critical_share"]
        assert found[str(row["number"])] == (share, row["separability_at_16"])
        choice = f"{row['vectors']} {row['scale']} {row['keys']}"
        assert f"{row['number']} {choice}" in told
    (final,) = [each for each in panel.series if each.name == "final"]
    assert final.hollow == [False, True]


def test_ring_and_square_are_where_the_table_has_closest_and_judged(two_texts, series):
    rows = two_texts["choices"].filter(text=OTHER)
    panel, _ = choice_map(rows)
    for name in ("closest", "measured"):
        ring = series(panel, name)
        (row,) = rows.filter(name).iter_rows(named=True)
        assert (ring.x, ring.y) == ([row["critical_share"]], [row["separability_at_16"]])


def test_a_line_for_each_rule_with_its_own_numbers(whole_paper, series):
    over_n, _, shares = panels(rules_figure(whole_paper))
    assert [each.name for each in over_n.series] == list(RULES)
    assert series(over_n, "model").y[1] == pytest.approx(605)
    assert series(over_n, "sparsemax").y[1] == pytest.approx(605 * 0.88)
    assert series(shares, "topk").y[4] == pytest.approx(0.838 * 0.58)


def test_the_critical_n_of_each_rule_stands_on_its_line_with_its_number(whole_paper, series):
    tests = strictest(of_choice(whole_paper["fig2c"], CLOSEST, None))
    lost = pl.when(pl.col("rule") == "topk").then(None)
    tests = tests.with_columns(lost.otherwise(name).alias(name) for name in ("critical_n", "low"))
    panel = rule_criticals(tests, rules(list(RULES)))
    points = {rule: series(panel, rule) for rule in RULES}
    assert [place for each in points.values() for place in each.y] == list(range(8))
    assert (points["model"].x, points["sparsemax"].x) == ([82], [72])
    (bar,) = [each for each in panel.series if each.name == "sparsemax" and not each.label]
    assert list(bar.names or ()) == [None, "72"]
    assert (points["topk"].names, points["topk"].look.marker) == (["none up to 512"], "right")
    assert panel.marks[0].values == (pytest.approx(61.44),)
    assert panel.title == "(b) critical N, L = 1024"


def test_the_choice_with_rules_is_shown_where_the_judged_has_none(whole_paper, make_paper):
    assert rule_choice(whole_paper) == CLOSEST
    assert rule_choice(make_paper(judged=1)) == CLOSEST
    own = {
        name: frame.filter(pl.col("rule") == "model")
        for name, frame in make_paper(judged=1).items()
        if "rule" in frame.columns
    }
    assert rule_choice(make_paper(judged=1) | own) == CHOICES[1]


def test_the_small_print_of_the_rules_says_the_choice_and_what_ssmax_is(whole_paper):
    (small,) = rules_figure(whole_paper).caption
    assert small.text.startswith("Final vectors of unit length, all keys; 7 other rules")
    assert "ssmax has s = 1" in small.text
    assert "critical N: printed expectation, level 0.01" in small.text
