from dataclasses import fields

import polars as pl
import pytest

from headgauge.runs.schema import HEAD, TABLES, UNIT, HeadRow, SampleRow, frame_schema


@pytest.mark.parametrize("row", TABLES.values())
def test_the_schema_has_the_fields_in_their_order(row):
    schema = frame_schema(row)
    assert list(schema) == [field.name for field in fields(row)]
    keys = [*UNIT, *HEAD] if "head" in schema else [*UNIT, "layer"]  # depth is of whole layers
    assert list(schema)[: len(keys)] == keys


def test_kinds_of_columns():
    heads, samples = frame_schema(HeadRow), frame_schema(SampleRow)
    assert heads["window"] == pl.Int64
    assert heads["cross"] == pl.Boolean
    assert heads["entropy"] == heads["max_logit"] == pl.Float64
    assert samples["query_text"] == heads["module"] == pl.String
