"""The notebook's fragment: well-formed, self-contained, and nothing in it is taken for HTML."""

import re
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from headgauge.registry.names import verdict
from headgauge.report.notebook import scan_html

EVIL = "<script>alert('x')</script>&\""


def result_html(heads, counts, caption) -> str:
    found = {"frame": heads, "counts": counts, "caption": caption, "warnings": []}
    scan: Any = SimpleNamespace(**{name: lambda held=held: held for name, held in found.items()})
    return scan_html(scan)


@pytest.fixture
def counts():
    return pl.DataFrame({"verdict": ["sink", "inactive", "healthy"], "heads": [2, 0, 7]})


def test_text_is_text(head_table, counts):
    odd = head_table.with_columns(module=pl.lit(EVIL), verdicts=pl.lit(EVIL))
    html = result_html(odd, counts.with_columns(verdict=pl.lit(EVIL)), EVIL)
    assert "<script" not in html
    root = ElementTree.fromstring(html)
    assert EVIL in "".join(root.itertext())
    assert root.find(".//td[@title]").get("title") == EVIL  # type: ignore[union-attr]


def test_nothing_is_fetched_or_run(head_table, counts):
    html = result_html(head_table, counts, "a model")
    assert not re.search(r"(src|href)=|url\(|@import|<style|<link|\son\w+=", html)


def test_counts_and_worst_heads_are_told(head_table, counts):
    words = "".join(
        ElementTree.fromstring(result_html(head_table, counts, "the caption")).itertext()
    )
    assert "the caption" in words
    assert "10 attention heads" in words
    assert "sink 2" in words
    assert "saturated, sink, inactive" in words
    more = pl.concat([head_table, head_table.with_columns(pl.col("layer") + 10)])
    assert "… and 10 more" in result_html(more, counts, "")


def test_each_verdict_has_its_stripe_at_the_heads_place(head_table, counts):
    html = result_html(head_table, counts, "")
    # Layer 1, head 1: a whole cell of "sink". Layer 0: a third, the second of three.
    path = re.search(f'<path fill="{verdict("sink").look.colour}" d="([^"]*)"', html)
    assert path is not None
    assert path[1] == "M4.667 0h4.67v14h-4.67zM14 14h14v14h-14z"


def test_unseen_sink_weights_are_grey_and_a_large_model_stays_small(head_table, counts):
    assert 'fill="#999"' not in result_html(head_table, counts, "")
    unseen = head_table.with_columns(sink_weight=pl.lit(None, pl.Float64))
    assert 'fill="#999"' in result_html(unseen, counts, "")
    many = pl.concat(
        head_table.head(1).with_columns(layer=pl.lit(layer, pl.Int64), head=pl.lit(head, pl.Int64))
        for layer in range(96)
        for head in range(32)
    )
    assert len(result_html(many, counts, "")) < 700_000
