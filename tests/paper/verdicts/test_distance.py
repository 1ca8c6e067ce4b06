"""Each word of each judge, from frames made so that a changed limit is noticed."""

import polars as pl
import pytest

from headgauge.paper.evidence import Evidence
from headgauge.paper.verdicts import distance as judges
from headgauge.runs.paper_schema import (
    FEW_ROWS,
    NOT_REPRODUCED,
    PRINTED_ONLY,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
)

LENGTHS = (32, 64, 128, 256)


def _power(slope: float) -> dict[int, float]:
    return {length: 3.0 * length**slope for length in LENGTHS}


def _over_length(frames, **measures) -> Evidence:
    return Evidence({"fig2a": frames.figure("length", **measures)}, frames.choice)


def _over_n(frames, **measures) -> Evidence:
    return Evidence({"fig2b": frames.figure("top_n", **measures)}, frames.choice)


@pytest.mark.parametrize(
    ("slope", "verdict"),
    [(1.0, REPRODUCED), (0.86, REPRODUCED), (1.14, REPRODUCED), (0.84, NOT_REPRODUCED),
     (1.16, NOT_REPRODUCED), (0.05, NOT_REPRODUCED)],
)  # fmt: skip
def test_distance_grows(frames, slope, verdict):
    row = judges.distance_grows(_over_length(frames, distance=_power(slope)))
    assert row.verdict == verdict
    assert row.printed.startswith(f"L^{slope:.2f}; ")
    assert row.printed.endswith(" at L = 256")


@pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [(1.0, 1.1, REPRODUCED), (1.0, 0.2, PRINTED_ONLY), (0.5, 0.9, REPRODUCED),
     (0.84, 0.84, NOT_REPRODUCED), (1.16, 0.2, NOT_REPRODUCED), (1.14, 0.84, PRINTED_ONLY)],
)  # fmt: skip
def test_expectation_grows(frames, printed, corrected, verdict):
    evidence = _over_length(
        frames,
        expected_printed=_power(printed),
        expected_appendix=_power(corrected),
        expected_upper=_power(0.3),
    )
    row = judges.expectation_grows(evidence)
    assert row.verdict == verdict
    assert row.corrected.startswith(f"L^{corrected:.2f}; ")
    assert "(eq. 24); its upper side L^0.30; " in row.corrected


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [((1.5, 1.5, 1.5, 1.11), REPRODUCED), ((1.5, 1.5, 1.5, 1.09), NOT_REPRODUCED),
     ((0.99, 1.5, 1.5, 1.5), NOT_REPRODUCED), ((1.0, 1.5, 1.5, 1.5), REPRODUCED)],
)  # fmt: skip
def test_bound_is_safe(frames, ratios, verdict):
    bound = {length: 2.0 * ratio for length, ratio in zip(LENGTHS, ratios, strict=True)}
    evidence = _over_length(
        frames,
        distance=dict.fromkeys(LENGTHS, 2.0),
        bound_printed=bound,
        bound_upper=dict.fromkeys(LENGTHS, 2.5),
    )
    row = judges.bound_is_safe(evidence)
    assert row.verdict == verdict
    assert row.printed == f"{ratios[-1]:.2f} × the distance at L = 256"
    assert row.corrected == "sandwich: 1.250 × the distance"
    without = evidence.frames["fig2a"].filter(pl.col("measure") != "bound_upper")
    again = judges.bound_is_safe(Evidence({"fig2a": without}, frames.choice))
    assert again.corrected == "not measured"


@pytest.mark.parametrize(
    ("values", "verdict"),
    [((10.0, 110.0, 124.0), REPRODUCED), ((10.0, 110.0, 96.0), REPRODUCED),
     ((10.0, 110.0, 126.0), NOT_REPRODUCED), ((10.0, 110.0, 94.0), NOT_REPRODUCED),
     ((10.0, 10.0, 10.0), NOT_REPRODUCED), ((10.0, 5.0, 5.0), NOT_REPRODUCED)],
)  # fmt: skip
def test_distance_levels_off(frames, values, verdict):
    curve = dict(zip((1, 20, 100), values, strict=True))
    assert judges.distance_levels_off(_over_n(frames, distance=curve)).verdict == verdict
    del curve[100]
    assert judges.distance_levels_off(_over_n(frames, distance=curve)).verdict == UNTESTABLE


CLOSE, FAR = {5: 5.0, 100: 10.9}, {5: 1.0, 100: 1.0}


@pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [(CLOSE, FAR, PRINTED_ONLY), (FAR, CLOSE, REPRODUCED), (FAR, FAR, NOT_REPRODUCED),
     ({5: 5.0, 100: 11.2}, FAR, NOT_REPRODUCED),  # log 1.12 is above .1
     ({5: 5.0, 100: 8.9}, FAR, NOT_REPRODUCED),
     ({5: 10.2, 100: 10.5}, FAR, NOT_REPRODUCED)],  # near, but nearer before
)  # fmt: skip
def test_expectation_converges(frames, printed, corrected, verdict):
    measures = {"distance": {5: 10.0, 100: 10.0}}
    evidence = _over_n(frames, **measures, expected_printed=printed, expected_appendix=corrected)
    assert judges.expectation_converges(evidence).verdict == verdict
    without = _over_n(frames, **measures, expected_printed=printed, expected_appendix={5: 1.0})
    assert judges.expectation_converges(without).verdict == UNTESTABLE


@pytest.mark.parametrize(
    ("at_100", "verdict"), [(19.5, REPRODUCED), (19.7, NOT_REPRODUCED), (30.0, NOT_REPRODUCED)]
)
def test_bound_tightens(frames, at_100, verdict):
    distance = {1: 10.0, 20: 10.0, 100: 10.0}
    bound = {1: 30.0, 20: 20.0, 100: at_100}
    row = judges.bound_tightens(_over_n(frames, distance=distance, bound_printed=bound))
    assert row.verdict == verdict
    assert row.printed == f"bound/d̃ = 3.00, 2.00, {at_100 / 10:.2f} at N = 1, 20, 100"
    few = _over_n(frames, distance={1: 1.0, 20: 1.0}, bound_printed={1: 1.0, 20: 1.0})
    assert judges.bound_tightens(few).verdict == UNTESTABLE


@pytest.mark.parametrize("judge", [judges.distance_grows, judges.expectation_grows])
def test_a_run_at_a_single_length_cannot_speak_of_growth(frames, judge):
    """Not measured is not the same as not reproduced."""
    one = {name: {1024: 3.0} for name in ("distance", "expected_printed", "expected_appendix")}
    assert judge(_over_length(frames, **one)).verdict == UNTESTABLE


def _banded(evidence: Evidence, share: float, **more) -> Evidence:
    """The same with a band of a share to both sides of every mean."""
    bands = {
        name: frame.with_columns(
            low=frame["mean"] * (1 - share), high=frame["mean"] * (1 + share)
        ).with_columns(**more)
        for name, frame in evidence.frames.items()
    }
    return Evidence(bands, evidence.choice)


ALL = {
    judges.distance_grows: ("length", {"distance": _power(1.0)}),
    judges.expectation_grows: (
        "length",
        {"expected_printed": _power(1.0), "expected_appendix": _power(0.2)},
    ),
    judges.bound_is_safe: (
        "length",
        {"distance": dict.fromkeys(LENGTHS, 1.0), "bound_printed": dict.fromkeys(LENGTHS, 1.3)},
    ),
    judges.expectation_converges: (
        "top_n",
        {"distance": {5: 10.0, 100: 10.0}, "expected_printed": {5: 5.0, 100: 10.0},
         "expected_appendix": FAR},
    ),
}  # fmt: skip


@pytest.mark.parametrize("judge", ALL)
def test_an_interval_that_reaches_over_the_limit_decides_nothing(frames, judge):
    along, measures = ALL[judge]
    evidence = Evidence(
        {name: frames.figure(along, **measures) for name in ("fig2a", "fig2b")}, frames.choice
    )
    sure = judge(evidence).verdict
    assert sure in (REPRODUCED, PRINTED_ONLY)
    assert judge(_banded(evidence, 0.001)).verdict == sure
    assert judge(_banded(evidence, 0.3)).verdict == UNDECIDED
    assert judge(_banded(evidence, 0.001, rows=63.0)).verdict == FEW_ROWS
    assert judge(_banded(evidence, 0.001, windows=1)).verdict == FEW_ROWS


@pytest.mark.parametrize(
    ("judge", "measures"),
    [
        (judges.distance_levels_off, {"distance": {1: 10.0, 20: 110.0, 100: 124.0}}),
        (judges.bound_tightens, {"distance": {20: 10.0, 100: 10.0},
                                 "bound_printed": {20: 20.0, 100: 19.5}}),
    ],
)  # fmt: skip
def test_bands_of_a_curve_over_n(frames, judge, measures):
    """Windows move such a curve as a whole; what is compared are its ends on the same side."""
    evidence = _over_n(frames, **measures)
    assert judge(_banded(evidence, 0.3)).verdict == REPRODUCED
    frame = evidence.frames["fig2b"]
    last = (frame["top_n"] == 100) & frame["measure"].is_in(["bound_printed", "distance"])
    tilted = frame.with_columns(
        low=frame["mean"], high=frame["mean"] * (1 + 0.05 * last.cast(float) *
        (frame["measure"] == ("bound_printed" if len(measures) > 1 else "distance")).cast(float)),
    )  # fmt: skip
    assert judge(Evidence({"fig2b": tilted}, frames.choice)).verdict == UNDECIDED
    assert judge(_banded(evidence, 0.0, rows=63.0)).verdict == FEW_ROWS
    assert judge(_banded(evidence, 0.0, windows=1)).verdict == FEW_ROWS
