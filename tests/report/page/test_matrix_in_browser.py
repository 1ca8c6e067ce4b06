"""A head's weights, token by token."""

import pytest
from selenium.webdriver.common.keys import Keys

from headgauge.report.page import page, write_page
from report.page.results import HEADS, LENGTH, fake_scan, matrix_frames

EDGE = 68  # pixels for the tokens


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return write_page(tmp_path_factory.mktemp("kept"), page(fake_scan(**matrix_frames())))


@pytest.fixture
def matrix(reader, kept):
    """The page with the head open whose weights were kept."""
    reader.open(kept)
    reader.press(reader.one(f"#heads .cell[data-cell='{HEADS + 2}']"))
    reader.bring(reader.one("canvas.matrix"))
    yield reader
    assert reader.complaints() == []


def _cell(reader):
    return float(reader.one("canvas.matrix").get_attribute("data-cell"))


def _cursor(reader):
    return reader.one("canvas.matrix").get_attribute("data-cursor")


def _pixels(reader, row, keys):
    """The colours in the middle of cells, while all of them are in sight."""
    return reader.run(
        "const [row, keys, cell] = arguments, copy = document.createElement('canvas');"
        "const pen = copy.getContext('2d', {willReadFrequently: true});"
        "const seen = document.querySelector('canvas.matrix');"
        "[copy.width, copy.height] = [seen.width, seen.height]; pen.drawImage(seen, 0, 0);"
        f"const at = (place) => Math.floor({EDGE} + (place + 0.5) * cell);"
        "return keys.map((key) => [...pen.getImageData(at(key), at(row), 1, 1).data])",
        row,
        keys,
        _cell(reader),
    )


def _point(reader, row, key):
    canvas = reader.one("canvas.matrix")
    size = reader.run(
        "const b = arguments[0].getBoundingClientRect(); return [b.width, b.height]", canvas
    )
    spot = [EDGE + (place + 0.5) * _cell(reader) for place in (key, row)]
    off = [int(at - whole / 2) for at, whole in zip(spot, size, strict=True)]
    reader.hand().move_to_element_with_offset(canvas, *off).perform()
    reader.settle()


def test_the_row_under_the_cursor_is_told(matrix):
    _point(matrix, 20, 19)
    assert _cursor(matrix) == "20,19"
    words = matrix.text("#head-panel .matrix-row")
    assert "Query 20 of window 0; the keys of 1/1024 or more, 3, have 73.1 % of its weight" in words
    assert "Weight on key 19, ⟨U+2028⟩&amp;: 0.500" in words
    listed = [each.text.split("\n") for each in matrix.all("#head-panel .matrix-row li")]
    assert [each[-1] for each in listed] == ["@19", "@0", "@20"]
    assert [each[-2] for each in listed] == ["0.500", "0.230", "0.001"]
    _point(matrix, 20, 5)
    assert "below 1/1024, or not visible" in matrix.text("#head-panel .matrix-row")


def test_colours_tell_weights_apart_and_follow_the_theme(matrix):
    for darker in (True, False):  # where more weight is, on light and on dark paper
        shown = _pixels(matrix, 40, [40, 0, 39, 20])
        assert shown[-1][3] == 0  # nothing was kept: the paper
        light = [sum(each[:3]) for each in shown[:3]]  # of .001, .21 and .5
        assert light == sorted(set(light), reverse=darker)
        assert len(light) == 3
        matrix.press(matrix.one("#theme"))


def test_keys_move_the_cursor_and_zoom_in_until_tokens_are_read(matrix):
    assert _cursor(matrix) == f"{LENGTH - 1},{LENGTH - 2}"
    matrix.run("arguments[0].focus({preventScroll: true})", matrix.one("canvas.matrix"))
    matrix.keys(Keys.ARROW_UP, Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert _cursor(matrix) == f"{LENGTH - 1},{LENGTH - 4}"
    matrix.hand().key_down(Keys.SHIFT).send_keys(Keys.ARROW_UP).key_up(Keys.SHIFT).perform()
    assert _cursor(matrix) == f"{LENGTH - 11},{LENGTH - 4}"
    whole = _cell(matrix)
    matrix.keys("+", "+")
    assert _cell(matrix) == 28
    matrix.keys("0")
    assert _cell(matrix) == whole


def test_wheel_and_drag(matrix):
    canvas = matrix.one("canvas.matrix")
    whole = _cell(matrix)
    matrix.hand().scroll_by_amount(0, 1).perform()
    _point(matrix, 30, 20)
    wheel = "arguments[0].dispatchEvent(new WheelEvent('wheel', {deltaY: -300, cancelable: true}))"
    matrix.run(wheel, canvas)
    assert _cell(matrix) == whole  # the page is scrolled over it
    matrix.hand().click().perform()
    matrix.run(wheel, canvas)
    assert _cell(matrix) > whole
    _point(matrix, 3, 3)
    before = _cursor(matrix)
    matrix.drag(canvas, (60, 60), (-45, -45))
    _point(matrix, 3, 3)
    assert _cursor(matrix) != before


def test_the_page_says_how_to_keep_one_and_is_not_wider_than_a_phone(reader, kept):
    reader.open(kept, width=390, height=700)
    reader.press(reader.one("#heads .cell[data-cell='1']"))
    assert "headgauge scan … --matrix L0H1" in reader.text("#head-panel")
    reader.press(reader.one(f"#heads .cell[data-cell='{HEADS + 2}']"))
    assert reader.one("canvas.matrix").get_attribute("aria-label").startswith("Weights of 64")
    assert reader.run("return document.documentElement.scrollWidth") <= 390
    assert reader.nameless() == []


def test_another_window_is_chosen(matrix):
    before = matrix.text("#head-panel .matrix-row ol")
    matrix.choose(matrix.one("#head-panel .control select"), "1")
    assert "of window 1" in matrix.text("#head-panel .matrix-row")
    assert matrix.text("#head-panel .matrix-row ol") != before
