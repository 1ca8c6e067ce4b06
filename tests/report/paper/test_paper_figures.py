"""Each figure as a whole: what is in it, and that all of it can be read."""

import itertools
from typing import Any

import polars as pl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from headgauge import normalizers
from headgauge.report.drawing import draw
from headgauge.report.figure import shown
from headgauge.report.figure_files import DPI
from headgauge.report.paper import page_figures, paper_figures, reproduction_figures
from report.conftest import panels

from .conftest import CHOICES, CLOSEST, OTHER, TEXT, no_paper, reproduction, together

CAPTION = "a model on a text, 中 $x_{"
NAMES = ["paper", "vanishing", "fig1", "fig2", "fig3", "fig4", "choices", "rules"]


def described(paper, texts=(TEXT,)) -> dict[str, Any]:
    return reproduction_figures(paper, {text: f"{CAPTION} {text}" for text in texts}, TEXT)


def poor():
    """One short window of a model with two heads, no rules, nothing found; and of some tables only
    the rows that are no measurement."""
    few = {"heads": 2, "windows": 1, "rules": ("model",), "choices": [CLOSEST]}
    paper = reproduction(lengths=(32, 64, 128), critical=False, **few)
    bounds = paper["fig4"].filter(pl.col("direction").str.ends_with("bound"))
    unseen = paper["fig2b"].with_columns(mean=pl.lit(None, pl.Float64))
    return paper | {"fig4": bounds, "fig2b": unseen}


def one_length_and_long_names():
    choices = [("embedding", "unit", "visible"), CLOSEST]
    rules = ("model", "sa_softmax_normalized", "asentmax:beta=0.5:gamma=0.25:delta=1.5")
    return reproduction(lengths=(64,), choices=choices, rules=rules)


@pytest.fixture(scope="module")
def whole(two_texts):
    return described(two_texts, (TEXT, OTHER))


@pytest.fixture(scope="module")
def on_page(two_texts):
    return page_figures(two_texts, [TEXT, OTHER], OTHER)


def all_can_be_read(sheet, name):
    """No text is cut off and nothing lies on something else."""
    renderer = FigureCanvasAgg(sheet).get_renderer()
    wide, high = sheet.get_size_inches()
    panels = [axes for axes in sheet.axes if axes.axison]
    legends = [legend for axes in sheet.axes if (legend := axes.get_legend())]
    texts = [text for axes in sheet.axes for text in axes.texts]
    (small,) = [text for text in texts if not text.get_in_layout() and text.get_fontsize() == 6]
    to_inches = sheet.dpi_scale_trans.inverted()
    parts = (*panels, *legends, small)
    boxes = [part.get_tightbbox(renderer).transformed(to_inches) for part in parts]
    for box in boxes:
        assert box.x0 > -0.02, name
        assert box.x1 < wide + 0.02, name
        assert box.y0 > -0.02, name
        assert box.y1 < high + 0.02, name
    for one, other in itertools.combinations(boxes, 2):
        assert not one.shrunk(0.98, 0.98).overlaps(other.shrunk(0.98, 0.98)), name


@pytest.mark.parametrize("make", [reproduction, one_length_and_long_names, poor, no_paper])
def test_every_figure_comes_out_and_no_text_is_cut_off(make):
    figures = described(make())
    assert list(figures) == NAMES
    for name, figure in figures.items():
        all_can_be_read(draw(figure), name)


def test_every_rule_with_all_its_parameters_finds_room():
    written = [normalizers.describe(name).written for name in normalizers.names()]
    rules = ("model", *written)
    figures = described(reproduction(lengths=(32, 64), choices=[CLOSEST], rules=rules))
    for name in ("vanishing", "rules"):
        all_can_be_read(draw(figures[name]), name)


def test_files_the_overview_first_and_each_figure_as_svg_and_pdf(monkeypatch, tmp_path):
    """Only which they are: what `reproduce` leaves is tested where it runs."""

    def saved(figure, folder, name, formats, plain):
        assert (figure.name, plain) == (name, False)
        return [folder / f"{name}.{kind}" for kind in formats]

    monkeypatch.setattr("headgauge.report.paper.save", saved)
    paths = paper_figures(no_paper(), {"a text": "a caption", "another": "another"}, tmp_path)
    each = [f"{name}.{kind}" for name in NAMES[1:] for kind in ("svg", "pdf")]
    assert [str(path.relative_to(tmp_path / "figures")) for path in paths] == [
        *("paper.png", "paper.svg", "paper.pdf"),
        *(f"a-text/{name}" for name in each),
        *(f"another/{name}" for name in each),
    ]


