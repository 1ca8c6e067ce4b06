import polars as pl
import pytest

from headgauge.paper.evidence import Evidence
from headgauge.paper.verdicts import discussion as judges
from headgauge.runs.paper_schema import (
    FEW_ROWS,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
)

COLD, COLDER, AWARE = "softmax T=0.1", "softmax T=0.01", "ssmax from n=256"


def _gain(measure: str, rule: str, change: float, half: float = 0.0, **more) -> dict:
    return {
        "measure": measure, "rule": rule, "against": COLD if rule == COLDER else "model",
        "top_n": 16 if measure == "separability" else None, "change": change, "heads": 8,
        "low": change - half, "high": change + half, "windows": 2, "rows": 64.0,
    } | more  # fmt: skip


def _evidence(frames, *gains: dict) -> Evidence:
    fig3 = frames.figure("top_n", separability={1: 1.0, 16: 0.6})
    rules = [
        fig3.with_columns(rule=pl.lit(rule), mean=pl.lit(mean))
        for rule, mean in ((COLD, 0.7), (COLDER, 0.71), (AWARE, 0.65), ("ssmax", 0.9))
    ]
    made = {
        "fig3": pl.concat([fig3, *rules]),
        "gains": frames.table("gains", *gains),
        "coverage": frames.table("coverage", {"heads": 2, "covered": 0.8}),
        "signs": frames.table("signs"),
    }
    return Evidence(made, frames.choice)


@pytest.mark.parametrize(
    ("gain", "norm", "verdict"),
    [
        ((0.01, 0.0), (1.5, 0.0), REPRODUCED), ((-0.2, 0.0), (1.11, 0.0), REPRODUCED),
        ((0.021, 0.0), (1.5, 0.0), NOT_REPRODUCED), ((0.01, 0.0), (1.09, 0.0), NOT_REPRODUCED),
        ((0.01, 0.02), (1.5, 0.0), UNDECIDED), ((0.01, 0.0), (1.15, 0.1), UNDECIDED),
        ((0.1, 0.02), (1.15, 0.1), NOT_REPRODUCED),  # a no decides
    ],
)  # fmt: skip
def test_cold_is_no_gain(frames, gain, norm, verdict):
    gains = (_gain("separability", COLDER, *gain), _gain("jacobian", COLDER, *norm, windows=1))
    row = judges.cold_is_no_gain(_evidence(frames, *gains))
    assert row.verdict == verdict
    assert "N_s/N at N = 16 goes from 0.700 to 0.710" in row.printed
    assert "(0.600 at the model's own T)" in row.printed


@pytest.mark.parametrize("few", [{"rows": 63.0}, {"windows": 1}])
def test_few_rows_or_windows_decide_nothing(frames, few):
    sure = _gain("jacobian", COLDER, 2.0)
    row = judges.cold_is_no_gain(_evidence(frames, _gain("separability", COLDER, 0.0, **few), sure))
    assert row.verdict == FEW_ROWS
    row = judges.length_aware_restores(_evidence(frames, _gain("separability", AWARE, 0.05, **few)))
    assert row.verdict == FEW_ROWS
    norm = _gain("jacobian", COLDER, 2.0, rows=63.0)
    row = judges.cold_is_no_gain(_evidence(frames, _gain("separability", COLDER, 0.0), norm))
    assert row.verdict == FEW_ROWS


@pytest.mark.parametrize(
    ("gain", "verdict"),
    [((0.05, 0.0), REPRODUCED), ((0.05, 0.02), REPRODUCED), ((0.03, 0.02), UNDECIDED),
     ((0.019, 0.0), NOT_REPRODUCED), ((-0.3, 0.1), NOT_REPRODUCED)],
)  # fmt: skip
def test_length_aware_restores(frames, gain, verdict):
    row = judges.length_aware_restores(_evidence(frames, _gain("separability", AWARE, *gain)))
    assert row.verdict == verdict
    assert row.printed.startswith("N_s/N at N = 16, L = 1024: 0.600, with SSMax")
    assert row.printed.endswith("with s = 1 0.900; two heads cover 0.80")


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [((-0.8, -0.6), REPRODUCED), ((-0.6, -0.4), UNDECIDED), ((-0.4, 0.1), NOT_REPRODUCED)],
)
def test_signs_of_saturation(frames, ends, verdict):
    evidence = _evidence(frames)
    found = {"sign": "entropy_share", "correlation": sum(ends) / 2, "low": ends[0], "high": ends[1]}
    other = {"sign": "sink_weight", "correlation": 0.25, "low": 0.0, "high": 0.5}
    evidence.frames["signs"] = frames.table("signs", found | {"heads": 8}, other | {"heads": 8})
    row = judges.signs_of_saturation(evidence)
    assert row.verdict == verdict
    assert "over 8 heads" in row.printed
    assert row.printed.endswith("; others with N_s/N: sink weight 0.25")
    few = evidence.frames | {"fig3": evidence.frames["fig3"].with_columns(rows=63.0)}
    assert judges.signs_of_saturation(Evidence(few, frames.choice)).verdict == FEW_ROWS


def test_what_was_not_measured_cannot_be_judged(frames):
    for judge in (
        judges.cold_is_no_gain, judges.length_aware_restores, judges.signs_of_saturation,
    ):  # fmt: skip
        assert judge(_evidence(frames)).verdict == UNTESTABLE
    alone = _evidence(frames, _gain("separability", COLDER, 0.0))
    assert judges.cold_is_no_gain(alone).verdict == UNTESTABLE


def _covered(frames, covered: float, half: float | None = 0.0, rows: int = 8) -> Evidence:
    row = {
        "top_n": 16, "heads": 3, "covered": covered, "separable": 0.6, "independent": 0.95,
        "formula": 0.936, "layers": 2, "rows": rows,
        "low": None if half is None else covered - half,
        "high": None if half is None else covered + half,
    }  # fmt: skip
    return Evidence({"coverage": frames.table("coverage", row)}, frames.choice)


@pytest.mark.parametrize(
    ("covered", "half", "rows", "verdict"),
    [(0.985, 0.0, 8, REPRODUCED), (0.984, 0.0, 8, NOT_REPRODUCED), (0.98, 0.01, 8, UNDECIDED),
     (0.992, 0.001, 8, REPRODUCED), (0.8, 0.05, 8, NOT_REPRODUCED), (0.8, 0.05, 7, FEW_ROWS)],
)  # fmt: skip
def test_three_heads_cover_is_measured(frames, covered, half, rows, verdict):
    row = judges.three_heads_cover(_covered(frames, covered, half, rows))
    assert row.verdict == verdict
    assert row.printed.startswith("1 − .2³ = 0.992; with the p = 0.60 of one head 0.936")
    assert "0.950 if heads were independent" in row.corrected


def test_without_three_heads_in_a_layer_it_cannot_be_tested(frames):
    row = judges.three_heads_cover(Evidence({"coverage": frames.table("coverage")}, frames.choice))
    assert row.verdict == UNTESTABLE


def test_a_time_on_another_machine_is_no_verdict(frames):
    assert judges.run_time(Evidence({}, frames.choice)).verdict == UNTESTABLE
