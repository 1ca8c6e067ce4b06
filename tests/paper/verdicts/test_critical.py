import polars as pl
import pytest

from headgauge.paper.evidence import Evidence
from headgauge.paper.verdicts import critical as judges
from headgauge.runs.paper_schema import (
    FEW_ROWS,
    NOT_REPRODUCED,
    PRINTED_ONLY,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
    KsTestRow,
)
from headgauge.runs.schema import frame_schema


def _evidence(frames, *rows, choices=({"critical_n": 60},), p_values=(0.001, 0.5)) -> Evidence:
    schema = frame_schema(KsTestRow)
    place = frames.choice | {"rule": "model", "length": 1000, "expected": "printed"}
    tests = [place | {"top_n": n, "p_value": p} for n, p in enumerate(p_values, 1)]
    made = {
        "fig2c": frames.critical(*rows),
        "choices": frames.choices(*choices),
        "fig2c_tests": pl.DataFrame([dict.fromkeys(schema) | row for row in tests], schema=schema),
    }
    return Evidence(made, frames.choice)


@pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [(30, None, PRINTED_ONLY), (29, None, NOT_REPRODUCED), (70, None, PRINTED_ONLY),
     (71, None, NOT_REPRODUCED), (None, None, NOT_REPRODUCED), (60, 60, REPRODUCED),
     (None, 30, REPRODUCED), (60, 71, PRINTED_ONLY), (29, 29, NOT_REPRODUCED)],
)  # fmt: skip
def test_critical_share(frames, printed, corrected, verdict):
    evidence = _evidence(
        frames,
        {"critical_n": printed},
        {"critical_n": corrected, "expected": "appendix"},
        {"critical_n": 50, "length": 500},  # not the longest
        {"critical_n": 50, "level": 0.05},
    )
    row = judges.critical_share(evidence)
    assert row.verdict == verdict
    if printed is None:
        assert row.printed.startswith("none up to N = 100 at level 0.01")
    else:
        assert row.printed.startswith(f"N = {printed} = {printed / 1000:.3f} L at level 0.01")
    assert "N = 50 = 0.050 L at level 0.05" in row.printed
    assert row.corrected.endswith("against its upper side none")


def test_the_row_tells_the_intervals_and_the_other_choices(frames):
    told = {"critical_n": 60, "low": 50, "high": 66, "few_heads": 41, "few_low": 38, "few_high": 47,
            "few_found": 1.0, "window_low": 55, "window_high": 61, "heads": 270}  # fmt: skip
    choices = ({"critical_n": 60}, {"critical_n": 5, "vectors": "value"}, {"vectors": "hidden"})
    row = judges.critical_share(_evidence(frames, told, choices=choices))
    assert row.printed == (
        "N = 41 = 0.041 L at level 0.01 with 144 heads (38 to 47 over draws), 60 with all 270 "
        "(55 to 61 over windows)"
    )
    assert "the 3 choices give N = 5 to 60, none for 1 of them" in row.comment
    assert row.corrected.startswith("not measured")


@pytest.mark.parametrize(
    ("p_values", "again"),
    [((0.001, 0.02, 0.5), None), ((0.001, 0.02, 0.009), 3), ((0.5, 0.011), None),
     ((0.001, 0.001), None), ((), None), ((0.5, 0.001, 0.5), 2)],
)  # fmt: skip
def test_a_test_that_rejects_again_is_told(frames, p_values, again):
    comment = judges.critical_share(
        _evidence(frames, {"critical_n": 60}, p_values=p_values)
    ).comment
    assert ("rejects again" in comment) == (again is not None)
    if again is not None:
        assert f"rejects again at N = {again}." in comment


def _at(length: int, share: float | None, **more) -> dict:
    return {"length": length, "critical_n": None if share is None else round(share * length)} | more


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [((0.05, 0.06), PRINTED_ONLY), ((0.05, 0.08), NOT_REPRODUCED), ((0.02, 0.05), NOT_REPRODUCED),
     ((0.05, None), NOT_REPRODUCED)],
)  # fmt: skip
def test_critical_over_length(frames, shares, verdict):
    rows = [_at(length, share) for length, share in zip((300, 1000), shares, strict=True)]
    short = _at(100, 0.5)  # below 256 it does not count
    row = judges.critical_over_length(_evidence(frames, *rows, short))
    assert row.verdict == verdict
    assert row.printed.startswith(f"{shares[0]:.3f} at 300")
    assert row.corrected == "not measured"
    corrected = [each | {"expected": "appendix"} for each in (_at(300, 0.05), _at(1000, 0.06))]
    assert judges.critical_over_length(_evidence(frames, *rows, *corrected)).verdict == REPRODUCED


def test_a_run_that_has_no_long_window_cannot_speak_of_it(frames):
    """Not measured is not the same as not reproduced."""
    row = judges.critical_over_length(_evidence(frames, _at(100, 0.05)))
    assert row.printed == "not measured"
    assert row.verdict == UNTESTABLE


