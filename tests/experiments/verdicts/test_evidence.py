import pytest

from headgauge.experiments.verdicts.evidence import (
    Evidence,
    absent,
    either,
    log_slope,
    power,
    word,
)
from headgauge.results.paper_schema import NOT_REPRODUCED, PRINTED_ONLY, REPRODUCED, UNTESTABLE


def _means(**values: float) -> dict:
    return {int(place[1:]): {"mean": mean} for place, mean in values.items()}


def test_words():
    assert (word(True), word(False)) == (REPRODUCED, NOT_REPRODUCED)
    assert either(True, True) == either(False, True) == REPRODUCED
    assert either(True, False) == PRINTED_ONLY
    assert either(False, False) == NOT_REPRODUCED


def test_slopes_on_logarithms():
    assert log_slope(_means(_1=3.0, _10=30.0, _100=300.0)) == pytest.approx(1.0)
    assert log_slope(_means(_2=4.0, _4=16.0)) == pytest.approx(2.0)
    assert log_slope(_means(_2=4.0, _4=4.0)) == pytest.approx(0.0)
    assert log_slope(_means(_2=4.0)) is None
    assert log_slope({}) is None
    assert log_slope({1: {"mean": None}, 2: {"mean": 1.0}, 4: {"mean": 2.0}}) == pytest.approx(1.0)
    assert (power(None), power(0.5)) == ("no curve", "L^0.50")


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
