"""Figure 1."""

import polars as pl
import pytest
from matplotlib.patches import Circle

from headgauge.report.paper.geometry import (
    draw_circle_edge,
    draw_head,
    draw_vectors,
    draw_weighted,
    geometry_handles,
    geometry_words,
    head_title,
    shown_heads,
)


@pytest.fixture
def points(whole_paper):
    return whole_paper["fig1"]


@pytest.fixture
def circle(points):
    return points.filter(pl.col("panel") == "circle")


@pytest.fixture
def model(points):
    return points.filter(pl.col("panel") == "model")


def layers(points):
    return [head["layer"].unique().to_list() for head in shown_heads(points)]


def test_three_heads_with_tokens_outside_from_the_first_to_the_last_layer(points, model):
    assert layers(points) == [[0], [6], [12]]  # 3 between them, 9 has all inside
    few = model.filter(pl.col("layer").is_in([9, 12]))
    assert layers(few) == [[9], [12]]
    assert layers(model.filter(pl.col("layer") != 0)) == [[3], [6], [12]]


def test_a_heads_count_is_its_own(model):
    first, *_ = shown_heads(model)
    assert first.height == 60
    assert head_title(first) == "layer 0, head 11: 5 of 8 inside"
    assert head_title(model.filter(pl.col("layer") == 9)) == "layer 9, head 11: 8 of 8 inside"


def test_the_vectors_lie_on_the_circle_and_the_selected_are_marked(axes, lines, circle):
    draw_vectors(axes, circle)
    ((across, up),) = lines(axes, "selected")
    chosen = circle.filter("selected")
    assert (across, up) == (chosen["x"].to_list(), chosen["y"].to_list())
    assert len(lines(axes, r"vector $x_i$, not selected")[0][0]) == 8


def test_the_weighted_ones_have_s_and_the_ball_around_it(axes, lines, circle):
    draw_weighted(axes, circle)
    (ball,) = [patch for patch in axes.patches if isinstance(patch, Circle)]
    assert ball.center == (circle["s_x"][0], circle["s_y"][0])
    assert ball.radius == circle["radius"][0]
    ((across, _),) = lines(axes, "selected")
    assert across == circle.filter("selected")["scaled_x"].to_list()


def test_what_is_not_in_a_run_is_told(axes, words, circle, model):
    for draw in (draw_vectors, draw_weighted, draw_circle_edge, draw_head):
        axes.clear()
        draw(axes, circle.clear())
        assert words(axes)[0].replace("\n", " ") == "no row of this kind in this run"
    assert geometry_words(circle) == "no row of a model in this run"
    assert "query 700 of the window, 3 of 5 heads" in geometry_words(model)


def test_the_legend_has_only_what_there_is(circle, model):
    def told(points):
        return {handle.get_label() for handle in geometry_handles(points)}

    assert told(circle) - told(model) == {r"vector $x_i$, not selected", "selected"}
    assert told(model) - told(circle) == {"place of the frame in the whole ball"}
    everything = model.with_columns(inside=pl.col("selected"))
    assert "selected, outside" in told(model) - told(everything)
