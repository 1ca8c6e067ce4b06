import polars as pl
import pytest

from headgauge.paper.evidence import Evidence
from headgauge.paper.verdicts import separability as judges
from headgauge.runs.paper_schema import (
    FEW_ROWS,
    NOT_REPRODUCED,
    PRINTED_ONLY,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
)

GOOD = {1: 1.0, 2: 0.97, 4: 0.95, 8: 0.9, 16: 0.85, 32: 0.8, 64: 0.75, 100: 0.7}
CHOICES = (
    {"plateau_low": 0.7, "plateau_high": 0.85},
    {"plateau_low": 0.2, "plateau_high": 0.3, "vectors": "value"},
    {"vectors": "hidden"},
)


def _evidence(frames, curve, **measures) -> Evidence:
    fig3 = frames.figure("top_n", separability=curve, **measures)
    return Evidence({"fig3": fig3, "choices": frames.choices(*CHOICES)}, frames.choice)


@pytest.mark.parametrize(
    ("change", "verdict"),
    [({}, REPRODUCED), ({100: 0.69}, NOT_REPRODUCED), ({16: 0.86}, NOT_REPRODUCED),
     ({8: 0.96}, NOT_REPRODUCED), ({32: 0.85}, REPRODUCED), ({64: 0.7}, REPRODUCED),
     ({8: 0.85}, NOT_REPRODUCED)],
)  # fmt: skip
def test_separability_settles(frames, change, verdict):
    row = judges.separability_settles(_evidence(frames, GOOD | change))
    assert row.verdict == verdict
    assert row.comment.startswith("In the band: final/unit/all; all 3 choices lie between")


def test_the_band_is_told(frames):
    row = judges.separability_settles(_evidence(frames, GOOD))
    assert row.printed == "0.70 to 0.85 for N = 16 to 100"
    fig3 = frames.figure("top_n", separability=GOOD)
    with_band = fig3.with_columns(low=fig3["mean"] - 0.01, high=fig3["mean"] + 0.01)
    evidence = Evidence({"fig3": with_band, "choices": frames.choices()}, frames.choice)
    row = judges.separability_settles(evidence)
    assert row.printed.endswith("(at N = 100: 0.700, 95 % 0.690 to 0.710)")
    assert row.comment.startswith("In the band: no choice")


def test_a_run_without_n_of_16_cannot_speak_of_it(frames):
    """Not measured is not the same as not reproduced."""
    row = judges.separability_settles(_evidence(frames, {1: 1.0, 2: 0.9}))
    assert row.printed == "not measured"
    assert row.verdict == UNTESTABLE


@pytest.mark.parametrize(
    ("gap", "verdict"),
    [(0.049, PRINTED_ONLY), (0.051, NOT_REPRODUCED), (-0.049, PRINTED_ONLY),
     (-0.051, NOT_REPRODUCED)],
)  # fmt: skip
def test_upper_bound_tracks(frames, gap, verdict):
    bound = {n: value + 0.01 for n, value in GOOD.items()} | {32: GOOD[32] + gap}
    row = judges.upper_bound_tracks(_evidence(frames, GOOD, separability_printed_upper=bound))
    assert row.verdict == verdict
    assert row.printed.startswith(f"within {abs(gap):.3f} (at N = 32)")
    assert ("exceeds it at N = 32" in row.printed) == (gap < 0)


def test_without_a_bound_nothing_can_be_said(frames):
    assert judges.upper_bound_tracks(_evidence(frames, GOOD)).verdict == UNTESTABLE


def _verdicts(frames, **columns) -> tuple[str, str]:
    """Both judges on a curve that stays well within the band, under a bound that is .03 above."""
    curve = GOOD | {16: 0.82, 32: 0.8, 64: 0.78, 100: 0.75}
    bound = {n: value + 0.03 for n, value in curve.items()}
    made = _evidence(frames, curve, separability_printed_upper=bound)
    fig3 = made.frames["fig3"].with_columns(**columns)
    evidence = Evidence(made.frames | {"fig3": fig3}, frames.choice)
    return (
        judges.separability_settles(evidence).verdict,
        judges.upper_bound_tracks(evidence).verdict,
    )


def test_a_band_that_reaches_over_decides_nothing(frames):
    def band(half: float) -> dict:
        return {"low": pl.col("mean") - half, "high": pl.col("mean") + half}

    assert _verdicts(frames, **band(0.005)) == (REPRODUCED, PRINTED_ONLY)
    assert _verdicts(frames, **band(0.015)) == (REPRODUCED, UNDECIDED)  # .03 ± two bands
    assert _verdicts(frames, **band(0.06)) == (UNDECIDED, UNDECIDED)
    for few in ({"rows": 63.0}, {"windows": 1}):
        assert _verdicts(frames, **band(0.001), **few) == (FEW_ROWS, FEW_ROWS)
