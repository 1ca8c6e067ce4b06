"""What depends on the choice."""

import polars as pl
import pytest

from headgauge.report.paper.choices import (
    draw_plateaus,
    draw_shares,
    in_order,
)

from .conftest import CHOICES, CLOSEST, OTHER


@pytest.fixture
def choices(whole_paper):
    return whole_paper["choices"]


def test_the_closest_is_on_top_with_a_star(axes, choices):
    draw_shares(axes, choices.reverse(), 1024)
    first, second = axes.get_yticklabels()[:2]
    assert first.get_text() == ", ".join(CLOSEST) + " ★ ●  1"
    assert (first.get_fontweight(), second.get_fontweight()) == ("bold", "normal")
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_the_judged_one_is_marked_and_bold_wherever_it_stands(axes, two_texts):
    """Closest and judged are what the table says, on each text its own."""
    draw_shares(axes, two_texts["choices"].filter(text=OTHER), 1024)
    first, second = axes.get_yticklabels()[:2]
    assert first.get_text() == ", ".join(CHOICES[1]) + " ★  1"
    assert second.get_text() == ", ".join(CLOSEST) + " ●  2"
    assert (first.get_fontweight(), second.get_fontweight()) == ("normal", "bold")


def places(axes, lines, label):
    """Share by the number of the choice's line."""
    return {round(up[0]): across[0] for across, up in lines(axes, label)}


def test_printed_and_corrected_shares_stand_on_the_line_of_their_choice(axes, lines, choices):
    draw_shares(axes, choices, 1024)
    rows = in_order(choices)
    printed = places(axes, lines, "expectation as printed")
    for place, share in enumerate(rows["critical_share"]):
        assert printed[place] == (nowhere(axes) if share is None else share)
    hidden = rows.select("vectors", "scale").rows().index(("hidden", "unit"))
    assert places(axes, lines, "eq. 24")[hidden] == pytest.approx(307 / 1024)


def nowhere(axes):
    """Where "none" is on the axis."""
    labels = [label.get_text() for label in axes.get_xticklabels()]
    return axes.get_xticks()[labels.index("none")]


def test_what_has_no_critical_n_is_hollow_behind_the_axis(axes, choices):
    draw_shares(axes, choices, 1024)
    hollow = [line for line in axes.get_lines() if line.get_markerfacecolor() == "white"]
    assert len(hollow) == 8  # one as printed, seven for eq. 24
    assert {line.get_xdata()[0] for line in hollow} == {nowhere(axes)}
    assert nowhere(axes) > max(choices["critical_share"].drop_nulls())


def test_small_shares_are_as_far_apart_as_their_ratio(axes, choices):
    small = pl.Series([0.002, 0.003, 0.0547, 0.0605, 0.94, None, 0.01, 0.02])
    draw_shares(axes, choices.with_columns(critical_share=small), 1024)
    at = [
        axes.transAxes.inverted().transform(axes.transData.transform((x, 0)))[0] for x in small[:5]
    ]
    assert axes.get_xscale() == "log"
    assert at[1] - at[0] > 0.04
    assert at[0] > 0
    assert at[4] < 0.95


def test_plateaus_and_the_share_of_heads_within_the_band(axes, lines, words, choices):
    draw_plateaus(axes, choices)
    assert lines(axes, "means from N = 16 on")[0][0] == [0.82, 0.84]
    assert lines(axes, "N = 16")[0][0] == [0.838]
    assert "50 %" in words(axes)


def test_no_choices_are_told(words, axes, choices):
    for draw in (draw_plateaus, lambda axes, rows: draw_shares(axes, rows, None)):
        axes.clear()
        draw(axes, choices.clear())
        assert words(axes) == ["no choices in this run"]
