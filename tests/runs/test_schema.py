import re

import polars as pl
import pytest

from headgauge.runs import ABLATION, REPRODUCTION, SCAN, SIMULATION, dynamics_schema, paper_schema
from headgauge.runs.paper_schema import PAPER_TABLES, CriticalRow, PointRow
from headgauge.runs.schema import (
    HEAD,
    TABLES,
    UNIT,
    CurveRow,
    HeadRow,
    PaperCurveRow,
    SampleRow,
    frame_schema,
)


@pytest.mark.parametrize(
    "layout", [SCAN, ABLATION, REPRODUCTION, SIMULATION], ids=lambda each: each.name
)
def test_the_schema_has_the_fields_in_their_order(layout):
    for row in layout.tables.values():
        schema = frame_schema(row)
        above_first = [each for each in reversed(row.__mro__) if "__annotations__" in vars(each)]
        assert list(schema) == [name for each in above_first for name in each.__annotations__]
        assert set(schema.values()) <= {pl.Int64, pl.Float64, pl.String, pl.Boolean}


def test_what_names_a_row_comes_first():
    for row in TABLES.values():
        schema = frame_schema(row)
        heads = "occurrence" in schema  # depth is of whole layers, an effect maybe of a group
        of_layer = ["layer"] if "layer" in schema else []  # a rule is of the whole model
        keys = [*UNIT, *HEAD] if heads else [*UNIT, *of_layer]
        assert list(schema)[: len(keys)] == keys
    for name, row in PAPER_TABLES.items():  # over all texts are the verdicts alone
        assert (next(iter(frame_schema(row))) == "text") == (name != "verdicts")
    assert list(frame_schema(PaperCurveRow)) == [*frame_schema(CurveRow), "rule"]


def test_types_of_columns():
    heads, samples = frame_schema(HeadRow), frame_schema(SampleRow)
    assert heads["window"] == pl.Int64
    assert heads["cross"] == pl.Boolean
    assert heads["entropy"] == heads["max_logit"] == pl.Float64
    assert samples["query_text"] == heads["module"] == pl.String
    critical, points = frame_schema(CriticalRow), frame_schema(PointRow)
    assert critical["critical_n"] == points["layer"] == pl.Int64
    assert critical["share"] == critical["level"] == points["x"] == pl.Float64
    assert points["inside"] == pl.Boolean


@pytest.mark.parametrize(
    ("layout", "schema"), [(REPRODUCTION, paper_schema), (SIMULATION, dynamics_schema)]
)
def test_the_files_are_told_at_the_top(layout, schema):
    told = re.findall(rf"{layout.folder}/(\w+)\.parquet +(\w+)", schema.__doc__ or "")
    assert told == [(name, row.__name__) for name, row in layout.tables.items()]


def test_the_words_of_verdicts_differ():
    words = [
        word
        for name, word in vars(paper_schema).items()
        if re.fullmatch("[A-Z]+(_[A-Z]+)?", name) and isinstance(word, str)
    ]
    assert len(words) == len(set(words)) == 8
