"""The notebook's view in a real browser: the page's own map, readable on light and on dark."""

import pytest

from headgauge.report.notebook import scan_html
from headgauge.report.page import page, write_page
from report.conftest import run_frames
from report.page.results import fake_scan, sample_rows

# What is written on a map and where, from the first block's name on; the corner has its own place.
WRITTEN = """
const words = [...document.querySelectorAll(arguments[0] + ' text')];
const at = (each) => [Number(each.getAttribute('x')), Number(each.getAttribute('y'))];
const first = at(words.find((each) => each.textContent === 'encoder'));
const corner = words.find((each) => each.textContent.includes('↓')).textContent;
return [corner, ...words.filter((each) => !each.textContent.includes('↓')).map((each) => {
  const [x, y] = at(each);
  return `${each.textContent} ${Math.round(x - first[0])} ${Math.round(y - first[1])}`;
}).sort()];
"""
OUTSIDE = """
const frame = document.querySelector('svg').getBoundingClientRect();
return [...document.querySelectorAll('svg text')].filter((each) => {
  const box = each.getBoundingClientRect();
  return box.left < frame.left || box.right > frame.right || box.bottom > frame.bottom;
}).map((each) => each.textContent);
"""


@pytest.fixture(scope="module")
def two_kinds():
    """Encoder and decoder, each layer called twice."""
    kinds = ("encoder.{}.attn", "decoder.{}.attn")
    heads, curves = run_frames(layers=22, heads=6, calls=2, kinds=kinds)
    return fake_scan(heads=heads, curves=curves, samples=sample_rows().clear())


def notebook(reader, fragment, path, look):
    reader.opened = None
    reader.resize(720)
    look = f'<!doctype html><meta charset="utf-8"><body style="margin:0;{look}">'
    path.write_text(f"{look}{fragment}", encoding="utf-8")
    reader.browser.get(path.as_uri())


def test_it_is_the_pages_own_map(reader, two_kinds, tmp_path):
    reader.open(write_page(tmp_path, page(two_kinds)))
    on_page = reader.run(WRITTEN, "#heads .heat")
    notebook(reader, scan_html(two_kinds), tmp_path / "notebook.html", "")
    assert reader.run(WRITTEN, "svg") == on_page
    assert on_page[0] == "layer ↓  head →"
    assert any(each.startswith("20 call 2 -6 ") for each in on_page)


@pytest.mark.parametrize("ink", ["rgb(20, 20, 20)", "rgb(230, 230, 230)"])
def test_labels_are_whole_and_take_the_pages_colour(ink, reader, two_kinds, tmp_path):
    notebook(reader, scan_html(two_kinds), tmp_path / "notebook.html", f"color:{ink}")
    assert reader.run("return document.documentElement.scrollWidth") <= 720
    assert reader.run(OUTSIDE) == []
    corner = "return getComputedStyle(document.querySelector('svg g:last-child text')).fill"
    assert reader.run(corner) == ink


def test_a_wide_model_scrolls_in_its_own_frame(reader, tmp_path):
    heads, curves = run_frames(layers=2, heads=96, windows=1, ns=(16,))
    fragment = scan_html(fake_scan(heads=heads, curves=curves))
    notebook(reader, fragment, tmp_path / "notebook.html", "")
    assert reader.run("return document.documentElement.scrollWidth") <= 720
    assert reader.run("return document.querySelector('svg').clientWidth") > 960
