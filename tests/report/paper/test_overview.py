"""The picture for the first screen of a page."""

import polars as pl
import pytest
from headgauge.report.paper.overview import WIDTH, overview
from matplotlib import rc_context

from headgauge.report.figure_files import DPI, house_style
from headgauge.report.paper.looks import CRITICAL_LOOKS, DISTANCE, TYPE

from .conftest import OTHER, TEXT, reproduction


def draw(paper, others=None):
    texts = {TEXT: paper} | (others or {})
    with house_style(), rc_context(TYPE):
        return overview(texts, {text: f"the caption of {text}" for text in texts})


def test_it_is_1200_pixels_wide_and_no_higher_than_a_screen(whole_paper):
    width, height = draw(whole_paper).get_size_inches()
    assert width * DPI == 1200 == WIDTH * DPI
    assert height * DPI < 1080


def test_it_shows_the_choice_that_is_judged_and_not_the_closest(whole_paper, lines):
    assert lines(draw(whole_paper).axes[0], DISTANCE.label)[0][1][-1] == 605
    other = draw(reproduction(judged=1))
    assert lines(other.axes[0], DISTANCE.label)[0][1][-1] == pytest.approx(605 * 0.91)


def test_every_other_text_has_its_main_line_in_grey_and_its_caption(whole_paper, lines, words):
    second = reproduction(text=OTHER, lengths=(32, 64, 512))
    figure = draw(whole_paper, {OTHER: second})
    label = f"in every panel: the same on {OTHER}"
    found = [lines(panel, label) for panel in figure.axes[:5]]
    assert [len(each) for each in found] == [1] * 5
    assert found[0][0][1][-1] == pytest.approx(605 / 2)
    assert found[1][0][1][1] == pytest.approx(605 / 2)
    assert found[2][0] == ([32, 64, 512], [3, 5, 41])
    assert found[3][0][1][4] == pytest.approx(0.838)
    told = " ".join(text.get_text() for text in reversed(figure.texts))
    assert f"the caption of {TEXT}; grey: the caption of {OTHER}" in told
    assert label in words(figure)
    assert figure.get_size_inches()[1] * DPI < 1100


def test_a_long_name_of_a_text_is_cut(whole_paper, words):
    figure = draw(whole_paper, {"a" * 40: whole_paper})
    assert f"in every panel: the same on {'a' * 29}…" in words(figure)


def test_one_text_has_no_grey_lines(whole_paper, words):
    assert not any("the same on" in word for word in words(draw(whole_paper)))


def test_one_level_of_the_test_and_the_models_own_logits(whole_paper, lines):
    panels = draw(whole_paper).axes
    assert len(lines(panels[2], CRITICAL_LOOKS["printed"].label)) == 1
    scaled = whole_paper["fig4"].filter(logits="scaled", direction="random", epsilon=0.1)
    ((_, up),) = lines(panels[4], "g, ε = 0.1")
    assert up == scaled.sort("temperature")["maximum"].to_list()
    assert pl.Series(up).is_not_null().all()
