"""Figure 2c."""

import itertools

import polars as pl
import pytest
from headgauge.report.paper.critical import critical_handles, critical_words, draw_critical

from headgauge.report.paper.looks import CRITICAL_LOOKS, PAPER_LINE
from headgauge.report.paper.selecting import of_choice

from .conftest import CLOSEST, LENGTHS


@pytest.fixture
def critical(whole_paper):
    return of_choice(whole_paper["fig2c"], CLOSEST)


def arrows(axes):
    return [
        list(zip(line.get_xdata(), line.get_ydata(), strict=True))
        for line in axes.get_lines()
        if line.get_marker() == "$↑$" and len(line.get_xdata())
    ]


def test_critical_ns_stand_at_their_length_with_their_bars(axes, lines, critical):
    draw_critical(axes, critical)
    strict, mild = lines(axes, CRITICAL_LOOKS["printed"].label)
    assert strict[0] == pytest.approx(LENGTHS, rel=0.2)
    assert (strict[1][-1], mild[1][-1]) == (82, 102)
    bars = axes.collections[0].get_segments()
    assert [tuple(bar[:, 1]) for bar in bars][-1] == (66, 102)
    assert "; bars: 95 % bootstrap over heads" in critical_words(critical)


def test_where_none_was_found_an_arrow_stands_at_the_largest_n_tried(axes, critical):
    draw_critical(axes, critical)
    assert len(arrows(axes)) == 4  # eq. 24 and the second moment at two levels
    assert {y for arrow in arrows(axes) for _, y in arrow} == {L // 2 for L in LENGTHS}
    labels = [handle.get_label() for handle in critical_handles(critical)]
    assert "none up to where it begins" in labels


def test_none_at_all_is_told_and_the_papers_line_stays(axes, lines, make_paper):
    frame = of_choice(make_paper(critical=False)["fig2c"], CLOSEST)
    draw_critical(axes, frame)
    ((across, up),) = lines(axes, PAPER_LINE.label)
    assert list(up) == pytest.approx([0.06 * length for length in across])
    assert len(arrows(axes)) == 6
    told = "; only some rows from N = 100 on; no critical N up to N = 512"
    assert critical_words(frame).endswith(told)


def test_arrows_begin_at_their_n_and_stay_off_each_other_and_within_the_panel(axes, critical):
    draw_critical(axes, critical)
    found = [line for line in axes.get_lines() if line.get_marker() == "$↑$"]
    pixels = [line.get_transform().transform(line.get_xydata()) for line in found]
    begin = axes.transData.transform(found[0].get_xydata())
    assert (pixels[0][:, 1] > begin[:, 1] + 2).all()
    across = sorted(place[-1][0] for place in pixels)
    assert min(right - left for left, right in itertools.pairwise(across)) > 1
    assert max(place[-1][1] for place in pixels) < axes.get_window_extent().y1 - 2


def test_the_small_print_says_which_window_and_how_far_the_others_differ(critical):
    told = "critical N: 270 heads, the first of 2 windows, 128 of 1024 query rows at L = 1024; "
    assert critical_words(critical).startswith(told)
    assert "by window" not in critical_words(critical)
    known = critical.with_columns(window_low=pl.lit(70), window_high=pl.lit(90))
    assert "; as printed, N = 70 to 90 by window at L = 1024" in critical_words(known)
    assert critical_words(critical.clear()) == "nothing was tested"


def test_few_heads_are_drawn_only_where_there_are_more_than_gpt2_has(axes, lines, critical):
    label = "with 144 heads, as GPT-2"
    draw_critical(axes, critical)
    assert lines(axes, label)[0][1][-1] == 70
    few = critical.with_columns(heads=pl.lit(144, pl.Int64))
    axes.clear()
    draw_critical(axes, few)
    assert lines(axes, label)[0][1] == []
    assert label not in [handle.get_label() for handle in critical_handles(few)]


def test_a_single_length_still_has_the_papers_line(axes, lines, critical):
    draw_critical(axes, critical.filter(pl.col("length") == 1024))
    ((across, _),) = lines(axes, PAPER_LINE.label)
    assert across[0] < 1024 < across[1]


def test_no_tests_are_told(axes, words, critical):
    draw_critical(axes, critical.clear())
    assert words(axes) == ["no tests in this run"]
