"""What captions say of the rows behind a figure."""

import polars as pl

from headgauge.registry.names import choice_words
from headgauge.registry.published import CHOICE_AND_RULE
from headgauge.report.captions import longest, span
from headgauge.report.paper import words
from headgauge.report.paper.tables import of_choice

from .conftest import CLOSEST


def test_the_small_print_counts_heads_windows_and_rows(make_paper, whole_paper):
    frame = of_choice(whole_paper["fig2a"], CLOSEST)
    told = "270 heads, 2 windows, 128 of 1024 query rows"
    assert words.sample(frame) == told + " at L = 1024"
    assert words.sample(longest(frame)) == told
    assert words.intervals(frame) == "bands: 95 % bootstrap over windows"
    poor = make_paper(heads=1, windows=1, rows=4096)["fig2a"]
    assert words.sample(poor) == "1 head, 1 window, every query row"
    assert words.intervals(poor) == "no error bands: they take two windows or more"
    assert words.sample(poor.clear()) == "nothing was measured"


def test_where_numbers_have_different_samples_the_words_say_up_to():
    sizes = {
        "heads": [270, 270],
        "windows": [1, 5],
        "length": [1024, 1024],
        "rows": [1024.0, 307.2],
    }
    told = "270 heads, up to 5 windows, 307 to 1024 of 1024 query rows"
    assert words.sample(pl.DataFrame(sizes)) == told
    few = pl.DataFrame({"length": [64, 64], "rows": [63.0, 44.0]})
    assert words.query_rows(few) == "44 to 63 of 64 query rows"


def test_choices_and_spans_in_words():
    assert choice_words(CLOSEST) == "final vectors of unit length, all keys"
    assert span(pl.Series([0.01, None, 0.01])) == "0.01"
    assert span(pl.Series([128, 64])) == "64–128"
    assert span(pl.Series([], dtype=pl.Int64)) == "–"
    under = {name: [value] for name, value in zip(CHOICE_AND_RULE, (*CLOSEST, "topk"), strict=True)}
    assert words.choice(pl.DataFrame(under)) == f"{choice_words(CLOSEST)}, rule topk"


def test_a_sentence_of_what_says_something():
    assert words.sentence("one", "", "two").text == "One; two."
    assert words.sentence("one", letter="(a) ").text == "(a) one."
    assert words.sentence("").text == ""
    frame = pl.DataFrame({"text": ["a", "b", "a"]})
    said = words.sentences(frame, ["text"], lambda rows: "two rows" * (len(rows) > 1))
    assert [(each.text, each.at) for each in said] == [("Two rows.", {"text": "a"})]
