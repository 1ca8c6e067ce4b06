"""Other rules on the same logits."""

import math

import polars as pl
import pytest
from headgauge.report.paper.rules import (
    at_one_length,
    draw_rule_criticals,
    draw_rule_distances,
    draw_rule_separability,
    looks_of,
    rule_choice,
    rule_words,
)

from headgauge.report.paper.looks import PAPER_LINE
from headgauge.report.paper.selecting import of_choice

from .conftest import CHOICES, CLOSEST, RULES


@pytest.fixture
def looks(whole_paper):
    return looks_of(whole_paper, CLOSEST)


def test_a_line_for_each_rule_with_its_own_numbers(axes, lines, whole_paper, looks):
    draw_rule_distances(axes, of_choice(whole_paper["fig2b"], CLOSEST, None), looks)
    assert list(looks) == list(RULES)
    assert lines(axes, "the model's own")[0][1][1] == pytest.approx(605)
    assert lines(axes, "sparsemax")[0][1][1] == pytest.approx(605 * 0.88)


def test_critical_ns_of_the_printed_expectation_at_the_strictest_level(
    axes, lines, whole_paper, looks
):
    draw_rule_criticals(axes, of_choice(whole_paper["fig2c"], CLOSEST, None), looks)
    assert lines(axes, "the model's own")[0][1][-1] == 82
    assert lines(axes, "topk")[0][1][-1] == 48


def test_rules_at_one_length_are_a_list_with_their_numbers(axes, lines, words, whole_paper, looks):
    frame = of_choice(whole_paper["fig2c"], CLOSEST, None)
    assert not at_one_length(frame)
    own, longest = pl.col("rule") == "model", pl.col("length") == 1024
    frame = frame.filter(own | longest)
    assert at_one_length(frame)
    lost = pl.when(pl.col("rule") == "topk").then(None).otherwise("critical_n")
    draw_rule_criticals(axes, frame.with_columns(critical_n=lost), looks)
    told = [text for text in words(axes) if ": " in text]
    assert told[0] == "the model's own: 82"
    assert told[-1] == "topk: none up to 512"
    assert len(told) == len(RULES)
    assert lines(axes, "sparsemax") == [([72], [2])]
    assert lines(axes, PAPER_LINE.label)[0][0] == [pytest.approx(61.44)] * 2


def test_separability_of_each_rule(axes, lines, whole_paper, looks):
    draw_rule_separability(axes, of_choice(whole_paper["fig3"], CLOSEST, None), looks)
    assert lines(axes, "topk")[0][1][4] == pytest.approx(0.838 * 0.58)


def test_the_choice_with_rules_is_shown_where_the_closest_has_none(whole_paper):
    assert rule_choice(whole_paper, CLOSEST) == CLOSEST
    assert rule_choice(whole_paper, CHOICES[1]) == CLOSEST
    own = {
        name: frame.filter(pl.col("rule") == "model")
        for name, frame in whole_paper.items()
        if "rule" in frame.columns
    }
    assert rule_choice(whole_paper | own, CHOICES[1]) == CHOICES[1]


def test_a_run_without_rules_says_so(make_paper):
    own = make_paper(rules=("model",))
    assert rule_words(looks_of(own, CLOSEST)) == "no other rule was put on the logits in this run"


def test_the_rules_are_counted(looks):
    assert rule_words(looks).startswith("7 other rules")


def test_what_ssmax_is_here_is_told(looks):
    assert "ssmax has s = 1, so it multiplies the logits by log n: 6.9 at n = 1024" in rule_words(
        looks
    )
    assert math.log(1024) == pytest.approx(6.9, abs=0.05)
    assert "ssmax" not in rule_words({rule: looks[rule] for rule in ("model", "topk")})
