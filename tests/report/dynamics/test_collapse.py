"""When all are one."""

import polars as pl
import pytest
from matplotlib.text import Annotation

from headgauge.report.dynamics.collapse import collapse_words, draw_collapse
from headgauge.report.dynamics.looks import SCHEME_LOOKS

from .conftest import ALL


@pytest.fixture
def own(whole):
    return whole["collapse"].filter(weights="identity")


def lines_of(axes, scheme):
    colour = SCHEME_LOOKS[scheme].colour
    return [line for line in axes.get_lines() if line.get_color() == colour]


def drawn(axes, scheme):
    return [list(line.get_xdata()) for line in lines_of(axes, scheme)]


def test_a_bar_from_the_earliest_to_the_latest_and_the_median_upon_it(axes, own):
    draw_collapse(axes, own.reverse(), list(ALL))
    row = own.filter(scheme="ngpt").row(0, named=True)
    assert drawn(axes, "ngpt") == [[row["low"], row["time"], row["high"]], [row["time"]]]
    places = {line.get_ydata()[0] for line in lines_of(axes, "ngpt")}
    assert places == {4}


def test_without_a_median_the_seeds_that_got_there_are_counted(axes, words, own):
    draw_collapse(axes, own, list(ALL))
    assert drawn(axes, "unnormalised") == []
    assert "5 of 20 seeds got there" in words(axes)


def test_a_bar_without_an_end_is_marked(axes, own):
    some = own.filter(scheme="post_ln").with_columns(
        collapsed=pl.lit(0.6), high=pl.lit(None, pl.Float64)
    )
    draw_collapse(axes, some, ["post_ln"])
    row = some.row(0, named=True)
    assert drawn(axes, "post_ln")[0] == [row["low"], row["time"]]
    (arrow,) = [text for text in axes.texts if isinstance(text, Annotation)]
    assert (arrow.xyann, arrow.xy) == ((row["time"], 0), (0.99, 0))


def test_the_words_have_the_number_of_seeds(own):
    assert "20 seeds" in collapse_words(own)