def words_of(figure):
    return " ".join(each.text for each in figure.caption)


def test_the_small_print_says_choice_heads_windows_and_rows_and_the_run_comes_last(whole):
    for name, figure in whole.items():
        assert figure.run == f"{CAPTION} {TEXT}"
        small = words_of(figure)
        if name in ("paper", "fig2", "fig3", "rules"):
            for told in ("inal vectors of unit length, all keys", "270 heads, 2 windows"):
                assert told in small, name
            assert "128 of 1024 query rows" in small
            assert "95 % bootstrap over windows" in small
    assert "64 rows" in words_of(whole["fig4"])
    assert "32 query rows in the last quarter of the window" in words_of(whole["vanishing"])
    assert "Which N is our choice: the paper prints none" in words_of(whole["fig3"])


def test_the_widths_are_those_of_a_column_and_a_page_and_the_overview_fits_a_screen(whole):
    assert whole["fig3"].width == 3.4
    assert {whole[name].width for name in NAMES if name not in ("paper", "fig3")} == {7.0}
    width, height = draw(whole["paper"]).get_size_inches()
    assert width * DPI == 1200
    assert height * DPI < 1150


def test_the_overview_shows_the_judged_choice_and_one_level(whole, series):
    panels = whole["paper"].panels
    assert series(panels[0], "distance").y[-1] == pytest.approx(605)
    other = described(reproduction(judged=1))["paper"]
    assert series(other.panels[0], "distance").y[-1] == pytest.approx(605 * 0.91)
    assert {each.name for each in panels[2].series if "printed" in each.name} == {"printed 0.01"}


def test_every_other_text_has_its_main_line_in_grey_and_its_caption(whole_paper, series):
    second = reproduction(text=OTHER, lengths=(32, 64, 512))
    both = together(whole_paper, second)
    figure = described(both, (TEXT, OTHER))["paper"]
    found = [series(panel, f"on {OTHER}") for panel in figure.panels[:5]]
    assert {each.label for each in found} == {f"in every panel: the same on {OTHER}"}
    assert found[0].y[-1] == pytest.approx(605 / 2)
    assert found[1].y[1] == pytest.approx(605 / 2)
    assert (found[2].x, found[2].y) == ([32, 64, 512], [3, 5, 41])
    assert found[3].y[4] == pytest.approx(0.838)
    assert f"Grey: {CAPTION} {OTHER}" in words_of(figure)
    alone = described(whole_paper)["paper"]
    assert not any("the same on" in each.label for panel in alone.panels for each in panel.series)


def test_a_long_name_of_a_text_is_cut(whole_paper):
    long = "a" * 40
    named = {
        name: frame.with_columns(text=pl.lit(long)) if "text" in frame.columns else frame
        for name, frame in whole_paper.items()
    }
    both = together(whole_paper, named)
    figure = described(both, (TEXT, long))["paper"]
    assert any(each.label.endswith(f" {'a' * 29}…") for each in figure.panels[0].series)


def test_the_page_has_every_choice_text_and_rule_the_judged_ones_first(on_page):
    figures = {each.name: each for each in on_page}
    assert list(figures) == ["vanishing", "fig1", "fig2a", "fig2b", "fig2c", "fig3", "fig4"]
    options = {switch.name: switch.options for switch in figures["fig3"].switches}
    assert options["text"] == ((TEXT, f"{TEXT} (for judging)"), (OTHER, f"{OTHER} (for choosing)"))
    first = tuple(options[name][0][0] for name in ("vectors", "scale", "keys"))
    assert first == CLOSEST
    assert options["rule"][0] == ("model", "the model's own")
    assert ("visible", "visible to the query") in options["keys"]
    settings = {tuple(sorted(each.at.items())) for each in panels(figures["fig3"])[0].series}
    assert len(settings) == 2 * (len(CHOICES) + 7)  # the first choice has seven more rules


def test_the_page_shows_one_line_of_each_name_at_every_setting(on_page):
    """A line drawn twice, or under another choice, would be a lie."""
    now = dict(zip(("vectors", "scale", "keys"), CLOSEST, strict=True))
    now |= {"text": OTHER, "rule": "model", "N": "5", "L": "1024", "p": "1024"}
    for figure in on_page[2:6]:
        for panel in panels(figure):
            kept = [s.name for s in panel.series if s.label and shown(s.at, now)]
            assert kept, figure.name
            assert len(set(kept)) == len(kept), figure.name
