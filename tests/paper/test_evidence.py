import math

import pytest

from headgauge.paper import limits
from headgauge.paper.evidence import (
    UNSEEN,
    Curve,
    Evidence,
    Growth,
    Interval,
    NotMeasuredError,
    Row,
    Seen,
    both,
    claim,
    word,
)
from headgauge.runs.paper_schema import (
    FEW_ROWS,
    NOT_REPRODUCED,
    PRINTED_ONLY,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
)


def _means(**values: float) -> Curve:
    return Curve(
        (int(place[1:]), Row(mean=mean, low=None, high=None)) for place, mean in values.items()
    )


def test_words():
    assert (word(True), word(False), word(None)) == (REPRODUCED, NOT_REPRODUCED, UNDECIDED)
    for holds in (True, False, None):
        assert word(holds, judged=False) == FEW_ROWS
        assert word(holds, holds, judged=False) == FEW_ROWS


@pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [
        (True, True, REPRODUCED), (False, True, REPRODUCED), (None, True, REPRODUCED),
        (True, False, PRINTED_ONLY), (False, False, NOT_REPRODUCED), (None, False, UNDECIDED),
        (True, None, UNDECIDED), (False, None, UNDECIDED), (None, None, UNDECIDED),
    ],
)  # fmt: skip
def test_two_formulas(printed, corrected, verdict):
    assert word(printed, corrected) == verdict


@pytest.mark.parametrize(
    ("interval", "answer"),
    [((1.0, 2.0), True), ((1.2, 1.3), True), ((0.9, 1.1), None), ((1.9, 2.1), None),
     ((0.0, 3.0), None), ((0.1, 0.99), False), ((2.01, 5.0), False), ((1.0, 1.0), True),
     ((math.inf, math.inf), False), ((1.5, math.inf), None)],
)  # fmt: skip
def test_an_interval_and_two_limits(interval, answer):
    assert Interval(*interval).within(1.0, 2.0) is answer


def test_an_interval_and_one_limit():
    assert Interval(-9.0, 1.0).below(1.0) is True
    assert Interval(0.9, 1.1).below(1.0) is None
    assert Interval(1.1, 1.2).below(1.0) is False
    assert Interval(1.0, 9.0).above(1.0) is True
    assert Interval(0.9, 1.1).above(1.0) is None
    assert Interval(0.8, 0.9).above(1.0) is False


def test_a_no_decides_and_else_what_is_undecided():
    assert both(True, True) is True
    assert both(True, None) is None
    assert both(None, False, True) is False
    assert both() is True


def test_rows_and_windows_that_are_enough():
    row = Row(rows=limits.ROWS, windows=limits.WINDOWS)
    assert row.enough()
    assert row.enough(limits.ROWS)
    assert not row.enough(limits.ROWS + 1)
    assert not Row(rows=limits.ROWS - 1, windows=9).enough()
    assert not Row(rows=999, windows=limits.WINDOWS - 1).enough()
    assert not Row(rows=None, windows=9).enough()


def test_slopes_on_logarithms():
    for curve, slope in (
        (_means(_1=3.0, _10=30.0, _100=300.0), 1.0),
        (_means(_2=4.0, _4=16.0), 2.0),
        (_means(_2=4.0, _4=4.0), 0.0),
        (Curve({1: Row(mean=None)} | _means(_2=1.0, _4=2.0)), 1.0),
    ):
        found = curve.growth()
        assert (found.exponent, *found.interval) == pytest.approx((slope,) * 3)
        assert curve.power() == f"L^{slope:.2f}"
    below = Curve({2: Row(mean=1.0, low=-0.1, high=2.0)} | _means(_4=2.0))
    for few in (_means(_2=4.0), Curve(), _means(_2=-4.0, _4=-2.0), below):
        assert few.power() == "no curve"
        with pytest.raises(NotMeasuredError):
            few.growth()
    wide = Growth(0.5, Interval(0.4, 0.6))
    assert (wide.in_words(), wide.in_words(ends=False)) == ("L^0.50 (0.40 to 0.60)", "L^0.50")
    assert Growth(-1.0, Interval(-1.0, -1.0)).in_words("T") == "T^-1.00"


def test_the_slopes_that_intervals_allow():
    wide = Curve(
        (place, Row(mean=1.0 * place, low=place / 2, high=2.0 * place)) for place in (1, 100)
    )
    slope, ends = wide.growth()
    assert slope == pytest.approx(1.0)
    # From 2 up to 50, and from 1/2 up to 200, over two decades.
    assert ends == pytest.approx((math.log10(25) / 2, math.log10(400) / 2))
    # Tilted the most: no slope of points within the intervals is outside.
    for low, high in ((0.5, 2.0), (0.7, 1.1)):
        some = _means(_1=low, _100=100.0 * high).growth()
        assert ends[0] <= some.exponent <= ends[1]


def test_intervals_of_means_and_ratios():
    alone, banded = Row(mean=2.0, low=None, high=None), Row(mean=2.0, low=1.0, high=3.0)
    assert (alone.reach(), banded.reach()) == ((2.0, 2.0), (1.0, 3.0))
    assert Row(maximum=2.0, low=None, high=4.0).reach("maximum") == (2.0, 2.0)
    assert Interval(1.0, 2.0).over(Interval(4.0, 8.0)) == (0.125, 0.5)
    assert alone.in_words(1) == "2.0"
    assert Row(change=2.0, low=1.0, high=3.0).in_words(1, "change") == "2.0 (1.0 to 3.0)"


def test_a_curve_is_that_of_the_models_own_rule(frames):
    fig2a = frames.figure("length", distance={32: 1.0, 64: 2.0}, bound_upper={64: 3.0})
    other = fig2a.with_columns(rule=fig2a["rule"].replace({"model": "ssmax"}))
    elsewhere = fig2a.with_columns(vectors=fig2a["vectors"].replace({"final": "value"}))
    evidence = Evidence({"fig2a": other.vstack(elsewhere).vstack(fig2a)}, frames.choice)
    curve = evidence.curve("fig2a", "distance")
    assert list(curve) == [32, 64]
    assert curve[64]["mean"] == 2.0
    assert [row["mean"] for row in evidence.others("fig2a")] == [1.0, 2.0, 3.0]
    assert evidence.row("fig2a", measure="distance", rule="ssmax", length=64)
    with pytest.raises(NotMeasuredError):
        evidence.row("fig2a", measure="distance", length=65)
    with pytest.raises(NotMeasuredError):
        curve[65]


def test_what_is_absent_cannot_be_tested():
    @claim("a claim", "Fig. 9", "much")
    def look(evidence):
        """A statement over
        two lines.

        How it is tested.
        """
        return Seen(str(Curve().last), UNTESTABLE)

    assert (look.claim, look.where, look.paper) == ("a claim", "Fig. 9", "much")
    assert look.statement == "A statement over two lines."
    assert look(Evidence({}, {})) == UNSEEN
    assert (UNSEEN.verdict, UNSEEN.printed) == (UNTESTABLE, "not measured")
