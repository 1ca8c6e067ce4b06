"""Where panels, legends and the small print are."""

import pytest

from headgauge.report.paper.looks import DISTANCE
from headgauge.report.paper.page import legend_below, nothing, open_page


def test_the_figure_is_as_wide_as_told_and_panels_as_high():
    figure, panels = open_page((7.0, 1.5), (2, 3), [0.5, 0.2], "small")
    width, height = figure.get_size_inches()
    assert width == 7.0
    assert len(panels) == 6
    assert all(axes.get_position().height * height == pytest.approx(1.5) for axes in panels)
    assert panels[0].get_position().y0 > panels[3].get_position().y1


def test_long_small_print_makes_the_figure_higher_and_is_never_mathematics():
    short, _ = open_page((3.4, 1.0), (1, 1), [0.0], "a")
    long, _ = open_page((3.4, 1.0), (1, 1), [0.0], "$a_{ " * 60)
    assert long.get_size_inches()[1] > short.get_size_inches()[1] + 0.3
    long.draw_without_rendering()


def test_a_panel_in_which_nothing_is_drawn_has_no_legend():
    _, (axes,) = open_page((3.4, 1.0), (1, 1), [0.2], "small")
    nothing(axes, "no rows")
    legend_below(axes, [DISTANCE.handle()])
    assert axes.get_legend() is None
    axes.plot([1, 2])
    legend_below(axes, [DISTANCE.handle()])
    assert axes.get_legend() is not None


def test_the_name_of_a_rule_is_no_mathematics():
    figure, (axes,) = open_page((3.4, 1.0), (1, 1), [0.2], "small")
    axes.plot([1, 2])
    legend_below(axes, [DISTANCE.handle(), DISTANCE.handle(label="a_{b")])
    figure.draw_without_rendering()
