"""Figure 3."""

import polars as pl
import pytest
from headgauge.report.paper.separability import draw_separability, separability_handles

from headgauge.report.paper.looks import SEPARABILITY
from headgauge.report.paper.selecting import of_choice

from .conftest import CLOSEST, SHARES


@pytest.fixture
def shares(whole_paper):
    return of_choice(whole_paper["fig3"], CLOSEST)


def test_the_boxes_are_the_quartiles_over_heads(axes, shares):
    draw_separability(axes, shares)
    boxes = [patch for patch in axes.patches if patch.get_path().vertices.shape[0] == 6]
    assert len(boxes) == len(SHARES)
    heights = boxes[4].get_path().get_extents()
    assert (heights.ymin, heights.ymax) == pytest.approx((0.838 * 0.9, 0.838 * 1.1))


def test_the_means_stand_at_the_place_of_their_n(axes, lines, shares):
    draw_separability(axes, shares.reverse())
    ((across, up),) = lines(axes, SEPARABILITY.label)
    assert across == list(range(8))
    assert up == pytest.approx(list(SHARES.values()))
    assert [label.get_text() for label in axes.get_xticklabels()] == [str(n) for n in SHARES]


def test_bounds_that_are_not_there_are_not_in_the_legend(shares):
    assert len(separability_handles(shares)) == 5
    only = shares.filter(pl.col("measure") == "separability")
    assert [handle.get_label() for handle in separability_handles(only)] == [
        SEPARABILITY.label,
        "the paper's plateau, 0.70 to 0.85",
    ]


def test_without_quartiles_the_means_are_drawn(axes, lines, shares):
    draw_separability(axes, shares.with_columns(q25=pl.lit(None, pl.Float64)))
    assert lines(axes, SEPARABILITY.label)


def test_no_separability_is_told(axes, words, shares):
    draw_separability(axes, shares.clear())
    assert words(axes) == ["no separability in this run"]
