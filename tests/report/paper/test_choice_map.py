"""All choices in the overview."""

import polars as pl
import pytest
from headgauge.report.paper.choice_map import draw_choice_key, draw_choice_map

from headgauge.report.paper.choices import in_order
from headgauge.report.paper.page import open_page

from .conftest import OTHER


@pytest.fixture
def choices(whole_paper):
    return whole_paper["choices"]


def test_each_choice_has_its_number_at_its_point(axes, choices):
    draw_choice_map(axes, choices)
    rows = in_order(choices)
    found = {int(text.get_text()): text.xy for text in axes.texts}
    assert sorted(found) == list(range(1, rows.height + 1))
    for number, row in enumerate(rows.iter_rows(named=True), start=1):
        share, height = found[number]
        assert height == row["separability_at_16"]
        assert row["critical_share"] in (share, None)


def test_those_without_a_critical_n_stand_apart(axes, words, choices):
    draw_choice_map(axes, choices)
    labels = [label.get_text() for label in axes.get_xticklabels()]
    nowhere = axes.get_xticks()[labels.index("none")]
    (none,) = choices.filter(pl.col("critical_share").is_null())["separability_at_16"]
    assert [text.xy for text in axes.texts if text.xy[1] == none] == [(nowhere, none)]
    assert nowhere > max(choices["critical_share"].drop_nulls())
    axes.clear()
    draw_choice_map(axes, choices.drop_nulls("critical_share"))
    assert "none" not in words(axes)


def test_ring_and_square_are_where_the_table_has_closest_and_judged(axes, lines, two_texts):
    rows = two_texts["choices"].filter(text=OTHER)
    draw_choice_map(axes, rows)
    for label, mark in (("closest here", "closest"), ("judged", "measured")):
        ((across, up),) = lines(axes, label)
        (row,) = rows.filter(mark).iter_rows(named=True)
        assert (across, up) == ([row["critical_share"]], [row["separability_at_16"]])


def test_the_key_has_each_number_in_the_line_of_its_vectors_and_the_column_of_the_rest(choices):
    figure, (panel,) = open_page((3.4, 1.5), (1, 1), [1.2], "small")
    draw_choice_map(panel, choices)
    draw_choice_key(panel, choices)
    texts = [(text.get_text(), text.get_position()) for text in figure.axes[1].texts]
    down = {word: y for word, (_, y) in texts}
    columns = [x for word, (x, _) in texts if word == "raw"]
    for number, (vectors, scale) in enumerate(
        in_order(choices).select("vectors", "scale").rows(), 1
    ):
        (at,) = [place for word, place in texts if word == str(number)]
        assert at[1] == down[vectors]
        assert (at[0] in columns) == (scale == "raw")


def test_no_choices_are_told_and_have_no_key(words, choices):
    figure, (panel,) = open_page((3.4, 1.5), (1, 1), [1.2], "small")
    draw_choice_map(panel, choices.clear())
    draw_choice_key(panel, choices.clear())
    assert words(panel) == ["no choices in this run"]
    assert len(figure.axes) == 1
