"""Which rows are shown, and what is said of them."""

from typing import Any

import polars as pl

from headgauge.registry.measures import CURVES
from headgauge.registry.names import choice_words
from headgauge.report.captions import longest, span
from headgauge.report.paper.tables import (
    every_table,
    interval_words,
    lines,
    nearest_n,
    number_ticks,
    of_choice,
    of_text,
    row_words,
    sample_words,
    shown_choice,
)
from headgauge.runs.paper_schema import PAPER_TABLES

from .conftest import CHOICES, CLOSEST, OTHER


def test_tables_that_are_not_there_are_empty():
    tables = every_table({})
    assert list(tables) == list(PAPER_TABLES)
    assert all(table.is_empty() for table in tables.values())


def test_the_judged_choice_is_shown_wherever_it_stands_else_the_closest(two_texts, whole_paper):
    turned = whole_paper | {"choices": whole_paper["choices"].reverse()}
    assert shown_choice(turned) == CLOSEST
    assert shown_choice(of_text(two_texts, OTHER)) == CLOSEST  # where another one is closest
    unjudged = turned["choices"].with_columns(measured=pl.lit(False))
    assert shown_choice(turned | {"choices": unjudged}) == CLOSEST
    unmarked = unjudged.with_columns(closest=pl.lit(False))
    assert shown_choice(turned | {"choices": unmarked}) == CHOICES[-1]
    assert shown_choice(turned | {"choices": turned["choices"].clear()}) == CLOSEST
    assert shown_choice(every_table({})) == ()


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
    assert "pale points" in interval_words(frame)


def test_the_small_print_counts_heads_windows_and_rows(make_paper, whole_paper):
    frame = of_choice(whole_paper["fig2a"], CLOSEST)
    told = "270 heads, 2 windows, 128 of 1024 query rows"
    assert sample_words(frame) == told + " at L = 1024"
    assert sample_words(longest(frame)) == told
    assert interval_words(frame) == "bands: 95 % bootstrap over windows"
    poor = make_paper(heads=1, windows=1, rows=4096)["fig2a"]
    assert sample_words(poor) == "1 head, 1 window, every query row"
    assert interval_words(poor) == "no interval: it takes two windows or more"
    assert sample_words(poor.clear()) == "nothing was measured"


def test_where_numbers_have_different_samples_the_words_say_up_to():
    sizes = {
        "heads": [270, 270],
        "windows": [1, 5],
        "length": [1024, 1024],
        "rows": [1024.0, 307.2],
    }
    told = "270 heads, up to 5 windows, 307 to 1024 of 1024 query rows"
    assert sample_words(pl.DataFrame(sizes)) == told
    few = pl.DataFrame({"length": [64, 64], "rows": [63.0, 44.0]})
    assert row_words(few) == "44 to 63 of 64 query rows"


def test_choices_and_spans_in_words():
    assert choice_words(CLOSEST) == "final vectors of unit length, all keys"
    assert span(pl.Series([0.01, None, 0.01])) == "0.01"
    assert span(pl.Series([128, 64])) == "64–128"
    assert span(pl.Series([], dtype=pl.Int64)) == "–"
    assert number_ticks(pl.Series([1, 2, 64, 100])) == ((1, "1"), (2, "2"), (100, "100"))
