"""Sides on the page: what it holds of them, and what a reader does with it."""

from typing import Any

import pytest

from headgauge.report.page import write_page
from headgauge.report.page.comparison import compared_part
from headgauge.report.page.parts import Page, section
from report.test_comparison import PLACES, SIDES, compared


def test_every_number_of_every_side_is_there_once() -> None:
    part = compared_part(compared(), "separability")
    assert part["sides"] == list(SIDES)
    assert part["measures"]["sink_weight"][2] == [20, 21, 22, 23, 24, 25]
    assert part["errors"] == {"2 0": {"sink_weight": [0.5] * 6, "separability": [0.5] * 6}}
    assert part["marks"]["verdict"][1] == [["healthy"], ["diffuse"], ["healthy"]] * 2
    assert part["links"][4] == "L1H1"
    assert part["first"] == "separability"
    assert compared_part(compared(), "radius")["first"] == "sink_weight"
    assert part["figure"] is not None
    assert compared_part(compared(SIDES[:2]))["figure"] is None


@pytest.fixture
def shown(reader: Any, tmp_path: Any) -> Any:
    part = compared_part(compared())
    manifest = section("manifest", "Manifest", "Manifest", {"kind": "manifest", "manifest": {}})
    page = Page("Sides", "", [], [], [], [section("map", "Map", "Map", part), manifest])
    reader.open(write_page(tmp_path, page))
    yield reader
    assert reader.complaints() == []


def test_a_reader_chooses_two_sides_and_a_head(shown: Any) -> None:
    cells = shown.all("#map .cell")
    assert len(cells) == len(PLACES)
    said = cells[4].get_attribute("aria-label")
    assert said == "Layer 1, head 1: Sink weight: ssmax − softmax: +20 ± 0.5"
    shown.choose(shown.one("#map-side"), "1")
    said = shown.all("#map .cell")[4].get_attribute("aria-label")
    assert said.endswith(f"{SIDES[1]} − softmax: +10")  # no error: not held against each other
    shown.choose(shown.one("#map-against"), "-1")
    said = shown.all("#map .cell")[4].get_attribute("aria-label")
    assert said.endswith(f"Sink weight: {SIDES[1]}: 14")
    shown.choose(shown.one("#map-against"), "0")
    shown.choose(shown.one("#map-measure"), "verdicts")
    cells = shown.all("#map .cell")
    assert ["faint" in cell.get_attribute("class") for cell in cells] == [True, False, True] * 2
    assert cells[1].get_attribute("aria-label").endswith("diffuse (healthy before)")
    shown.press(cells[1])
    assert shown.text("#map .head-panel h3") == "Layer 0, head 1"
    assert "Verdicts:  softmax: " in shown.text("#map .head-panel")
