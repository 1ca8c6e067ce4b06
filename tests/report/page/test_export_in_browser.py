"""What a reader takes along: files that land in a folder and say what the page says."""

import csv
import struct
import xml.etree.ElementTree as ET

import pytest

from headgauge.report.page import page, write_page
from report.page.described import LENGTHS, distance
from report.page.results import HEADS, fake_scan, matrix_frames

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def saved(browser, tmp_path):
    """Presses a button of `css` and waits for its file."""
    where = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", where)

    def press(reader, css, ending):
        for old in tmp_path.iterdir():
            old.unlink()
        button = f"{css} .save button[aria-label$='{ending.upper()}']"
        reader.run("arguments[0].click()", reader.first(button))
        reader.wait(lambda: list(tmp_path.glob(f"*.{ending}")))
        return next(tmp_path.glob(f"*.{ending}"))

    return press


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def texts(path):
    return ["".join(each.itertext()) for each in ET.parse(path).iter(f"{SVG}text")]


def test_a_figures_numbers_are_saved_with_its_setting(drawn, saved):
    file = saved(drawn, "#lines", "csv")
    assert file.name == "lines-prose-model-16.csv"
    found = rows(file)
    line = [row for row in found if row["line"] == "distance d̃"]
    assert [float(row["x"]) for row in line] == list(LENGTHS)
    place = {"text": "prose", "rule": "model", "n": "16"}
    for row, length in zip(line, LENGTHS, strict=True):
        value = distance(place, length)
        assert float(row["y"]) == pytest.approx(value)
        assert float(row["low"]) == pytest.approx(0.9 * value)
        assert row["query rows"] == f"{length - 1:g} of {length:g}"
    assert {row["line"] for row in found if row["hidden"] == "yes"} == {"bound"}
    assert {row["median"] for row in found if row["line"] == "share N_s/N"} >= {"0.5", "0.9"}
    cells = rows(saved(drawn, "#cells", "csv"))
    assert [row["Pairs together"] for row in cells] == ["0", "0.25", "0.0625", "0.5", "0.75"]


def test_a_picture_stands_alone_and_is_the_same_from_a_dark_page(drawn, saved, pages):
    for figure, words in (
        ("lines", ["Lines over L", "Distance", "expected", "Ns/N", "three hundred"]),
        ("cells", ["Phase diagram", "Pairs together", "share of pairs together", "β ↑  t →"]),
    ):
        drawn.show(pages("figures"))
        file = saved(drawn, f"#{figure}", "svg")
        markup = file.read_text(encoding="utf-8")
        for foreign in ("class=", "style=", "var(", "oklch", "href", "aria-"):
            assert foreign not in markup
        root = ET.fromstring(markup)
        ground = root[0].attrib
        assert root.get("font-family")
        assert ground["fill"] == "white"
        told = texts(file)
        for each in words:
            assert any(each in text for text in told), each
        drawn.open(pages("figures"), theme="dark")
        assert saved(drawn, f"#{figure}", "svg").read_text(encoding="utf-8") == markup
        image = saved(drawn, f"#{figure}", "png").read_bytes()
        assert image[:8] == b"\x89PNG\r\n\x1a\n"
        size = [2 * int(ground[side]) for side in ("width", "height")]
        assert list(struct.unpack(">II", image[16:24])) == size
        assert drawn.run("return document.documentElement.dataset.theme") == "dark"


def test_a_table_is_saved_whole_and_says_what_is_shown(scan, saved):
    scan.choose(scan.one("#all-heads select"), "idle sink")
    found = rows(saved(scan, "#all-heads", "csv"))
    scan.choose(scan.one("#all-heads select"), "")
    assert len(found) == 12
    assert [row["Head"] for row in found if row["shown"] == "yes"] == [
        row["Head"] for row in found if "idle sink" in row["Verdicts"]
    ]
    assert found[0]["sink weight"] == "0.63"


def test_the_map_of_heads_and_the_spheres_are_saved(scan, simulation, saved, pages):
    scan.show(pages("scan"))
    assert rows(saved(scan, ".map-side", "csv"))[0] == {
        "head": "Layer 0, head 0",
        "Verdicts": "saturated",
    }
    assert {"Verdicts", "A", "saturated"} <= set(texts(saved(scan, ".map-side", "svg")))
    simulation.show(pages("simulation"))
    spheres = ".timed > div:nth-of-type(2)"
    assert "Peri-LN" in texts(saved(simulation, spheres, "svg"))
    places = rows(saved(simulation, spheres, "csv"))
    assert max(abs(float(row[axis])) for row in places for axis in "xyz") <= 1


def test_a_matrix_is_saved_as_it_is_seen(reader, saved, tmp_path_factory):
    frames = matrix_frames()
    kept = write_page(tmp_path_factory.mktemp("kept"), page(fake_scan(**frames)))
    pictures = []
    for theme in ("light", "dark"):
        reader.open(kept, theme=theme)
        reader.press(reader.one(f"#heads .cell[data-cell='{HEADS + 2}']"))
        reader.bring(reader.one("canvas.matrix"))
        file = saved(reader, "#head-panel > div:last-child", "svg")
        (image,) = ET.parse(file).iter(f"{SVG}image")
        pictures.append(image.get("href"))
    assert pictures[0] == pictures[1]
    assert file.name == "matrix-L1H2-window-0.svg"
    assert saved(reader, "#head-panel > div:last-child", "png").stat().st_size > 3000
    cells = rows(saved(reader, "#head-panel > div:last-child", "csv"))
    first = frames["matrices"].filter(window=0)
    assert len(cells) == len(first)
    wanted = first.sort("weight").row(-1, named=True)
    (weight,) = [
        float(each["weight"])
        for each in cells
        if int(each["row"]) == wanted["row"] and int(each["key"]) == wanted["key"]
    ]
    assert weight == pytest.approx(wanted["weight"], abs=5e-4)
    assert reader.complaints() == []
