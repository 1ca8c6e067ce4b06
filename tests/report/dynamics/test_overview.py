"""The picture for the first screen of a page."""

from matplotlib import rc_context

from headgauge.report.dynamics.overview import overview
from headgauge.report.dynamics.selecting import every_table
from headgauge.report.figure_files import DPI, house_style
from headgauge.report.paper.looks import TYPE

from .conftest import ALL


def draw(tables):
    with house_style(), rc_context(TYPE):
        return overview(every_table(tables), "the caption")


def titles(figure):
    return [axes.get_title(loc="left") for axes in figure.axes[:6]]


def test_it_is_1200_pixels_wide_and_no_higher_than_a_screen(whole):
    width, height = draw(whole).get_size_inches()
    assert width * DPI == 1200
    assert height * DPI < 1080


def test_it_has_random_weights_and_one_scheme_of_each_way_to_collapse(whole, lines):
    figure = draw(whole)
    assert titles(figure) == [
        "(a) common cosine γ of the reduced system",
        "(b) how its gap closes",
        "(c) mean cosine, random Q, K, V",
        "(d) Post-LN: pairs that are one",
        "(e) LN-Scaling: pairs that are one",
        "(f) Peri-LN: pairs that are one",
    ]
    random = whole["swarms"].filter(weights="random", scheme="ngpt")
    assert lines(figure.axes[2], "nGPT")[0][1] == random["mean_cosine"].to_list()


def test_the_phase_diagrams_are_those_of_the_largest_dimension(whole):
    mesh = draw(whole).axes[3].collections[0]
    largest = whole["phase"].filter(dim=1024, scheme="post_ln").sort("beta", "time")
    shown = mesh.get_array()
    assert shown is not None
    assert shown.flatten().tolist() == largest["probability"].to_list()


def test_other_weights_and_schemes_serve_where_those_were_not_run(make_simulation):
    kinds = {"layers": (64, 128, 4.0)}
    figure = draw(make_simulation(schemes=("pre_ln", "mix_ln"), kinds=kinds))
    assert titles(figure)[2:] == [
        "(c) mean cosine, new Q, K, V in every layer",
        "(d) Pre-LN: pairs that are one",
        "(e) Mix-LN: pairs that are one",
        "",
    ]


def test_a_table_without_rows_leaves_its_panels_empty_and_says_so(whole, words):
    figure = draw({"curves": whole["curves"]})
    assert "not in this run" in words(figure.axes[2])
    assert words(figure.axes[3]) == ["no phase diagram in this run"]
    without = draw({"swarms": whole["swarms"]})
    legends = [legend for axes in without.axes if (legend := axes.get_legend())]
    assert [len(legend.get_texts()) for legend in legends] == [len(ALL)]
