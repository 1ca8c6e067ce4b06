"""Each figure as a whole: what is in it, and that all of it can be read."""

import itertools

import polars as pl
import pytest
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg

from headgauge.report.dynamics.depth import depth_page
from headgauge.report.dynamics.selecting import every_table
from headgauge.report.dynamics.sheets import sheets
from headgauge.report.figure_files import house_style
from headgauge.report.paper.looks import TYPE

from ..paper.test_sheets import inches
from .conftest import SCHEMES

CAPTION = "a simulation, 中 $x_{"
NAMES = ["dynamics", "gamma", "swarms", "phase", "rates", "collapse"]


def drawn(tables):
    with house_style(), rc_context(TYPE):
        return dict(sheets(every_table(tables), CAPTION))


def never(make_simulation):
    """Nothing ever collapses."""
    tables = make_simulation(schemes=SCHEMES)
    nulls = [pl.lit(None, pl.Float64).alias(name) for name in ("time", "low", "high")]
    dark = tables["phase"].with_columns(probability=pl.lit(0.0))
    return tables | {"collapse": tables["collapse"].with_columns(nulls), "phase": dark}


RUNS = {
    "poor": lambda make_simulation: make_simulation(
        schemes=("ngpt",), kinds={"identity": (8, 12, 1.7)}, dims=(8,), seeds=1
    ),
    "two kinds": lambda make_simulation: make_simulation(
        schemes=(*SCHEMES, "ln_scaling_pre"),
        kinds={"identity": (8, 12, 1.7), "layers": (8, 12, 1.7)},
        dims=(8, 16),
    ),
    "never": never,
}


@pytest.fixture(scope="module")
def figures(whole):
    return drawn(whole)


def assert_readable(name, figure):
    """No text is cut off, no legend on another or on the small print."""
    with house_style(), rc_context(TYPE):
        FigureCanvasAgg(figure).draw()
        wide, high = figure.get_size_inches()
        for part in (*figure.axes, *figure.texts):
            box = inches(figure, part)
            assert -0.01 < box.x0 < box.x1 < wide + 0.01, (name, part)
            assert -0.01 < box.y0 < box.y1 < high + 0.01, (name, part)
        boxes = [inches(figure, axes.get_legend()) for axes in figure.axes if axes.get_legend()]
        small = [inches(figure, text) for text in figure.texts]
        for pair in [*itertools.combinations(boxes, 2), *itertools.product(boxes, small)]:
            assert not pair[0].overlaps(pair[1]), (name, pair)


@pytest.mark.parametrize("run", ["whole", *RUNS])
def test_every_figure_comes_out_and_no_text_is_cut_off(run, figures, make_simulation):
    if run in RUNS:
        figures = drawn(RUNS[run](make_simulation))
    assert list(figures) == NAMES
    for name, figure in figures.items():
        assert_readable(name, figure)


@pytest.mark.parametrize("scheme", ["pre_ln", "other"])
def test_the_page_of_a_models_layers_can_be_read_too(make_layers, scheme):
    with house_style(), rc_context(TYPE):
        measured, predicted = make_layers(scheme=scheme)
        assert_readable("depth", depth_page(measured, predicted, CAPTION))


def test_a_table_without_rows_has_no_figure(whole):
    assert drawn({}) == {}
    assert list(drawn({"rates": whole["rates"]})) == ["rates"]
    assert list(drawn(whole | {"phase": whole["phase"].clear()})) == [
        name for name in NAMES if name != "phase"
    ]


def test_the_small_print_says_what_was_run(figures):
    told = {
        "gamma": "n = 256 tokens, β = 5",
        "swarms": "n = 64 tokens, d = 512, 1 head, β = 22.63, 20 seeds",
        "phase": "n = 32 tokens, 20 seeds",
        "collapse": "20 seeds",
    }
    for name, figure in figures.items():
        small = " ".join(text.get_text() for text in reversed(figure.texts))
        assert "a simulation, □ $x_{" in small
        assert told.get(name, "") in small


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_swarms_have_a_row_for_each_measure_and_a_column_for_each_kind(figures):
    panels = figures["swarms"].axes
    assert len(panels) == 15
    assert titles(figures["swarms"])[:4] == [
        "(a) Q = K = V = I",
        "(b) random Q, K, V",
        "(c) new Q, K, V in every layer",
        "(d) radius r",
    ]
    assert len({axes.get_ylim() for axes in panels[:3]}) == 1


def test_one_kind_of_weights_has_its_panels_in_two_rows(make_simulation):
    one = make_simulation(kinds={"random": (8, 12, 1.7)})
    swarms = drawn({"swarms": one["swarms"]})["swarms"]
    assert titles(swarms)[0] == "(a) mean cosine"
    assert len({axes.get_position().y0 for axes in swarms.axes}) == 2


def test_the_phase_figure_has_rows_of_dimensions_and_columns_of_schemes(figures, whole):
    panels = figures["phase"].axes
    assert titles(figures["phase"])[:3] == ["Post-LN", "Pre-LN", "Mix-LN"]
    assert [panels[place].get_ylabel() for place in (0, 7, 14)] == [
        "d = 8\nβ",
        "d = 128\nβ",
        "d = 1024\nβ",
    ]
    own = whole["phase"].filter(scheme="pre_ln", dim=128).sort("beta", "time")
    shown = panels[8].collections[0].get_array().flatten().tolist()
    assert shown == own["probability"].to_list()


def test_collapse_times_can_be_compared_across_kinds(figures):
    assert len({axes.get_xlim() for axes in figures["collapse"].axes}) == 1
