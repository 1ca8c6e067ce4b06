import json
import math

import polars as pl
import pytest

from headgauge.registry.entry import Look
from headgauge.report.page.values import columns, plain, short
from report.page.described import lines


@pytest.mark.parametrize(
    ("value", "told"),
    [
        *((0.123456789, 0.12346), (123456.7, 123460), (12346.0, 12346), (1e-7, 1e-7)),
        *((math.nan, None), (math.inf, None), (None, None), ("text", "text"), (3, 3)),
        (1e300, 1e300),
    ],
)
def test_numbers_have_five_digits_and_what_is_none_is_null(value, told):
    assert short(value) == told
    assert type(short(value)) is type(told)


def test_a_table_is_a_list_per_column():
    frame = pl.DataFrame({"a": [1.0, math.nan], "b": ["x", None]})
    assert columns(frame) == {"a": [1, None], "b": ["x", None]}


def test_a_description_is_plain_and_says_no_more_than_it_must():
    told = plain(lines())
    assert json.loads(json.dumps(told)) == told
    assert told["panels"][0]["x"] == {
        "label": "L, tokens in the window",
        "short": "L",
        "log": True,
        "can_log": True,
    }
    first = told["panels"][0]["series"][0]
    assert first["y"][0] == 8
    assert first["at"] == {"text": "prose", "rule": "model", "n": "16"}
    assert not {"shown", "names", "in_file", "width", "run"} & {*first, *told}
    assert plain(Look("#123456", "none")) == {"colour": "#123456", "line": "none"}
