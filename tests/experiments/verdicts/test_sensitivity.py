import pytest

from headgauge.experiments.verdicts import sensitivity as judges
from headgauge.experiments.verdicts.evidence import Evidence
from headgauge.results.paper_schema import NOT_REPRODUCED, REPRODUCED, UNTESTABLE

COLD = (0.01, 0.03, 0.1)
GRID = (0.01, 0.1, 1.0, 10.0)


def _evidence(frames, values) -> Evidence:
    return Evidence({"fig4": frames.sensitivity(values)}, frames.choice)


def _power(slope: float, places=COLD) -> dict[float, float]:
    return {t: 0.1 * t**slope for t in places}


@pytest.mark.parametrize(
    ("slope", "verdict"),
    [(-1.0, REPRODUCED), (-0.76, REPRODUCED), (-1.24, REPRODUCED), (-0.74, NOT_REPRODUCED),
     (-1.26, NOT_REPRODUCED), (0.0, NOT_REPRODUCED)],
)  # fmt: skip
def test_sensitivity_follows(frames, slope, verdict):
    curves = {
        ("random", 0.001): _power(slope) | {1.0: 1e-9},  # warm: does not count
        ("random", 0.1): _power(-1.0 if verdict == NOT_REPRODUCED else 0.0),  # not the smallest ε
        ("worst", 0.001): _power(-1.0),
    }
    row = judges.sensitivity_follows(_evidence(frames, curves))
    assert row.verdict == verdict
    assert row.printed == f"T^{slope:.2f} (scaled logits)"
    assert row.corrected == "worst direction: T^-1.00"


def test_one_reading_that_follows_is_enough(frames):
    curves = {("random", 0.1): _power(0.0), ("random over all keys", 0.1): _power(-1.0)}
    row = judges.sensitivity_follows(_evidence(frames, curves))
    assert row.verdict == REPRODUCED
    assert row.printed == "T^0.00 (scaled logits); T^-1.00 (v over all L keys)"


def test_without_cold_temperatures_nothing_can_be_said(frames):
    warm = {("random", e): {1.0: 0.1, 10.0: 0.01} for e in (0.001, 0.1)}
    warm |= {("exact", None): {1.0: 0.1}, ("printed bound", None): {1.0: 0.25, 10.0: 0.025}}
    evidence = _evidence(frames, warm)
    assert judges.sensitivity_follows(evidence).verdict == UNTESTABLE
    assert judges.bound_is_near(evidence).verdict == UNTESTABLE
    cold = _evidence(frames, {("random", e): _power(-1.0) for e in (0.001, 0.1)})
    assert judges.sensitivity_drops(cold).verdict == UNTESTABLE
    nothing = _evidence(frames, {})
    assert judges.smaller_steps_larger(nothing).verdict == UNTESTABLE


@pytest.mark.parametrize(
    ("warm", "coldest", "verdict"),
    [((0.01, 0.01, 0.0101), 1.01, REPRODUCED), ((0.01, 0.01, 0.0109), 1.01, REPRODUCED),
     ((0.01, 0.01, 0.0111), 1.01, NOT_REPRODUCED), ((0.01, 0.01, 0.01), 0.99, NOT_REPRODUCED),
     ((0.01, 0.01, 0.005), 1.01, NOT_REPRODUCED)],
)  # fmt: skip
def test_sensitivity_drops(frames, warm, coldest, verdict):
    curves = {
        ("random", epsilon): {0.01: coldest, 0.1: 0.5, 1.0: g, 10.0: 0.001}
        for epsilon, g in zip((0.001, 0.1, 10.0), warm, strict=True)
    }
    row = judges.sensitivity_drops(_evidence(frames, curves))
    assert row.verdict == verdict
    assert row.printed.endswith("(scaled logits)")


@pytest.mark.parametrize(
    ("values", "verdict"),
    [((3.0, 2.0, 0.1), REPRODUCED), ((3.0, 3.0, 0.1), NOT_REPRODUCED),
     ((2.0, 3.0, 0.1), NOT_REPRODUCED), ((0.1, 2.0, 3.0), NOT_REPRODUCED)],
)  # fmt: skip
def test_smaller_steps_larger(frames, values, verdict):
    curves = {
        ("random", epsilon): {0.01: g, 1.0: 7.0}
        for epsilon, g in zip((0.001, 0.1, 10.0), values, strict=True)
    }
    row = judges.smaller_steps_larger(_evidence(frames, curves))
    assert row.verdict == verdict
    told = ", ".join(f"{g:.3g}" for g in values)
    ordered = int(verdict == REPRODUCED)
    assert row.printed == (
        f"at the lowest T, ε rising: {told}, in this order at {ordered} of 1 T (scaled logits)"
    )


def test_a_single_step_cannot_be_compared(frames):
    row = judges.smaller_steps_larger(_evidence(frames, {("random", 0.1): {0.01: 1.0}}))
    assert row.verdict == UNTESTABLE


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(0.51, REPRODUCED), (0.99, REPRODUCED), (0.49, NOT_REPRODUCED), (1.01, NOT_REPRODUCED)],
)
def test_bound_is_near(frames, share, verdict):
    printed = {0.01: 1.4, 0.05: 1.4, 0.1: 1.4, 1.0: 0.25}
    curves = {
        ("random", 0.001): {0.01: 0.1, 0.05: 1.4 * share, 0.1: 1.4 * 0.7, 1.0: 0.25},
        ("random", 0.1): {0.01: 1.0, 0.05: 1.0, 0.1: 1.0, 1.0: 1.0},
        ("printed bound", None): printed,
        ("exact", None): {0.01: 5.0, 0.05: 3.0, 0.1: 1.0, 1.0: 0.1},
    }
    row = judges.bound_is_near(_evidence(frames, curves))
    assert row.verdict == verdict
    assert row.printed == f"at most {share:.0%} (scaled logits)"
    assert "exceeds the printed bound at 2 of 4 temperatures and reaches 30% of" in row.corrected
