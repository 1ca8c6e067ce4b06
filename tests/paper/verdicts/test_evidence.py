import math

import pytest

from headgauge.paper import limits
from headgauge.paper.verdicts.evidence import (
    Evidence,
    absent,
    below,
    both,
    either,
    enough,
    log_slope,
    power,
    ratio,
    reach,
    slope_reach,
    told,
    within,
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


def _means(**values: float) -> dict:
    return {
        int(place[1:]): {"mean": mean, "low": None, "high": None} for place, mean in values.items()
    }


def test_words():
    assert (word(True), word(False), word(None)) == (REPRODUCED, NOT_REPRODUCED, UNDECIDED)
    for holds in (True, False, None):
        assert word(holds, judged=False) == FEW_ROWS
        assert either(holds, holds, judged=False) == FEW_ROWS


@pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [
        (True, True, REPRODUCED), (False, True, REPRODUCED), (None, True, REPRODUCED),
        (True, False, PRINTED_ONLY), (False, False, NOT_REPRODUCED), (None, False, UNDECIDED),
        (True, None, UNDECIDED), (False, None, UNDECIDED), (None, None, UNDECIDED),
    ],
)  # fmt: skip
def test_two_formulas(printed, corrected, verdict):
    assert either(printed, corrected) == verdict


@pytest.mark.parametrize(
    ("interval", "answer"),
    [((1.0, 2.0), True), ((1.2, 1.3), True), ((0.9, 1.1), None), ((1.9, 2.1), None),
     ((0.0, 3.0), None), ((0.1, 0.99), False), ((2.01, 5.0), False), ((1.0, 1.0), True),
     ((math.inf, math.inf), False), ((1.5, math.inf), None)],
)  # fmt: skip
def test_an_interval_and_two_limits(interval, answer):
    assert within(interval, (1.0, 2.0)) is answer


def test_an_interval_and_one_limit():
    assert below((-9.0, 1.0), 1.0) is True
    assert below((0.9, 1.1), 1.0) is None
    assert below((1.1, 1.2), 1.0) is False


def test_a_no_decides_and_else_what_is_undecided():
    assert both(True, True) is True
    assert both(True, None) is None
    assert both(None, False, True) is False
    assert both() is True


def test_rows_and_windows_that_are_enough():
    curve = {32: {"rows": 1, "windows": 1}, 64: {"rows": limits.ROWS, "windows": limits.WINDOWS}}
    assert enough(curve)
    assert enough(curve, limits.ROWS)
    assert not enough(curve, limits.ROWS + 1)
    assert not enough({64: {"rows": limits.ROWS - 1, "windows": 9}})
    assert not enough({64: {"rows": 999, "windows": limits.WINDOWS - 1}})
    assert not enough({64: {"rows": None, "windows": 9}})
    assert not enough({})


def test_slopes_on_logarithms():
    assert log_slope(_means(_1=3.0, _10=30.0, _100=300.0)) == pytest.approx(1.0)
    assert log_slope(_means(_2=4.0, _4=16.0)) == pytest.approx(2.0)
    assert log_slope(_means(_2=4.0, _4=4.0)) == pytest.approx(0.0)
    assert log_slope(_means(_2=4.0)) is None
    assert log_slope({}) is None
    assert log_slope({1: {"mean": None}, 2: {"mean": 1.0}, 4: {"mean": 2.0}}) == pytest.approx(1.0)
    assert (power(None), power(0.5)) == ("no curve", "L^0.50")
    assert power(0.5, (0.4, 0.6)) == "L^0.50 (0.40 to 0.60)"
    assert power(-1.0, (-1.0, -1.0), of="T") == "T^-1.00"


def test_the_slopes_that_intervals_allow():
    exact = _means(_1=3.0, _10=30.0, _100=300.0)
    assert slope_reach(exact) == pytest.approx((1.0, 1.0))
    wide = {
        place: {"mean": 1.0 * place, "low": place / 2, "high": 2.0 * place} for place in (1, 100)
    }
    ends = slope_reach(wide)
    # From 2 up to 50, and from 1/2 up to 200, over two decades.
    assert ends == pytest.approx((math.log10(25) / 2, math.log10(400) / 2))
    assert slope_reach(_means(_2=1.0)) is None
    # Tilted the most: no slope of points within the intervals is outside.
    for low, high in ((0.5, 2.0), (0.7, 1.1)):
        some = {1: {"mean": low}, 100: {"mean": 100.0 * high}}
        slope = log_slope(some)
        assert slope is not None
        assert ends is not None
        assert ends[0] <= slope <= ends[1]


def test_intervals_of_means_and_ratios():
    assert reach({"mean": 2.0, "low": None, "high": None}) == (2.0, 2.0)
    assert reach({"mean": 2.0, "low": 1.0, "high": 3.0}) == (1.0, 3.0)
    assert reach({"maximum": 2.0, "low": None, "high": 4.0}, "maximum") == (2.0, 2.0)
    assert ratio((1.0, 2.0), (4.0, 8.0)) == (0.125, 0.5)
    assert told({"mean": 2.0, "low": None, "high": None}, 1) == "2.0"
    assert told({"change": 2.0, "low": 1.0, "high": 3.0}, 1, "change") == "2.0 (1.0 to 3.0)"


def test_a_curve_is_that_of_the_models_own_rule(frames):
    fig2a = frames.figure("length", distance={32: 1.0, 64: 2.0}, bound_upper={64: 3.0})
    other = fig2a.with_columns(rule=fig2a["rule"].replace({"model": "ssmax"}))
    elsewhere = fig2a.with_columns(vectors=fig2a["vectors"].replace({"final": "value"}))
    evidence = Evidence({"fig2a": other.vstack(elsewhere).vstack(fig2a)}, frames.choice)
    curve = evidence.curve("fig2a", "distance", "length")
    assert list(curve) == [32, 64]
    assert curve[64]["mean"] == 2.0
    assert evidence.tighter("fig2a", "length") == "sandwich: 1.500 × the distance"
    nothing = Evidence({"fig2a": fig2a.clear()}, frames.choice)
    assert nothing.tighter("fig2a", "length") == "not measured"


def test_what_is_absent_cannot_be_tested():
    row = absent("a claim", "Fig. 9", "much")
    assert (row.claim, row.where, row.paper, row.verdict) == (
        "a claim",
        "Fig. 9",
        "much",
        UNTESTABLE,
    )
