"""Each figure as a whole: what is in it, and that all of it can be read."""

import itertools

import polars as pl
import pytest
from headgauge.report.paper.overview import overview
from headgauge.report.paper.sensitivity import STEPS
from headgauge.report.paper.sheets import figure_1, figure_2, figure_4, sheets
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg

from headgauge.report.figure_files import house_style, save_figure
from headgauge.report.paper.looks import TYPE
from headgauge.report.paper.selecting import every_table

from .conftest import CLOSEST, OTHER, TEXT

CAPTION = "a model on a text, 中 $x_{"
NAMES = ["paper", "vanishing", "fig1", "fig2", "fig3", "fig4", "choices", "rules"]


def drawn(paper):
    tables = every_table(paper)
    with house_style(), rc_context(TYPE):
        found = {"paper": overview({TEXT: tables, OTHER: tables}, {TEXT: CAPTION, OTHER: CAPTION})}
        return found | dict(sheets(tables, CAPTION))


def poor(make_paper):
    """One short window of a model with two heads, no rules, nothing found."""
    few = {"heads": 2, "windows": 1, "rules": ("model",), "choices": [CLOSEST]}
    return make_paper(lengths=(32, 64, 128), critical=False, **few)


def one_length(make_paper):
    return make_paper(lengths=(64,), rules=("model", "topk"))


def only_bounds(make_paper):
    """Tables with rows but without the measured ones."""
    paper = make_paper(windows=1)
    bounds = paper["fig4"].filter(pl.col("direction").str.ends_with("bound"))
    unseen = paper["fig2b"].with_columns(mean=pl.lit(None, pl.Float64))
    return paper | {"fig4": bounds, "fig2b": unseen, "fig1": paper["fig1"].clear()}


def long_names(make_paper):
    choices = [("embedding", "unit", "visible"), CLOSEST]
    return make_paper(choices=choices, rules=("model", "sa_softmax_normalized", "a" * 22))


RUNS = {
    "whole": lambda make_paper: make_paper(),
    "poor": poor,
    "one length": one_length,
    "only bounds": only_bounds,
    "long names": long_names,
    "empty": lambda make_paper: {},
}


@pytest.fixture(scope="module")
def whole(whole_paper):
    return drawn(whole_paper)


def inches(figure, part):
    """Where a part of a figure is, with all that belongs to it."""
    box = part.get_tightbbox(FigureCanvasAgg(figure).get_renderer())
    return box.transformed(figure.dpi_scale_trans.inverted())


@pytest.mark.parametrize("run", RUNS)
def test_every_figure_comes_out_and_no_text_is_cut_off(run, make_paper):
    figures = drawn(RUNS[run](make_paper))
    assert list(figures) == NAMES
    for name, figure in figures.items():
        with house_style(), rc_context(TYPE):
            FigureCanvasAgg(figure).draw()
            wide, high = figure.get_size_inches()
            for part in (*figure.axes, *figure.texts):
                box = inches(figure, part)
                assert box.x0 > -0.01, (name, part)
                assert box.x1 < wide + 0.01, (name, part)
                assert box.y0 > -0.01, (name, part)
                assert box.y1 < high + 0.01, (name, part)
            legends = [legend for axes in figure.axes if (legend := axes.get_legend())]
            boxes = [inches(figure, legend) for legend in legends]
            small = [inches(figure, text) for text in figure.texts]
            pairs = [*itertools.combinations(boxes, 2), *itertools.product(boxes, small)]
            for one, other in pairs:
                assert not one.overlaps(other), (name, one, other)


def test_the_small_print_says_model_choice_heads_windows_and_rows(whole):
    for name, figure in whole.items():
        small = " ".join(text.get_text() for text in reversed(figure.texts))
        assert "a model on a text, □ $x_{" in small
        if name in ("paper", "fig2", "fig3", "rules"):
            for told in ("final vectors of unit length, all keys", "270 heads, 2 windows"):
                assert told in small, name
            assert "128 of 1024 query rows" in small
            assert "95 % bootstrap over windows" in small
        if name == "fig4":
            assert "64 rows" in small
        if name == "vanishing":
            assert "32 query rows in the last quarter of the window" in small
        if name == "fig3":
            assert "the N are ours: the paper prints none" in small


def test_the_widths_are_those_of_a_column_and_a_page(whole):
    widths = {name: figure.get_size_inches()[0] for name, figure in whole.items()}
    assert widths["fig3"] == 3.4
    assert {widths[name] for name in NAMES if name not in ("paper", "fig3")} == {7.0}


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_figure_1_has_the_circle_in_three_steps_and_three_heads_each_with_its_count(whole):
    assert titles(whole["fig1"]) == [
        "(a) vectors on a circle, N = 4",
        "(b) times their weights",
        "(c) edge of the ball: 2 of 4 inside",
        "(d) layer 0, head 11: 5 of 8 inside",
        "(e) layer 6, head 11: 5 of 8 inside",
        "(f) layer 12, head 11: 5 of 8 inside",
    ]


def test_figure_1_without_a_model_has_one_row(whole_paper):
    circle = whole_paper["fig1"].filter(pl.col("panel") == "circle")
    assert len(figure_1(whole_paper | {"fig1": circle}, CAPTION).axes) == 3


def test_figure_4_has_no_empty_panels(whole, whole_paper):
    assert titles(whole["fig4"]) == [
        "(a) random direction, scaled logits",
        "(b) random over all keys, scaled logits",
        "(c) worst direction, scaled logits",
        "(d) random direction, raw logits",
    ]
    places = [axes.get_position() for axes in whole["fig4"].axes]
    assert places[0].x0 == places[2].x0
    assert places[0].y0 == places[1].y0
    assert len({axes.get_ylim() for axes in whole["fig4"].axes}) == 1


@pytest.mark.parametrize("panels", [1, 2, 3, 4, 5, 6])
def test_figure_4_has_as_many_panels_as_kinds_of_steps(whole_paper, panels):
    frame = whole_paper["fig4"]
    steps = frame.filter(direction="random", logits="scaled")
    kinds = [(kind, name) for kind in ("scaled", "raw") for name in STEPS][:panels]
    rows = [steps.with_columns(logits=pl.lit(kind), direction=pl.lit(name)) for kind, name in kinds]
    figure = figure_4(whole_paper | {"fig4": pl.concat(rows)}, CAPTION)
    assert len(figure.axes) == panels
    assert all(axes.get_lines() for axes in figure.axes)


def test_the_same_data_gives_the_same_bytes(whole_paper, tmp_path):
    written = []
    for folder in ("a", "b"):
        with house_style(), rc_context(TYPE):
            figure = figure_2(whole_paper, CLOSEST, CAPTION)
            paths = save_figure(figure, tmp_path / folder, "fig2", ("png", "svg", "pdf"))
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1]
