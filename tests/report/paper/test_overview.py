"""The picture for the first screen of a page."""

import polars as pl
import pytest
from matplotlib import rc_context

from headgauge.report.figure_files import DPI, house_style
from headgauge.report.paper.looks import CRITICAL_LOOKS, DISTANCE, TYPE
from headgauge.report.paper.overview import WIDTH, overview

from .conftest import CHOICES, CLOSEST


def draw(paper, choice=CLOSEST):
    with house_style(), rc_context(TYPE):
        return overview(paper, choice, "the caption")


def test_it_is_1200_pixels_wide_and_no_higher_than_a_screen(whole_paper):
    width, height = draw(whole_paper).get_size_inches()
    assert width * DPI == 1200 == WIDTH * DPI
    assert height * DPI < 1080


def test_it_shows_the_choice_it_is_told(whole_paper, lines):
    assert lines(draw(whole_paper).axes[0], DISTANCE.label)[0][1][-1] == 605
    other = draw(whole_paper, CHOICES[1])
    assert lines(other.axes[0], DISTANCE.label)[0][1][-1] == pytest.approx(605 * 0.91)


def test_one_level_of_the_test_and_the_models_own_logits(whole_paper, lines):
    panels = draw(whole_paper).axes
    assert len(lines(panels[2], CRITICAL_LOOKS["printed"].label)) == 1
    scaled = whole_paper["fig4"].filter(logits="scaled", direction="random", epsilon=0.1)
    ((_, up),) = lines(panels[4], "g, ε = 0.1")
    assert up == scaled.sort("temperature")["maximum"].to_list()
    assert pl.Series(up).is_not_null().all()
