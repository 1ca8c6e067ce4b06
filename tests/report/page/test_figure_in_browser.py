"""Described figures, read with mouse, finger and keyboard, against the numbers they have."""

import pytest
from selenium.webdriver.common.keys import Keys

from report.page.described import LENGTHS, SCRIPT, distance

USUAL = {"text": "prose", "rule": "model", "n": "16"}
FIRST = "#lines .chart-whole:nth-child(1)"
SECOND = "#lines .chart-whole:nth-child(2)"


def marker(reader, series, x):
    return reader.first(f"#lines [data-series='{series}'] .marker[data-x='{x}']")


def field(reader, name):
    return reader.one(f"select[data-field='{name}']")


def along(**changes):
    return {length: distance(USUAL | changes, length) for length in LENGTHS}


def test_mouse_and_keyboard_read_points(drawn):
    said = drawn.point_at(marker(drawn, "distance", 256))
    value = distance(USUAL, 256)
    assert "L = 256" in said
    assert f"{value:g} ({0.9 * value:.4g} to {1.1 * value:.4g})" in said
    assert "255 of 256" in said  # query rows
    assert f"{8 * value:g}" in said  # the other line at the same L
    assert "L = 1024" in drawn.point_at(marker(drawn, "expected", 1024))
    chart = drawn.first("#lines svg.chart")
    drawn.run("arguments[0].focus()", drawn.bring(chart))
    drawn.keys(Keys.ARROW_LEFT)
    drawn.keys(Keys.ARROW_LEFT)
    assert "L = 256" in drawn.tooltip()
    drawn.keys(Keys.ESCAPE)
    assert drawn.tooltip() == ""
    before = drawn.axis("#lines svg.chart")
    drawn.keys("+")
    assert drawn.axis("#lines svg.chart") != before
    drawn.keys("0")
    assert drawn.axis("#lines svg.chart") == before


def test_a_drag_zooms_and_reset_or_a_double_click_goes_back(drawn):
    chart = drawn.first("#lines svg.chart")
    reset = drawn.first("#lines .reset")
    whole = drawn.axis("#lines svg.chart")
    assert not reset.is_enabled()
    drawn.drag(chart, (-60, -40), (120, 60))
    near = drawn.axis("#lines svg.chart")
    assert whole[0] < near[0] < near[1] < whole[1]
    assert whole[2] < near[2] < near[3] < whole[3]
    drawn.press(reset)
    assert drawn.axis("#lines svg.chart") == whole
    drawn.drag(chart, (-60, 0), (120, 2))  # along x alone
    assert drawn.axis("#lines svg.chart")[2:] == whole[2:]
    drawn.double_click(chart)
    assert drawn.axis("#lines svg.chart") == whole
    plain = drawn.all("#lines .check input")[1]
    drawn.press(plain)
    after = drawn.axis("#lines svg.chart")
    assert after[:2] == whole[:2]
    assert after[2] < whole[2]  # room below the least, which a ratio gives less of
    assert drawn.axis(f"{SECOND} svg.chart")[2:] == [0, 1.25]  # as described
    drawn.press(plain)
    assert drawn.axis("#lines svg.chart") == whole


def test_switches_move_what_they_name(drawn):
    assert drawn.line(FIRST, "distance") == pytest.approx(along())
    offered = [each.text for each in drawn.all(".choices [data-field='text'] option")]
    assert offered == ["prose (for choosing)", "code <b>"]
    assert drawn.text("#lines figcaption") == "Means over heads. On prose."
    drawn.choose(field(drawn, "text"), "code <b>")
    assert drawn.line(FIRST, "distance") == pytest.approx(along(text="code <b>"))
    assert drawn.text("#lines figcaption") == "Means over heads. On code <b>."
    assert drawn.line(SECOND, "share") == dict(zip(LENGTHS, [0.5, 0.6, 0.7, 0.8, 0.9], strict=True))
    drawn.choose(field(drawn, "n"), "5")
    assert drawn.line(FIRST, "distance") == pytest.approx(along(text="code <b>", n="5"))
    assert not drawn.first("#lines .fallback").is_displayed()
    # ssmax was measured on one text only: the text gives way.
    drawn.choose(field(drawn, "rule"), "ssmax")
    assert field(drawn, "text").get_attribute("value") == "prose"
    assert drawn.line(FIRST, "distance") == pytest.approx(along(rule="ssmax"))
    assert not field(drawn, "n").is_displayed()  # and with one N
    drawn.choose(field(drawn, "rule"), "model")
    drawn.choose(field(drawn, "n"), "16")
    assert drawn.line(FIRST, "distance") == pytest.approx(along())


def test_what_was_not_measured_is_said_and_the_closest_shown(drawn):
    drawn.choose(drawn.one("#cells [data-field='scheme']"), "ngpt")
    assert not drawn.one("#cells .fallback").is_displayed()
    drawn.choose(drawn.one("#cells [data-field='dim']"), "128")
    said = drawn.one("#cells .fallback").text
    assert said.startswith("Not measured for Scheme: nGPT, Size: d = 128; shown: Scheme: Pre-LN")
    assert drawn.one("#cells [data-field='scheme']").get_attribute("value") == "pre_ln"
    drawn.choose(drawn.one("#cells [data-field='dim']"), "8")
    assert not drawn.one("#cells .fallback").is_displayed()


