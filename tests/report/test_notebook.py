"""The notebook's fragment: well-formed, self-contained, and nothing in it is taken for HTML."""

import re
import xml.etree.ElementTree as ElementTree

import polars as pl
import pytest

from headgauge.registry.names import mark
from headgauge.report.notebook import scan_html
from report.page.results import FakeScan, fake_scan, fake_simulation

EVIL = "<script>alert('x')</script>&\""


@pytest.fixture(scope="module")
def html():
    return scan_html(fake_scan())


def words(html) -> str:
    return "".join(ElementTree.fromstring(html).itertext())


def test_text_is_text():
    class Odd(FakeScan):
        def caption(self):
            return EVIL

    scan = fake_scan()
    heads, curves = (frame.with_columns(module=pl.lit(EVIL)) for frame in (scan.heads, scan.curves))
    made = scan_html(Odd(scan.manifest, {**scan.tables, "heads": heads, "curves": curves}))
    assert "<script" not in made
    assert EVIL in words(made)
    assert ElementTree.fromstring(made).find(".//td[@title]").get("title") == EVIL  # type: ignore[union-attr]


def test_nothing_is_fetched_or_run(html):
    assert not re.search(r"(src|href)=|url\(|@import|<style|<link|\son\w+=", html)


def test_caption_counts_and_worst_heads_are_told(html):
    told = words(html)
    assert "small, prose, L = 64" in told
    assert "12 attention heads" in told
    assert "S idle sink 4" in told
    assert "12 heads, the worst first" in told
    assert "… and 2 more" in told
    assert "question mark" not in told


def test_each_verdict_has_its_stripe_at_the_heads_place(html):
    """Layers down, heads across: those of the last of three layers are sinks."""
    path = re.search(f'<path fill="{mark("idle sink").look.colour}" d="([^"]*)"', html)
    assert path is not None
    assert path[1].startswith("M44.5 66.5H77.5v21H44.5zM78.5 66.5H111.5v21H78.5z")


def test_what_grey_means_is_said_where_it_is_there():
    heads = fake_scan().heads.with_columns(sink_weight=pl.lit(None, pl.Float64))
    told = words(scan_html(fake_scan(heads=heads)))
    assert "? incomplete 12" in told
    assert "not measured" in told


def test_a_large_model_stays_small(make_run):
    heads, curves = make_run(layers=96, heads=32, windows=1, ns=(16,))
    assert len(scan_html(fake_scan(heads=heads, curves=curves))) < 300_000


def test_a_simulation_shows_what_its_schemes_did():
    simulation = fake_simulation()
    html = simulation._repr_html_()
    assert html is not None
    assert "<img" not in html
    told = words(html)
    assert simulation.caption() in told
    assert "Post-LN" in told
    assert "Swarms at t" in told
