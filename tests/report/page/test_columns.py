import math

import polars as pl
import pytest

from headgauge.report.page.columns import columns, groups, short


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.123456789, 0.12346),
        (123456.7, 123460),
        (1e-12, 1e-12),
        (3.0, 3),
        (math.nan, None),
        (-math.inf, None),
        (None, None),
        ("text", "text"),
        (1234567, 1234567),
        (True, True),
    ],
)
def test_numbers_are_shortened_and_everything_else_is_kept(value, shown):
    assert short(value) == shown
    assert type(short(value)) is type(shown)


def test_a_table_is_one_list_per_column():
    frame = pl.DataFrame({"a": [0.3333333, math.nan], "b": ["x", None]})
    assert columns(frame) == {"a": [0.33333, None], "b": ["x", None]}


def test_groups_hold_once_what_does_not_change():
    frame = pl.DataFrame({"line": ["b", "a", "b"], "x": [1, 2, 3], "n": [7, 7, 7]})
    assert groups(frame, ["line"]) == [
        {"size": 2, "fixed": {"line": "b", "n": 7}, "lists": {"x": [1, 3]}},
        {"size": 1, "fixed": {"line": "a", "x": 2, "n": 7}, "lists": {}},
    ]
    assert groups(frame, ["line"], without=["n", "unknown"])[1]["fixed"] == {"line": "a", "x": 2}
