"""Figures 2a, 2b and 2c."""

import polars as pl
import pytest

from headgauge.report.paper.distance import (
    critical,
    critical_panel,
    critical_words,
    distance_panel,
    distances,
    none_words,
)
from headgauge.report.paper.tables import of_choice
from report.conftest import panels

from .conftest import AT_1024, CLOSEST, LENGTHS, MEASURES


@pytest.fixture
def over_n(whole_paper):
    return of_choice(whole_paper["fig2b"], CLOSEST)


@pytest.fixture
def tests(whole_paper):
    return of_choice(whole_paper["fig2c"], CLOSEST)


def test_each_line_has_its_numbers_and_the_corrected_expectation_is_an_area(over_n, series):
    panel = distance_panel(over_n, "top_n", "")
    for place, name in enumerate(MEASURES):
        line = series(panel, name)
        assert line.x == list(AT_1024)
        assert line.y == pytest.approx([numbers[place] for numbers in AT_1024.values()])
        assert line.high == pytest.approx([each * 1.02 for each in line.y])
    assert series(panel, "expected_appendix").filled_to == "expected_upper"


def test_the_axis_is_straight_from_zero_while_all_can_be_seen(over_n, whole_paper):
    assert (
        distance_panel(over_n, "top_n", "").y.log,
        distance_panel(over_n, "top_n", "").y.low,
    ) == (
        False,
        0.0,
    )
    frame = of_choice(whole_paper["fig2a"], CLOSEST)
    small = pl.col("measure").is_in(["expected_appendix", "expected_upper"])
    frame = frame.with_columns(mean=pl.when(small).then(pl.col("mean") / 10).otherwise("mean"))
    panel = distance_panel(frame, "length", "")
    assert (panel.x.log, panel.y.log, panel.y.low) == (True, True, None)


def test_what_stands_still_is_a_switch_the_papers_first(whole_paper):
    more = whole_paper["fig2a"].with_columns(top_n=pl.lit(20, pl.Int64))
    paper = whole_paper | {"fig2a": pl.concat([more, whole_paper["fig2a"]])}
    figure = distances(paper, "length")
    titles = {panel.at["N"]: panel.title for panel in figure.panels}
    assert titles == {"5": "(a) distance over L, N = 5", "20": "(a) distance over L, N = 20"}
    assert figure.switches[0].options == (("5", "5"), ("20", "20"))
    assert distances(whole_paper, "top_n").panels[0].title == "(b) distance over N, L = 1024"
    assert panels(distances({"fig2b": whole_paper["fig2b"].clear()}, "top_n"))[0].series == ()


def test_bounds_that_only_the_page_has_wait_for_the_reader(over_n):
    extra = over_n.filter(measure="distance").with_columns(measure=pl.lit("bound_centroid"))
    panel = distance_panel(pl.concat([over_n, extra]), "top_n", "")
    assert {each.name for each in panel.series if not each.shown} == {"bound_centroid"}


def test_critical_ns_stand_at_their_length_with_their_bars(tests, series):
    panel = critical_panel(tests, "")
    strict, mild = series(panel, "printed 0.01"), series(panel, "printed 0.05")
    assert strict.x == list(LENGTHS)
    assert (strict.y[-1], mild.y[-1]) == (82, 102)
    assert (strict.hollow, mild.hollow) == (None, [True] * 6)
    (bars,) = [each for each in panel.series if each.name == strict.name and each.low is not None]
    assert bars.low
    assert bars.high
    assert (bars.low[-1], bars.high[-1], bars.look.line) == (66, 102, "none")
    assert "; bars: 95 % bootstrap over heads" in critical_words(tests)


def test_where_none_was_found_words_above_the_lines_say_so(tests):
    panel = critical_panel(tests, "")
    second, first = panel.marks  # from the line below upwards
    assert (first.label, second.label) == ("eq. 24: none, N ≤ 512", "second moment: none, N ≤ 512")
    highest = max(float(n) for each in panel.series for n in (*each.y, *(each.high or ())) if n)
    assert highest < second.values[1] < first.values[1]


