"""γ and its gap."""

import math

import numpy as np
import polars as pl
import pytest

from headgauge.report.dynamics.gamma import (
    EXPONENTIAL,
    POLYNOMIAL,
    draw_gamma,
    draw_gap,
    draw_gap_over_log,
    gamma_handles,
)


@pytest.fixture
def curves(whole):
    return whole["curves"]


def straightness(across, up):
    """1 for a straight line."""
    return abs(np.corrcoef(across, up)[0, 1])


def test_gamma_is_drawn_as_it_is(axes, lines, curves):
    draw_gamma(axes, curves)
    assert lines(axes, "Pre-LN")[0][1] == curves.filter(scheme="pre_ln")["gamma"].to_list()


def test_the_gap_keeps_its_digits_where_gamma_has_lost_them(axes, lines, curves):
    draw_gap(axes, curves)
    ((_, up),) = lines(axes, "Post-LN")
    last = curves.filter(scheme="post_ln").sort("time")
    assert last["gamma"][-1] == 1
    assert up[-1] == pytest.approx(math.exp(last["log_gap"][-1]))
    assert up[-1] < 1e-20
    assert axes.get_yscale() == "log"


def test_exponential_is_straight_over_t_and_polynomial_over_log_t(axes, lines, curves):
    late = curves.filter(pl.col("time") > 15)
    draw_gap(axes, late)
    straight = {
        name: straightness(across, np.log(up))
        for name in ("Post-LN", "Peri-LN")
        for across, up in lines(axes, name)
    }
    assert straight["Post-LN"] > 0.99999 > straight["Peri-LN"]
    axes.clear()
    draw_gap_over_log(axes, late)
    ((across, up),) = lines(axes, "Peri-LN")
    assert straightness(np.log(across), np.log(up)) > 0.9999
    assert axes.get_xscale() == "log"


def test_what_has_long_collapsed_does_not_lengthen_the_axis(axes, curves):
    gone = pl.when(pl.col("time") > 29).then(-300.0).otherwise("log_gap")
    draw_gap(axes, curves.with_columns(log_gap=gone))
    assert 1e-40 < axes.get_ylim()[0] < 1e-20


def test_over_log_t_the_slow_ones_have_the_room(axes, lines, curves):
    draw_gap_over_log(axes, curves)
    slowest = lines(axes, "Pre-LN")[0][1][-1]
    assert axes.get_ylim() == (pytest.approx(slowest / 100), 2.0)
    assert min(line.get_xdata()[0] for line in axes.get_lines()) > 0


def test_the_guides_have_the_slopes_they_are_named_after(axes, lines, curves):
    draw_gap(axes, curves)
    ((across, up),) = lines(axes, EXPONENTIAL.label)
    assert np.diff(np.log(up)) / np.diff(across) == pytest.approx(-2)
    axes.clear()
    draw_gap_over_log(axes, curves)
    ((across, up),) = lines(axes, POLYNOMIAL.label)
    assert np.diff(np.log(up)) / np.diff(np.log(across)) == pytest.approx(-2)


@pytest.mark.parametrize("draw", [draw_gap, draw_gap_over_log])
def test_no_gap_is_told(axes, words, curves, draw):
    draw(axes, curves.clear())
    assert words(axes) == ["no gap in this run"]


def test_the_legend_has_the_guides_it_is_told(curves):
    labels = [handle.get_label() for handle in gamma_handles(curves, POLYNOMIAL)]
    assert len(labels) == 8
    assert labels[-1] == POLYNOMIAL.label
