"""Figure 1."""

import math

import polars as pl
import pytest

from headgauge.report.paper.geometry import (
    ball_panel,
    edge_panel,
    geometry_in_files,
    geometry_on_page,
    near_and_far,
    shown_heads,
    token,
    vector_panel,
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


@pytest.fixture
def head(model):
    return model.filter(layer=0)


def layers(points):
    return [head["layer"].unique().to_list() for head in shown_heads(points)]


def test_three_heads_with_tokens_outside_from_the_first_to_the_last_layer(points, model):
    assert layers(points) == [[0], [6], [12]]  # 3 between them, 9 has all inside
    assert layers(model.filter(pl.col("layer").is_in([9, 12]))) == [[9], [12]]
    assert layers(model.filter(pl.col("layer") != 0)) == [[3], [6], [12]]


def test_a_file_has_the_circle_in_three_steps_and_three_heads_each_with_its_count(whole_paper):
    figure = geometry_in_files(whole_paper)
    assert [panel.title for panel in figure.panels] == [
        "(a) vectors on a circle, N = 4",
        "(b) times their weights",
        "(c) edge of the ball: 2 of 4 inside",
        "(d) layer 0, head 11: 5 of 8 inside",
        "(e) layer 6, head 11: 5 of 8 inside",
        "(f) layer 12, head 11: 5 of 8 inside",
        "(g) its edge",
        "(h) its edge",
        "(i) its edge",
    ]
    told = figure.caption[0].text
    assert "query 700 of the window, 3 of 5 heads" in told
    assert "not in the frames of the edges: layer 0 “ with weight 0.70" in told


def test_without_a_model_there_is_one_row(circle):
    figure = geometry_in_files({"fig1": circle})
    assert len(figure.panels) == 3
    assert figure.caption[0].text == "No row of a model in this run."


def test_the_page_has_every_row_with_its_count(whole_paper):
    figure = geometry_on_page(whole_paper)
    rows = [value for value, _ in figure.switches[0].options]
    assert rows[:2] == ["points on a circle, N = 4", "layer 0, head 11, query 700, N = 8"]
    assert len(figure.panels) == 3 * len(rows) == 18
    told = {each.at["row"]: each.text for each in figure.caption if each.at}
    assert "60 keys, 8 selected, 5 of them in the ball" in told[rows[1]]
    assert "N_s/N = 0.625. Distances from s are true" in told[rows[1]]


def test_inside_outside_and_left_out_are_told_apart(head, circle, series):
    panel = ball_panel(head, "")
    counts = {name: len(series(panel, name).x) for name in ("inside", "outside", "rest")}
    assert counts == {"inside": 5, "outside": 3, "rest": 52}
    vectors = vector_panel(circle, "")
    chosen = circle.filter("selected", "inside")
    line = series(vectors, "inside")
    assert (line.x, line.y) == (chosen["x"].to_list(), chosen["y"].to_list())
    assert vectors.marks[0].values == (0.0, 0.0, 1.0)


def test_the_weighted_ones_have_s_and_the_ball_around_it(head, series):
    panel = ball_panel(head, "")
    s, radius = head.select("s_x", "s_y").row(0), head["radius"][0]
    assert panel.marks[0].values == (*s, radius)
    assert (series(panel, "s").x, series(panel, "s").y) == ([s[0]], [s[1]])
    assert series(panel, "inside").x == head.filter("selected", "inside")["scaled_x"].to_list()


def within(panel, x, y):
    return panel.x.low < x < panel.x.high and panel.y.low < y < panel.y.high


def test_a_heavy_token_near_s_does_not_squeeze_the_others_at_the_edge(head):
    near, far = near_and_far(head)
    assert (near.height, far["key"].to_list()) == (7, [0])
    panel = edge_panel(head, "")
    assert all(within(panel, *at) for at in near.select("scaled_x", "scaled_y").iter_rows())
    assert not within(panel, *far.select("scaled_x", "scaled_y").row(0))
    s, radius = head.select("s_x", "s_y").row(0), head["radius"][0]
    turns = [turn / 5000 for turn in range(31416)]
    around = [(s[0] + radius * math.cos(t), s[1] + radius * math.sin(t)) for t in turns]
    assert any(within(panel, *at) for at in around)


def test_on_the_circle_every_point_is_in_the_frame(circle):
    panel = edge_panel(circle, "")
    assert all(within(panel, *at) for at in circle.select("scaled_x", "scaled_y").iter_rows())


def test_at_most_four_tokens_have_their_text(head):
    apart = pl.when("selected").then(pl.col("key") * 0.01).otherwise("scaled_y")
    panel = edge_panel(head.with_columns(token=pl.lit("$x$"), scaled_y=apart), "")
    names = [name for each in panel.series for name in each.names or [] if name]
    assert names == ["$x$"] * 4


def test_blanks_of_a_token_can_be_seen_and_it_has_no_quotation_marks_but_its_own():
    assert token(" the") == "␣the"
    assert token("\n\r\n\t") == "↵↵␣"
    assert token("“") == "“"
    assert token("中" + "x" * 20) == "中" + "x" * 10 + "…"


def test_what_is_not_in_a_run_is_told(circle, head):
    for make in (vector_panel, ball_panel, edge_panel):
        panel = make(circle.clear(), "")
        assert (panel.series, panel.empty) == ((), "no row of this kind in this run")
    none = head.with_columns(selected=pl.lit(False), inside=pl.lit(False))
    assert [each.name for each in edge_panel(none, "").series] == ["s", "rest"]
