"""Rows of schemes, and an axis in even ratios."""

import pytest

from headgauge.report.dynamics.rows import plain_ratios, rows_axis


def test_the_first_scheme_is_on_top(axes):
    rows_axis(axes, ["post_ln", "ngpt"])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Post-LN", "nGPT"]
    assert axes.yaxis_inverted()


@pytest.mark.parametrize(
    ("ends", "labels"),
    [
        ((0.5, 2000), ["1", "10", "100", "1000"]),
        ((0.004, 0.04), ["0.005", "0.01", "0.02"]),
        ((0.0049, 0.0135), ["0.006", "0.008", "0.01"]),
        ((0.98, 1.02), ["0.98", "0.99", "1"]),
    ],
)
def test_a_short_axis_has_enough_numbers_and_a_long_one_not_too_many(axes, ends, labels):
    axes.set_xlim(*ends)
    plain_ratios(axes)
    assert axes.get_xscale() == "log"
    assert [label.get_text() for label in axes.get_xticklabels()] == labels
