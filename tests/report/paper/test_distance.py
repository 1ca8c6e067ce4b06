"""Figures 2a and 2b."""

import polars as pl
import pytest

from headgauge.report.paper.distance import draw_distance
from headgauge.report.paper.looks import BOUND, DISTANCE, EXPECTED
from headgauge.report.paper.selecting import of_choice

from .conftest import AT_1024, CLOSEST


@pytest.fixture
def over_n(whole_paper):
    return of_choice(whole_paper["fig2b"], CLOSEST)


def test_each_line_has_its_numbers(axes, lines, over_n):
    draw_distance(axes, over_n, "top_n")
    for place, look in enumerate((DISTANCE, BOUND, EXPECTED)):
        (drawn,) = lines(axes, look.label)
        assert drawn[0] == list(AT_1024)
        assert drawn[1] == pytest.approx([numbers[place] for numbers in AT_1024.values()])


def test_the_corrected_expectation_is_a_band_between_its_two_sides(axes, over_n):
    draw_distance(axes, over_n, "top_n")
    band = axes.collections[0].get_paths()[0].vertices
    sides = {round(float(y), 6) for x, y in band if x == 100}
    assert sides == {70.0, 156.0}


def test_intervals_are_bands_and_a_single_window_has_none(axes, over_n):
    draw_distance(axes, over_n, "top_n")
    ends = [
        band.get_paths()[0].get_extents().ymax for band in axes.collections[1:] if band.get_paths()
    ]
    assert max(ends) == pytest.approx(877 * 1.02)
    axes.clear()
    nothing = pl.lit(None, pl.Float64)
    draw_distance(axes, over_n.with_columns(low=nothing, high=nothing), "top_n")
    assert all(
        not len(band.get_paths()[0].vertices) for band in axes.collections[1:] if band.get_paths()
    )


def test_the_axis_is_straight_from_zero_while_all_can_be_seen(axes, over_n):
    draw_distance(axes, over_n, "top_n")
    assert axes.get_yscale() == "linear"
    assert axes.get_ylim()[0] == 0


def test_the_axis_is_logarithmic_where_the_corrected_would_vanish(axes, whole_paper):
    frame = of_choice(whole_paper["fig2a"], CLOSEST)
    small = pl.col("measure").is_in(["expected_appendix", "expected_upper"])
    frame = frame.with_columns(mean=pl.when(small).then(pl.col("mean") / 10).otherwise("mean"))
    draw_distance(axes, frame, "length")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def many_ns(frame, ns):
    """The rows of N = 20 at every N, the distance growing with it."""
    rows = [
        frame.filter(pl.col("top_n") == 20).with_columns(top_n=pl.lit(n), mean=pl.col("mean") + n)
        for n in ns
    ]
    return pl.concat(rows).with_columns(pl.col("top_n").cast(pl.Int64))


def test_a_line_through_every_n_has_numbers_and_markers_at_the_round_ones_only(axes, over_n):
    draw_distance(axes, many_ns(over_n, range(1, 101)), "top_n")
    round_ones = [1, 2, 5, 10, 20, 50, 100]
    assert list(axes.get_xticks()) == round_ones
    assert not len(axes.get_xticks(minor=True))
    for line in axes.get_lines():
        across = list(line.get_xdata())
        assert across == list(range(1, 101))
        assert [across[place] for place in line.get_markevery()] == round_ones


def test_few_ns_have_a_marker_each_and_odd_ones_still_a_number(axes, over_n):
    draw_distance(axes, many_ns(over_n, [3, 4]), "top_n")
    assert [label.get_text() for label in axes.get_xticklabels()] == ["3"]
    assert all(line.get_markevery() is None for line in axes.get_lines())


def test_without_the_corrected_expectation_the_rest_is_drawn(axes, lines, over_n):
    draw_distance(axes, over_n.filter(pl.col("measure") == "distance"), "top_n")
    assert lines(axes, DISTANCE.label)[0][1][0] == 454
    assert axes.get_yscale() == "linear"


def test_no_distances_are_told(axes, words, over_n):
    draw_distance(axes, over_n.clear(), "top_n")
    assert words(axes) == ["no distances in this run"]


@pytest.mark.parametrize(("factor", "shown"), [(1, "400"), (100, "40k")])
def test_long_numbers_are_told_in_thousands(axes, over_n, factor, shown):
    ends = pl.col("mean", "low", "high")
    draw_distance(axes, over_n.with_columns(ends * factor), "top_n")
    axes.set_yticks([0, 400 * factor])
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["0", shown]
