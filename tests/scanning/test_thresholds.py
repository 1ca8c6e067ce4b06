"""The table of thresholds."""

import polars as pl

from headgauge.runs.schema import CurveRow, HeadRow, frame_schema
from headgauge.scanning.thresholds import DEFAULT, LIMITS, ROLE_LINES, VERDICTS
from headgauge.scanning.verdicts import derived


def test_every_verdict_has_a_threshold_with_a_source_and_a_remedy():
    assert {threshold.verdict for threshold in DEFAULT} == set(VERDICTS)
    assert len({threshold.name for threshold in DEFAULT}) == len(DEFAULT)
    for threshold in (*DEFAULT, *ROLE_LINES):
        assert 0 < threshold.value < LIMITS.get(threshold.measure, float("inf"))
        assert threshold.source
        assert threshold.remedy.endswith(".")


def test_measures_are_columns_and_a_curve_names_its_choice():
    heads, curves = frame_schema(HeadRow), frame_schema(CurveRow)
    for threshold in (*DEFAULT, *ROLE_LINES):
        if threshold.top_n is None:
            assert threshold.measure in {*heads, *derived(pl.DataFrame(schema=heads))}
            assert threshold.choice == {}
            assert threshold.what == threshold.measure
        else:
            assert threshold.measure in curves
            assert list(threshold.choice) == ["top_n", "vectors", "scale", "keys"]
            assert None not in threshold.choice.values()
    assert DEFAULT[0].what == "separability at N = 16 (value, unit, off_sink)"


def test_what_a_remedy_lets_one_try_or_why_not():
    for threshold in DEFAULT:
        assert threshold.tries or threshold.untried
        for candidates in threshold.tries:
            names = {each.partition(":")[0] for each in candidates}
            assert len(names) == 1
            assert len(set(candidates)) == len(candidates)
    assert not any(line.tries or line.untried for line in ROLE_LINES)
