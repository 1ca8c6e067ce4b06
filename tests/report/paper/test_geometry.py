"""Figure 1."""

import polars as pl
import pytest
from matplotlib.patches import Circle

from headgauge.report.paper.geometry import draw_geometry, geometry_handles, geometry_words


@pytest.fixture
def points(whole_paper):
    return whole_paper["fig1"]


@pytest.fixture
def circle(points):
    return points.filter(pl.col("panel") == "circle")


@pytest.fixture
def model(points):
    return points.filter(pl.col("panel") == "model")


def test_the_ball_stands_around_s(axes, circle):
    draw_geometry(axes, circle)
    (ball,) = [patch for patch in axes.patches if isinstance(patch, Circle)]
    assert ball.center == (circle["s_x"][0], circle["s_y"][0])
    assert ball.radius == circle["radius"][0]


def test_selected_points_inside_and_outside_are_told_apart(axes, lines, circle):
    draw_geometry(axes, circle)
    inside = circle.filter("selected", "inside")
    ((across, up),) = lines(axes, "selected, inside the ball")
    assert (across, up) == (inside["scaled_x"].to_list(), inside["scaled_y"].to_list())
    ((across, _),) = lines(axes, "selected, outside")
    assert len(across) + inside.height == 4


def test_vectors_are_drawn_on_the_circle_only(axes, lines, circle, model):
    draw_geometry(axes, circle)
    assert len(lines(axes, r"vector $x_i$")[0][0]) == 12
    axes.clear()
    draw_geometry(axes, model)
    assert not lines(axes, r"vector $x_i$")


def test_tokens_are_shown_as_text_and_cut(axes, words, model):
    names = model.with_columns(
        text=pl.lit("$\\frac{$ and much more"), scaled_y=pl.col("key").cast(pl.Float64)
    )
    draw_geometry(axes, names)
    assert "“$\\frac{$ and …”" in words(axes)
    axes.get_figure().draw_without_rendering()


def test_a_run_without_a_row_of_the_model_is_told(axes, words, circle, model):
    draw_geometry(axes, model.clear())
    assert words(axes)[0].replace("\n", " ") == "no row of this kind in this run"
    assert geometry_words(circle) == "no row of a model in this run"
    assert "layer 3, head 1, row 700, 4 of 8 selected" in geometry_words(model)
    assert len(geometry_handles(circle)) == len(geometry_handles(model)) + 1