def test_a_milder_test_alone_that_finds_none_has_its_words_too(tests):
    lost = (pl.col("level") == 0.05) & (pl.col("expected") == "printed") & (pl.col("length") == 64)
    tests = tests.with_columns(critical_n=pl.when(lost).then(None).otherwise("critical_n"))
    assert none_words(tests)[0] == "printed, level 0.05: none at 1 of 6 L"


def test_none_at_all_is_told_and_the_papers_line_stays(make_paper, series):
    frame = of_choice(make_paper(critical=False)["fig2c"], CLOSEST)
    panel = critical_panel(frame, "")
    paper = series(panel, "paper")
    assert list(paper.y) == pytest.approx([0.06 * length for length in paper.x])
    assert paper.x[0] < 32 < 1024 < paper.x[1]
    assert len(panel.marks) == 3
    told = "; only some rows from N = 100 on; no critical N up to N = 512"
    assert critical_words(frame).endswith(told)


def test_few_heads_are_drawn_only_where_there_are_more_than_gpt2_has(tests, series):
    assert series(critical_panel(tests, ""), "few").y[-1] == 70
    few = critical_panel(tests.with_columns(heads=pl.lit(144, pl.Int64)), "")
    assert not any(each.name == "few" for each in few.series)


def test_the_small_print_says_which_window_and_how_far_the_others_differ(tests):
    told = "critical N: 270 heads, the first of 2 windows, 128 of 1024 query rows at L = 1024; "
    assert critical_words(tests).startswith(told)
    assert "by window" not in critical_words(tests)
    known = tests.with_columns(window_low=pl.lit(70), window_high=pl.lit(90))
    assert "; as printed, N = 70 to 90 by window at L = 1024" in critical_words(known)
    assert critical_words(tests.clear()) == "nothing was tested"


def test_nothing_is_told(over_n, tests):
    assert distance_panel(over_n.clear(), "top_n", "").empty == "no distances in this run"
    empty = critical_panel(tests.clear(), "")
    assert (empty.series, empty.empty) == ((), "no tests in this run")


def test_p_values_and_growth_are_on_the_page(whole_paper, series):
    who = dict(zip(("vectors", "scale", "keys"), CLOSEST, strict=True)) | {"rule": "model"}
    who |= {"text": "prose", "expected": "printed"}
    schema = {
        name: whole_paper["fig2c_tests"].schema[name] for name in whole_paper["fig2c_tests"].columns
    }
    numbers = {"distance": 1.0, "expectation": 2.0, "statistic": 0.5}
    rows = [
        who | numbers | {"length": length, "top_n": n, "p_value": 10.0**-n}
        for length in (64, 1024)
        for n in (1, 2, 20)
    ]
    growth = who | {"level": 0.01, "exponent": 1.1, "low": 0.9, "high": 1.2, "found": 0.5}
    growth |= {"shortest": 32, "longest": 1024, "heads": 144}
    grown = pl.DataFrame([growth], schema=whole_paper["fig2c_growth"].schema)
    tests = pl.DataFrame(rows, schema=schema)
    figure = critical(whole_paper | {"fig2c_tests": tests, "fig2c_growth": grown})
    assert [panel.at for panel in figure.panels] == [{}, {"p": "1024"}, {"p": "64"}]
    line = series(figure.panels[1], "printed 0.01")
    assert (line.x, line.y) == ([1, 2, 20], [0.1, 0.01, 1e-20])
    assert line.facts["KS statistic"] == [0.5] * 3
    assert figure.panels[1].y.floor == 1e-12
    assert [mark.values for mark in panels(figure)[1].marks] == [(0.01,), (0.05,)]
    told = "Growth with L, with the printed expectation at level 0.01: L^1.10 (0.90 to 1.20), found"
    assert any(each.text.startswith(told) for each in figure.caption)