def test_where_a_setting_leaves_one_point_it_is_said_why(drawn):
    said = drawn.one("#lone .fallback")
    assert not said.is_displayed()
    drawn.choose(field(drawn, "measured"), "last")
    assert said.text == (
        "One point: measured only at L = 1024 for Measured: at the longest L; "
        "at 5 values of L for Measured: at every L."
    )
    drawn.choose(field(drawn, "measured"), "all")
    assert not said.is_displayed()


def test_the_legend_hides_and_shows_a_line_in_every_panel(drawn):
    assert drawn.line(FIRST, "bound") == {}  # hidden until it is asked for
    with_it = drawn.axis(f"{FIRST} svg.chart")
    button = f"{FIRST} .legend [data-series='expected']"
    drawn.press(drawn.one(button))
    assert drawn.line(FIRST, "expected") == drawn.line(SECOND, "expected") == {}
    assert drawn.axis(f"{FIRST} svg.chart")[3] < with_it[3]
    assert drawn.one(button).get_attribute("aria-pressed") == "false"
    drawn.press(drawn.one(button))
    assert drawn.axis(f"{FIRST} svg.chart") == with_it
    drawn.press(drawn.one(f"{FIRST} .legend [data-series='bound']"))
    assert drawn.line(FIRST, "bound")[64] == pytest.approx(99 * distance(USUAL, 64))
    drawn.press(drawn.one(f"{FIRST} .legend [data-series='bound']"))
    # One legend for all charts where one of them has every line.
    assert len(drawn.all("#points .legend")) == 1
    for there in (0, 3):
        drawn.press(drawn.one("#points .legend [data-series='inside']"))
        assert len(drawn.line("#points", "inside")) == there


def test_points_apart_hollow_boxes_bands_and_marks(drawn):
    line = drawn.first(f"{FIRST} [data-series='distance'] .line")
    assert line.get_dom_attribute("d").count("L") == len(LENGTHS) - 2  # all but one, in one stroke
    (pale,) = drawn.all(f"{FIRST} [data-series='distance'] .apart")
    assert pale.get_dom_attribute("data-x") == "128"
    assert len(drawn.all(f"{FIRST} [data-series='expected'] .open")) == 1
    assert len(drawn.all(f"{FIRST} .band")) == 1
    dashed = drawn.first(f"{FIRST} [data-series='guide'] .line")
    assert drawn.run("return getComputedStyle(arguments[0]).strokeDasharray", dashed) == "6px, 4px"
    labels = [each.text for each in drawn.all("#lines .mark-label") if each.text]
    assert labels == ["two", "three hundred", "here"]
    assert len(drawn.all(f"{SECOND} .boxplot")) == len(LENGTHS)
    assert len(drawn.all(f"{SECOND} .shade")) == 2
    assert len(drawn.all(f"{SECOND} .band")) == 1  # the area up to another line
    for there in (1, 2):
        drawn.press(drawn.one(f'{SECOND} .legend [data-series="the paper\'s"]'))
        assert len(drawn.all(f"{SECOND} .shade")) == there
    round_ = drawn.one("#points .ring")
    assert round_.is_displayed()
    radii = [float(round_.get_dom_attribute(name)) for name in ("rx", "ry")]
    assert radii[0] == pytest.approx(radii[1])
    assert "nothing was seen" in drawn.text("#points .chart-whole:nth-child(3) svg")


def test_names_of_points_stay_words(drawn):
    said = drawn.point_at(drawn.first("#points [data-series='inside'] .marker"))
    assert f"“{SCRIPT}”" in said
    assert "weight\n0.5" in said
    assert drawn.run("return window.hacked") is None


def test_a_heat_map_is_read_cell_by_cell(drawn):
    cells = drawn.all("#cells .cell")
    assert len(cells) == 5  # one cannot be
    second = drawn.one("#cells .cell[data-cell='1']")
    assert "t = 1, β = 8" in drawn.point_at(second)
    assert "Pairs together: 0.25" in drawn.tooltip()
    second.click()
    drawn.keys(Keys.ARROW_DOWN)
    assert "t = 1, β = 4" in drawn.tooltip()
    drawn.keys(Keys.ARROW_RIGHT)  # there is none
    assert "t = 1, β = 4" in drawn.tooltip()
    fills = {cell.find_element("css selector", "rect").get_attribute("fill") for cell in cells}
    assert len(fills) == 5
    assert drawn.one("#cells .contour").get_dom_attribute("d").count("M") == 2
    assert "share of pairs together" in drawn.text("#cells .map-legend")


def test_on_a_phone_charts_are_narrow_and_a_finger_reads_without_zooming(drawn, pages):
    drawn.open(pages("figures"), width=390)
    for chart in drawn.all("svg.chart"):
        assert chart.size["width"] <= 390 - 32
        view = [float(part) for part in chart.get_dom_attribute("viewBox").split()]
        assert view[2] == pytest.approx(chart.size["width"], abs=1)
    point = drawn.bring(marker(drawn, "distance", 256))
    before = drawn.axis("#lines svg.chart")
    place = drawn.run(
        "const box = arguments[0].getBoundingClientRect();"
        "return {x: box.x + box.width / 2, y: box.y + box.height / 2}",
        point,
    )
    send = drawn.browser.execute_cdp_cmd
    send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [place]})
    send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    assert "L = 256" in drawn.tooltip()
    box = drawn.one("#tooltip").rect
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert drawn.axis("#lines svg.chart") == before
