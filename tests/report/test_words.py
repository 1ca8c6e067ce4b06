"""Every measure that is drawn has words, and every verdict a letter of its own."""

import polars as pl
import pytest

from headgauge.report import words
from headgauge.runs.schema import CurveRow, HeadRow, frame_schema


def test_every_number_of_a_head_has_words():
    numbers = {name for name, kind in frame_schema(HeadRow).items() if kind == pl.Float64}
    assert numbers <= set(words.HEAD_MEASURES)
    assert set(words.CURVE_MEASURES) <= set(frame_schema(CurveRow))


def test_diverging_colours_only_around_a_meaningful_middle():
    diverging = {name for name, each in words.MEASURES.items() if each.colour_map != "viridis"}
    assert diverging == {"output_ratio"}


def test_no_two_verdicts_look_the_same():
    marks = words.MARKS.values()
    assert (
        len({mark.letter for mark in marks}) == len({mark.colour for mark in marks}) == len(marks)
    )
    assert words.mark("a verdict of tomorrow").letter not in {mark.letter for mark in marks}


def test_ink_is_readable_on_its_colour():
    assert words.mark("sink").ink == "white"
    assert words.mark("healthy").ink == "black"


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (0.12345, "sink_weight", "0.12"),
        (0.12345, "jacobian_norm", "0.123"),
        (0.00004, "sink_weight", "4e-05"),
        (0.0, "sink_weight", "0.00"),
        (None, "sink_weight", "–"),
        (float("nan"), "sink_weight", "–"),
        (391.72, "effective_n", "391.7"),
    ],
)
def test_numbers_keep_their_digits(value, name, text):
    assert words.number(value, name) == text
