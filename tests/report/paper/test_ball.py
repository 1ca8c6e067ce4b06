"""The ball at its edge."""

import math

import polars as pl
import pytest
from headgauge.report.paper.ball import draw_edge, near_and_far, token
from matplotlib.patches import Circle


@pytest.fixture
def head(whole_paper):
    return whole_paper["fig1"].filter(panel="model", layer=0)


def inside(axes, x, y):
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    return left < x < right and bottom < y < top


def test_a_heavy_token_near_s_does_not_squeeze_the_others(axes, head):
    near, far = near_and_far(head)
    assert (near.height, far["key"].to_list()) == (7, [0])
    draw_edge(axes, head, whole=True)
    assert all(inside(axes, *at) for at in near.select("scaled_x", "scaled_y").iter_rows())
    assert not inside(axes, *far.select("scaled_x", "scaled_y").row(0))
    left, right = axes.get_xlim()
    across = near["scaled_x"].to_list()
    spread = max(across) - min(across)
    assert spread > 0.2 * (right - left)


def test_the_frame_has_one_scale_and_the_edge_of_the_ball_in_it(axes, head):
    draw_edge(axes, head, whole=True)
    extent, (left, right), (bottom, top) = (
        axes.get_window_extent(),
        axes.get_xlim(),
        axes.get_ylim(),
    )
    assert (right - left) / extent.width == pytest.approx((top - bottom) / extent.height)
    radius = head["radius"][0]
    s = head.select("s_x", "s_y").row(0)
    around = [
        (s[0] + radius * math.cos(turn / 5000), s[1] + radius * math.sin(turn / 5000))
        for turn in range(31416)
    ]
    assert any(inside(axes, *at) for at in around)


def test_the_small_picture_has_the_whole_ball_and_every_selected_token(axes, words, head):
    draw_edge(axes, head, whole=True)
    (small,) = axes.child_axes
    (ball,) = [patch for patch in small.patches if isinstance(patch, Circle)]
    assert (ball.center, ball.radius) == (head.select("s_x", "s_y").row(0), head["radius"][0])
    drawn = [
        len(line.get_xdata())
        for line in small.get_lines()
        if line.get_label().startswith("selected")
    ]
    assert sum(drawn) == 8
    assert "not in the frame:\n“, weight 0.70" in words(axes)


def test_inside_outside_and_left_out_are_told_apart(axes, lines, head):
    draw_edge(axes, head, whole=True)
    counts = {
        "selected, inside the ball": head.filter("selected", "inside").height,
        "selected, outside": 8 - head["inside"].sum(),
        r"not selected, $\alpha_i x_i$": 52,
    }
    assert counts["selected, outside"] > 0
    for label, count in counts.items():
        assert len(lines(axes, label)[0][0]) == count


def test_at_most_four_tokens_have_their_text_and_it_is_no_mathematics(axes, head):
    apart = pl.when("selected").then(pl.col("key") * 0.01).otherwise("scaled_y")
    names = head.with_columns(token=pl.lit("$\\frac{$ and more"), scaled_y=apart)
    draw_edge(axes, names, whole=True)
    named = [text for text in axes.texts if text.get_text() == "$\\frac{$␣an…"]
    assert 1 <= len(named) <= 4
    axes.get_figure().draw_without_rendering()


def test_blanks_of_a_token_can_be_seen_and_it_has_no_quotation_marks_but_its_own():
    assert token(" the") == "␣the"
    assert token("\n\r\n\t") == "↵↵␣"
    assert token("“") == "“"
    assert token("中" + "x" * 20) == "□" + "x" * 10 + "…"


def test_on_the_circle_every_point_is_in_the_frame(axes, whole_paper):
    circle = whole_paper["fig1"].filter(panel="circle")
    draw_edge(axes, circle, whole=False)
    assert all(inside(axes, *at) for at in circle.select("scaled_x", "scaled_y").iter_rows())
    assert not axes.child_axes


def test_a_row_in_which_nothing_was_selected_is_still_drawn(axes, head):
    draw_edge(axes, head.with_columns(selected=pl.lit(False), inside=pl.lit(False)), whole=True)
    axes.get_figure().draw_without_rendering()
