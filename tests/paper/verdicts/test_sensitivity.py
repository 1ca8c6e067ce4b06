import pytest

from headgauge.paper.evidence import Evidence
from headgauge.paper.verdicts import sensitivity as judges
from headgauge.runs.paper_schema import (
    FEW_ROWS,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
)

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


def test_the_reading_that_was_chosen_is_judged_and_all_are_told(frames):
    curves = {("random", 0.1): _power(-0.5), ("random over all keys", 0.1): _power(-1.0)}
    evidence = _evidence(frames, curves)
    row = judges.sensitivity_follows(evidence)
    assert row.verdict == NOT_REPRODUCED
    assert row.printed == "T^-0.50 (scaled logits); T^-1.00 (v over all L keys)"
    other = Evidence(evidence.frames, frames.choice, ("scaled", "random over all keys"))
    row = judges.sensitivity_follows(other)
    assert row.verdict == REPRODUCED
    assert row.printed == "T^-1.00 (v over all L keys); T^-0.50 (scaled logits)"


def test_one_over_t_on_few_rows_is_undecided(frames):
    """64 rows whose interval at T = .01 reaches from .6 to 1.8 of the mean."""
    fig4 = frames.sensitivity({("random", 0.001): _power(-1.0)})
    cold = (fig4["temperature"] == 0.01).cast(float)
    wide = fig4.with_columns(
        low=fig4["maximum"] * (1 - 0.4 * cold), high=fig4["maximum"] * (1 + 0.8 * cold)
    )
    row = judges.sensitivity_follows(Evidence({"fig4": wide}, frames.choice))
    assert row.verdict == UNDECIDED
    assert "from 64 rows" in row.comment
    sure = fig4.with_columns(low=fig4["maximum"] * 0.99, high=fig4["maximum"] * 1.01)
    assert judges.sensitivity_follows(Evidence({"fig4": sure}, frames.choice)).verdict == REPRODUCED
    few = sure.with_columns(rows=63)
    assert judges.sensitivity_follows(Evidence({"fig4": few}, frames.choice)).verdict == FEW_ROWS


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


def _whole(frames):
    """Curves on which every claim of Figure 4 holds."""
    temperatures = (0.01, 0.05, 0.1, 1.0, 10.0)
    printed = {t: min(1 / (4 * t), 1.4142) for t in temperatures}
    g = {0.01: 1.3, 0.05: 1.2, 0.1: 0.13, 1.0: 0.01, 10.0: 0.001}
    curves = {
        ("random", epsilon): {t: value * (1 - shift * (t < 1)) for t, value in g.items()}
        for epsilon, shift in ((0.001, 0.0), (0.1, 0.1), (10.0, 0.5))
    }
    return frames.sensitivity(curves | {("printed bound", None): printed, ("exact", None): printed})


@pytest.mark.parametrize(
    ("judge", "sure"), [(judges.sensitivity_drops, 0.05), (judges.smaller_steps_larger, 0.02),
                        (judges.bound_is_near, 0.05)],
)  # fmt: skip
def test_intervals_that_reach_over_decide_nothing(frames, judge, sure):
    fig4 = _whole(frames)

    def verdict(share: float, rows: int = 64) -> str:
        here = fig4.with_columns(
            low=fig4["maximum"] * (1 - share), high=fig4["maximum"] * (1 + share), rows=rows
        )
        return judge(Evidence({"fig4": here}, frames.choice)).verdict

    assert verdict(0.0) == verdict(sure) == REPRODUCED
    assert verdict(0.55) == UNDECIDED
    assert verdict(0.0, rows=63) == FEW_ROWS


def test_how_far_it_falls_beyond_t_1_is_not_counted(frames):
    """A grid that goes on to T = 10⁴ has a drop by 100 after T = 1, as any grid would."""
    curves = {
        ("random", e): {0.01: 0.05, 1.0: 0.01, 100.0: 0.0001, 10000.0: 0.000001}
        for e in (0.001, 0.1)
    }
    row = judges.sensitivity_drops(_evidence(frames, curves))
    assert row.verdict == NOT_REPRODUCED
    assert "5 times lower at T = 1 than at its largest, 10000 times from there on" in row.printed
