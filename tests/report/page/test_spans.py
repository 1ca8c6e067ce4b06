"""The weight on parts of the text: on the page for all heads, in each head's panel, as a figure."""

from typing import Any

import polars as pl
import pytest

from headgauge.report.figures import figures, plot
from headgauge.report.page import page, write_page
from headgauge.report.page.heads import heads_part
from headgauge.report.page.spans import spans_section
from headgauge.runs.schema import SpanRow, frame_schema
from report.page.results import HEADS, SCRIPT, WINDOWS, fake_scan, head_rows


def span_rows() -> pl.DataFrame:
    """One that only some rows see, one with a hostile name, and a class without any weight."""
    named = head_rows().select("window", "length", "layer", "occurrence", "module", "head")
    rows = [
        place
        | {"span": name, "kind": kind, "tokens": 3, "rows": rows, "uniform": 0.25}
        | {"mass": mass and (mass + place["head"] / 10 + place["window"] / 100)}
        for place in named.iter_rows(named=True)
        for name, kind, rows, mass in (
            ("a question", "span", 5, 0.2),
            (SCRIPT, "span", 60, 0.4),
            ("special tokens", "class", 64, None),
        )
    ]
    return pl.DataFrame(rows, schema=frame_schema(SpanRow))


def test_each_span_is_a_map_and_a_row_in_the_order_of_the_text() -> None:
    part: Any = spans_section(fake_scan(spans=span_rows()))
    _, table, drawn = part["parts"]
    assert [row[0] for row in table["rows"]] == [SCRIPT, "a question", "special tokens"]
    name, tokens, mass, uniform, most = table["rows"][1]
    mean = 0.2 + 0.15 + (WINDOWS - 1) / 200
    assert (tokens, uniform) == (3, 0.25)
    assert mass == pytest.approx(mean)
    assert [each for each, _ in most] == ["L0H3", "L1H3", "L2H3", "L0H2", "L1H2", "L2H2"]
    panels = drawn["figures"][0]["panels"]
    assert [panel["title"] for panel in panels] == [SCRIPT, name, "special tokens"]
    assert table["rows"][2][2:] == [None, 0.25, []]
    assert spans_section(fake_scan()) is None
    assert spans_section(fake_scan(spans=span_rows().clear())) is None
    assert "spans" not in figures(fake_scan(spans=span_rows().clear()))
    assert len(plot(fake_scan(spans=span_rows()), "spans").axes) > 3


def test_each_head_has_its_own() -> None:
    held = heads_part(fake_scan(spans=span_rows()))["spans"]
    assert [each["name"] for each in held] == [SCRIPT, "a question", "special tokens"]
    assert held[1]["mass"][HEADS + 2] == pytest.approx(0.2 + 0.2 + 0.005)
    assert held[2]["mass"] == [None] * len(held[1]["mass"])
    assert heads_part(fake_scan())["spans"] == []


def test_a_reader_finds_both(reader: Any, tmp_path: Any) -> None:
    reader.open(write_page(tmp_path, page(fake_scan(spans=span_rows()))))
    assert "Weight on spans" in reader.text("#spans")
    reader.press(reader.one(f"#heads .cell[data-cell='{HEADS + 2}']"))
    words = reader.text("#head-panel")
    assert "a question" in words
    assert "0.405" in words
    assert SCRIPT in words
    assert reader.complaints() == []
