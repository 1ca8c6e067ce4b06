"""Theory beside measured."""

import polars as pl
import pytest

from headgauge.report.dynamics.rates import QUANTITIES, THEORY, draw_rates, law_words, rate_handles


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_markers_stand_at_their_numbers_in_the_row_of_their_scheme(axes, lines, whole, quantity):
    draw_rates(axes, whole["rates"].reverse(), quantity)
    row = whole["rates"].filter(scheme="pre_ln", quantity=quantity).row(0, named=True)
    for name, handle in zip(("theory", "reduced", "particles"), rate_handles(), strict=True):
        assert ([row[name]], [1]) in lines(axes, handle.get_label())
    assert axes.get_xscale() == ("log" if quantity == "initial velocity" else "linear")


def test_what_was_not_measured_has_no_marker_but_a_dash(axes, words, lines, whole):
    draw_rates(axes, whole["rates"], "final rate")
    places = [up for _, (up,) in lines(axes, rate_handles()[2].get_label())]
    assert places == [0, 1, 2, 3, 5]
    assert words(axes).count("–") == 1
    assert len(lines(axes, THEORY.label)) == 6


def test_the_numbers_and_the_laws_are_written_beside(axes, words, whole):
    draw_rates(axes, whole["rates"], "final rate")
    told = words(axes)
    for word in ("√(t+1)", "log t", "−4.008", "−3.96", "particles", "against"):
        assert word in told
    axes.get_figure().draw_without_rendering()


def test_exponents_are_raised_and_the_rest_is_left_alone():
    assert law_words("1 − γ ~ e^{−2t}") == r"1 − γ ~ e$^\mathdefault{−2t}$"
    assert law_words("2/(e^β + n − 1)") == r"2/(e$^\mathdefault{β}$ + n − 1)"
    assert law_words("C/t²") == "C/t²"


def test_a_quantity_that_was_not_run_is_told(axes, words, whole):
    draw_rates(axes, whole["rates"].filter(pl.col("quantity") == "final rate"), "initial velocity")
    assert words(axes) == ["no initial velocity in this\nrun"]