def test_144_heads_are_not_told_of_a_model_that_has_fewer(frames):
    told = {"critical_n": 60, "few_heads": None, "heads": 8}
    assert "144 heads" not in judges.critical_share(_evidence(frames, told)).printed


DRAWN = {"heads": 270, "few_found": 1.0}


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        # With more heads the draws of 144 decide, not all of them.
        ({"critical_n": 90, "few_heads": 60, "few_low": 50, "few_high": 66}, PRINTED_ONLY),
        ({"critical_n": 60, "few_heads": 20, "few_low": 15, "few_high": 29}, NOT_REPRODUCED),
        ({"critical_n": 60, "few_heads": 60, "few_low": 50, "few_high": 71}, UNDECIDED),
        ({"critical_n": 60, "few_heads": 60, "few_low": 29, "few_high": 70}, UNDECIDED),
        ({"critical_n": 60, "few_heads": 60, "few_low": 50, "few_high": None}, UNDECIDED),
        ({"critical_n": 60, "few_heads": None, "few_low": None, "few_high": None}, NOT_REPRODUCED),
        ({"critical_n": 60, "few_heads": 80, "few_low": 71, "few_high": None}, NOT_REPRODUCED),
    ],
)
def test_the_draws_of_144_heads_are_the_first_reading(frames, row, verdict):
    assert judges.critical_share(_evidence(frames, DRAWN | row)).verdict == verdict


@pytest.mark.parametrize(
    ("row", "verdict"),
    [({"low": 50, "high": 66, "found": 1.0}, PRINTED_ONLY),
     ({"low": 50, "high": 75, "found": 1.0}, UNDECIDED),
     ({"low": 25, "high": 66, "found": 1.0}, UNDECIDED),
     ({"low": 50, "high": None, "found": 0.8}, UNDECIDED)],
)  # fmt: skip
def test_with_fewer_heads_their_bootstrap_decides(frames, row, verdict):
    evidence = _evidence(frames, {"critical_n": 60, "heads": 144} | row)
    assert judges.critical_share(evidence).verdict == verdict


def test_too_few_rows_decide_nothing(frames):
    few = {"critical_n": 60, "rows": 63.0}
    assert judges.critical_share(_evidence(frames, few)).verdict == FEW_ROWS
    over = judges.critical_over_length(_evidence(frames, few | {"length": 1000}))
    assert over.verdict == FEW_ROWS


def _growing(frames, *growth: dict, rows: float = 64.0) -> Evidence:
    default = frames.choice | {
        "rule": "model", "expected": "printed", "level": 0.01, "found": 1.0, "shortest": 256,
        "longest": 1024, "heads": 144,
    }  # fmt: skip
    evidence = _evidence(frames, *({"length": n, "rows": rows} for n in (256, 1024)))
    evidence.frames["fig2c_growth"] = frames.table(
        "fig2c_growth", *(default | each for each in growth)
    )
    return evidence


@pytest.mark.parametrize(
    ("printed", "corrected", "verdict"),
    [
        # N = 22, 37, 62 at L = 256, 512, 1024 is about L^.75: sub-linear, as printed.
        ({"exponent": 0.75, "low": 0.7, "high": 0.8}, None, PRINTED_ONLY),
        ({"exponent": 0.75, "low": 0.5, "high": 1.1}, None, UNDECIDED),
        ({"exponent": 1.2, "low": 1.1, "high": 1.3}, None, NOT_REPRODUCED),
        ({"exponent": 1.2, "low": 1.1, "high": 1.3},
         {"exponent": 0.5, "low": 0.4, "high": 0.6}, REPRODUCED),
        ({"exponent": 0.75, "low": 0.7, "high": 0.8, "found": 0.97}, None, UNDECIDED),
        ({"exponent": 0.75, "low": 0.7, "high": 0.8, "found": 0.975}, None, PRINTED_ONLY),
        ({"exponent": 1.2, "low": 1.1, "high": 1.3, "found": 0.6}, None, NOT_REPRODUCED),
        ({"exponent": None, "found": 0.3}, None, UNDECIDED),
        ({"exponent": None, "found": 0.0}, None, NOT_REPRODUCED),
    ],
)  # fmt: skip
def test_sub_linear_is_tested_as_printed(frames, printed, corrected, verdict):
    growth = [printed] + ([] if corrected is None else [corrected | {"expected": "appendix"}])
    others = [{"exponent": 3.0, "low": 3.0, "high": 3.0, "level": 0.05},
              {"exponent": 3.0, "low": 3.0, "high": 3.0, "rule": "ssmax"}]  # fmt: skip
    row = judges.critical_sub_linear(_growing(frames, *others, *growth))
    assert row.verdict == verdict
    assert "144 heads, L = 256 to 1024" in row.printed
    few = judges.critical_sub_linear(_growing(frames, *growth, rows=63.0))
    assert few.verdict == FEW_ROWS


def test_growth_that_was_not_measured_cannot_be_judged(frames):
    assert judges.critical_sub_linear(_growing(frames)).verdict == UNTESTABLE
