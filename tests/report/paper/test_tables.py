"""Which rows are shown, and how."""

from typing import Any

import polars as pl

from headgauge.registry.measures import CURVES
from headgauge.report.paper import words
from headgauge.report.paper.tables import (
    lines,
    nearest_n,
    of_choice,
    of_text,
    over_n,
    shown_choice,
)
from headgauge.runs.paper_schema import PAPER_TABLES

from .conftest import CHOICES, CLOSEST, OTHER, no_paper


def test_the_judged_choice_is_shown_wherever_it_stands_else_the_closest(two_texts, whole_paper):
    turned = whole_paper | {"choices": whole_paper["choices"].reverse()}
    assert shown_choice(turned) == CLOSEST
    assert shown_choice(of_text(two_texts, OTHER)) == CLOSEST  # where another one is closest
    unjudged = turned["choices"].with_columns(measured=pl.lit(False))
    assert shown_choice(turned | {"choices": unjudged}) == CLOSEST
    unmarked = unjudged.with_columns(closest=pl.lit(False))
    assert shown_choice(turned | {"choices": unmarked}) == CHOICES[-1]
    assert shown_choice(turned | {"choices": turned["choices"].clear()}) == CLOSEST
    assert shown_choice(no_paper()) == ()


def test_a_text_has_its_own_rows_of_every_table(two_texts):
    mine = of_text(two_texts, OTHER)
    assert list(mine) == list(PAPER_TABLES)
    for name, frame in mine.items():
        if "text" in frame.columns and two_texts[name].height:
            assert set(frame["text"]) == {OTHER}, name


def test_a_choice_under_the_models_own_rule_unless_told_otherwise(whole_paper):
    rows = of_choice(whole_paper["fig2b"], CLOSEST)
    assert rows.select("vectors", "scale", "keys", "rule").unique().rows() == [(*CLOSEST, "model")]
    assert of_choice(whole_paper["fig2b"], CLOSEST, None)["rule"].n_unique() == 8
    assert of_choice(whole_paper["fig2b"], ()).is_empty()


def test_the_nearest_n_is_one(whole_paper):
    frame = whole_paper["fig2b"]
    assert nearest_n(frame) == 5
    assert nearest_n(frame.filter(pl.col("top_n") != 5)) == 1
    assert nearest_n(frame.filter(pl.col("top_n").is_in([10, 20])), 15) == 10
    assert nearest_n(frame.clear()) is None


def line(frame) -> Any:
    (found,) = lines(frame, {"distance": CURVES["distance"]}, "length")
    return found


def test_a_line_goes_along_its_axis_without_what_was_not_seen(whole_paper):
    frame = of_choice(whole_paper["fig2a"], CLOSEST).reverse()
    lost = pl.when(pl.col("length") == 128).then(None).otherwise("mean")
    series = line(frame.with_columns(mean=lost))
    assert series.x == [32, 64, 256, 512, 1024]
    assert series.low[0] == series.y[0] * 0.97
    assert line(frame.with_columns(low=pl.lit(None, pl.Float64))).low is None


def test_means_over_another_number_of_windows_stand_apart(whole_paper):
    frame = of_choice(whole_paper["fig2a"], CLOSEST)
    fewer = pl.when(pl.col("length") == 1024).then(1).otherwise("windows")
    frame = frame.with_columns(windows=fewer.cast(pl.Int64))
    series = line(frame)
    assert series.apart == [False] * 5 + [True]
    assert series.facts["windows"] == [2] * 5 + [1]
    assert "pale points" in words.intervals(frame)


def test_numbers_that_would_stand_on_one_another_are_left_out():
    assert over_n(pl.Series([1, 2, 64, 100])).ticks == ((1, "1"), (2, "2"), (100, "100"))
    assert over_n().ticks is None
