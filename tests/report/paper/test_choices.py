"""What hangs on the choice."""

import polars as pl
import pytest

from headgauge.report.paper.choices import (
    choice_map_handles,
    draw_choice_map,
    draw_plateaus,
    draw_shares,
    in_order,
)

from .conftest import CLOSEST


@pytest.fixture
def choices(whole_paper):
    return whole_paper["choices"]


def test_the_closest_is_on_top_with_a_star_and_in_bold(axes, choices):
    draw_shares(axes, choices.reverse(), 1024)
    first, second = axes.get_yticklabels()[:2]
    assert first.get_text() == ", ".join(CLOSEST) + " ★"
    assert (first.get_fontweight(), second.get_fontweight()) == ("bold", "normal")
    assert axes.get_ylim()[0] > axes.get_ylim()[1]


def test_printed_and_corrected_shares_stand_on_the_line_of_their_choice(axes, lines, choices):
    draw_shares(axes, choices, 1024)
    rows = in_order(choices)
    printed = lines(axes, "expectation as printed")
    assert [x for (x,), _ in printed] == rows["critical_share"].drop_nulls().to_list()
    (((share,), (place,)),) = lines(axes, "eq. 24")
    assert share == pytest.approx(307 / 1024)
    assert rows["vectors"][round(place)] == "hidden"


def test_what_has_no_critical_n_is_told(axes, words, choices):
    draw_shares(axes, choices, 1024)
    assert words(axes).count("none found") == 1
    assert words(axes).count("none for eq. 24") == 6
    assert axes.get_xlim()[1] < 1


def test_plateaus_and_the_share_of_heads_within_the_band(axes, lines, words, choices):
    draw_plateaus(axes, choices)
    assert lines(axes, "means from N = 16 on")[0][0] == [0.82, 0.84]
    assert lines(axes, "N = 16")[0][0] == [0.838]
    assert "50 %" in words(axes)


def test_on_the_map_those_without_a_critical_n_stand_apart(axes, words, choices):
    draw_choice_map(axes, choices)
    ticks = dict(
        zip([label.get_text() for label in axes.get_xticklabels()], axes.get_xticks(), strict=True)
    )
    assert ticks["none"] > max(choices["critical_share"].drop_nulls())
    axes.clear()
    draw_choice_map(axes, choices.drop_nulls("critical_share"))
    assert "none" not in words(axes)


def test_the_maps_legend_has_only_what_there_is(choices):
    one = choices.filter(pl.col("closest"))
    assert [handle.get_label() for handle in choice_map_handles(one)] == [
        "final",
        "closest",
        "paper: 0.06",
    ]
    assert len(choice_map_handles(choices)) == 8


def test_no_choices_are_told(words, axes, choices):
    for draw in (draw_choice_map, draw_plateaus, lambda axes, rows: draw_shares(axes, rows, None)):
        axes.clear()
        draw(axes, choices.clear())
        assert words(axes) == ["no choices in this run"]
