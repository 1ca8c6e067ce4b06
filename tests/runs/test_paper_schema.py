import re
from dataclasses import fields

import polars as pl
import pytest

from headgauge.runs import paper_schema
from headgauge.runs.paper_schema import (
    DEPENDS,
    FEW_ROWS,
    NOT_REPRODUCED,
    ONE_TEXT,
    PAPER_TABLES,
    PRINTED_ONLY,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
    CriticalRow,
    PointRow,
    SensitivityFigureRow,
)
from headgauge.runs.schema import CurveRow, PaperCurveRow, frame_schema


@pytest.mark.parametrize("row", dict.fromkeys(PAPER_TABLES.values()))
def test_the_schema_has_the_fields_in_their_order(row):
    schema = frame_schema(row)
    assert list(schema) == [field.name for field in fields(row)]
    assert set(schema.values()) <= {pl.Int64, pl.Float64, pl.String, pl.Boolean}


def test_kinds_of_columns():
    critical, points = frame_schema(CriticalRow), frame_schema(PointRow)
    assert critical["critical_n"] == pl.Int64
    assert critical["share"] == critical["level"] == pl.Float64
    assert points["inside"] == pl.Boolean
    assert points["layer"] == pl.Int64
    assert frame_schema(SensitivityFigureRow)["epsilon"] == pl.Float64


def test_the_files_are_told_at_the_top():
    told = re.findall(r"paper/(\w+)\.parquet +(\w+)", paper_schema.__doc__ or "")
    assert told == [(name, row.__name__) for name, row in PAPER_TABLES.items()]


def test_the_words_differ():
    words = {
        REPRODUCED, PRINTED_ONLY, NOT_REPRODUCED, DEPENDS, UNDECIDED, FEW_ROWS, ONE_TEXT,
        UNTESTABLE,
    }  # fmt: skip
    assert len(words) == 8


def test_every_row_names_its_text_but_those_over_all_texts():
    without = {name for name, row in PAPER_TABLES.items() if "text" not in row.__annotations__}
    assert without == {"verdicts"}
    for name in PAPER_TABLES.keys() - without:
        assert next(iter(frame_schema(PAPER_TABLES[name]))) == "text"


def test_the_curves_of_a_reproduction_are_those_of_a_scan_and_the_rule():
    assert list(frame_schema(PaperCurveRow)) == [*frame_schema(CurveRow), "rule"]
