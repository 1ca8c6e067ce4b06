"""The figures of the paper, read with mouse and keyboard, against the frames they come from."""

import polars as pl
import pytest
from selenium.webdriver.common.keys import Keys

from report.page.results import SCRIPT
from report.page.paper_frames import (
    CHOICES,
    LENGTHS,
    NS,
    TEXT_FACTOR,
    TEXTS,
    distance_at,
    paper_frames,
)


def marker(reader, figure, series, x):
    return reader.first(f"{figure} [data-series='{series}'] .marker[data-x='{x}']")


def chosen(reader, field):
    return reader.one(f".choices select[data-field='{field}']")


def test_pointing_at_a_point_tells_its_numbers(reproduction):
    said = reproduction.point_at(marker(reproduction, "#fig2b", "distance", 16))
    row = paper_frames()["fig2b"].row(
        by_predicate=(pl.col("measure") == "distance")
        & (pl.col("top_n") == 16)
        & (pl.col("keys") == "visible")
        & (pl.col("vectors") == "value")
        & (pl.col("rule") == "model")
        & (pl.col("text") == TEXTS[0]),
        named=True,
    )
    assert "N = 16" in said
    assert f"{row['mean']:.5g} ({row['low']:.4g} to {row['high']:.4g})" in said
    assert "1008 of 1024" in said  # query rows
    assert f"{8 * row['mean']:.5g}" in said  # the printed expectation at the same N


def test_the_keyboard_reads_points_too(reproduction):
    chart = reproduction.first("#fig2a svg.chart")
    reproduction.bring(chart)
    reproduction.run("arguments[0].focus()", chart)
    reproduction.keys(Keys.ARROW_RIGHT)
    assert "L = 64" in reproduction.tooltip()
    reproduction.keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert "L = 256" in reproduction.tooltip()
    assert f"{distance_at(CHOICES[0], 256, 5):.5g}" in reproduction.tooltip()
    reproduction.keys(Keys.ESCAPE)
    assert reproduction.tooltip() == ""
    before = reproduction.axis("#fig2a svg.chart")
    reproduction.keys("+")
    assert reproduction.axis("#fig2a svg.chart") != before
    reproduction.keys("0")
    assert reproduction.axis("#fig2a svg.chart") == before


def test_a_drag_zooms_and_reset_or_a_double_click_goes_back(reproduction):
    chart = reproduction.first("#fig2b svg.chart")
    reset = reproduction.first("#fig2b .reset")
    whole = reproduction.axis("#fig2b svg.chart")
    assert not reset.is_enabled()
    reproduction.drag(chart, (-60, -40), (120, 60))
    near = reproduction.axis("#fig2b svg.chart")
    assert whole[0] < near[0] < near[1] < whole[1]
    assert whole[2] < near[2] < near[3] < whole[3]
    reproduction.press(reset)
    assert reproduction.axis("#fig2b svg.chart") == whole
    reproduction.drag(chart, (-60, 0), (120, 2))  # along x alone
    assert reproduction.axis("#fig2b svg.chart")[2:] == whole[2:]
    reproduction.double_click(chart)
    assert reproduction.axis("#fig2b svg.chart") == whole


def test_a_logarithmic_axis_can_be_made_plain(reproduction):
    before = reproduction.axis("#fig2b svg.chart")
    reproduction.press(reproduction.all("#fig2b .check input")[1])
    after = reproduction.axis("#fig2b svg.chart")
    assert after[:2] == before[:2]
    assert after[2] < before[2]  # room below the least, which a ratio gives less of


def test_the_choice_changes_every_figure(reproduction):
    assert reproduction.line("#fig2a", "distance") == pytest.approx(
        {length: distance_at(CHOICES[0], length, 5) for length in LENGTHS}, rel=1e-4
    )
    reproduction.choose(chosen(reproduction, "keys"), "all")
    for figure, places in (
        ("#fig2a", {length: distance_at(CHOICES[1], length, 5) for length in LENGTHS}),
        ("#fig2b", {n: distance_at(CHOICES[1], 1024, n) for n in NS}),
    ):
        assert reproduction.line(figure, "distance") == pytest.approx(places, rel=1e-4)
    assert "all keys" in reproduction.text("#fig3 figcaption")
    assert not reproduction.first("#fig2a .fallback").is_displayed()


FIGURES = ("#vanishing", "#fig1", "#fig2a", "#fig2b", "#fig2c", "#fig3", "#fig4")


def test_the_text_is_a_switch_that_every_figure_follows_and_names(reproduction):
    box = chosen(reproduction, "text")
    offered = [each.text for each in box.find_elements("css selector", "option")]
    assert offered == ["prose (for choosing)", "code <b> (for judging)"]
    reproduction.choose(reproduction.one("#fig1 .control select"), "1")  # the circle has no text
    before = {
        "#fig2a": reproduction.line("#fig2a", "distance")[64],
        "#fig2b": reproduction.line("#fig2b", "distance")[16],
        "#fig3": reproduction.line("#fig3", "separability")[16],
        "#fig4": reproduction.line("#fig4", "random 1")[1.0],
        "#vanishing": reproduction.line("#vanishing", "largest_weight")[64],
    }
    for figure in FIGURES:
        assert "prose" in reproduction.text(f"{figure} figcaption"), figure
    reproduction.choose(box, TEXTS[1])
    for figure in FIGURES:
        assert TEXTS[1] in reproduction.text(f"{figure} figcaption"), figure
        assert "prose" not in reproduction.text(f"{figure} figcaption"), figure
    for figure, series, x in (
        ("#fig2a", "distance", 64),
        ("#fig2b", "distance", 16),
        ("#fig3", "separability", 16),
        ("#fig4", "random 1", 1.0),
        ("#vanishing", "largest_weight", 64),
    ):
        expected = TEXT_FACTOR * before[figure]
        assert reproduction.line(figure, series)[x] == pytest.approx(expected, rel=1e-3), figure


def test_the_weights_over_l_stand_beside_one_over_l_and_the_bounds(reproduction):
    weights = "#vanishing .chart-whole:nth-child(1)"
    for series, at_64 in (("largest_weight", 0.5), ("top_mass", 0.9), ("largest_off_sink", 0.3)):
        assert reproduction.line(weights, series)[64] == pytest.approx(at_64)
    assert reproduction.all(f"{weights} [data-series='guide'] .line")
    bounds = "#vanishing .chart-whole:nth-child(2)"
    assert reproduction.line(bounds, "bound_printed") == {}  # it would hide all the rest
    assert "as printed gives 10⁹" in reproduction.text("#vanishing figcaption")
    reproduction.press(reproduction.one(f"{bounds} .legend [data-series='bound_printed']"))
    assert reproduction.line(bounds, "bound_printed")[64] == pytest.approx(1e9)
    assert reproduction.line(bounds, "bound_range")[64] == pytest.approx(0.8)
    reproduction.choose(chosen(reproduction, "rule"), "ssmax")
    assert "rule ssmax" in reproduction.text("#vanishing figcaption")
    assert reproduction.line(weights, "largest_weight")[64] == pytest.approx(0.4)
    assert reproduction.line(bounds, "bound_range")[64] == pytest.approx(0.8)  # the model's own


def test_what_a_rule_and_algorithm_5_do_here_is_told_where_the_figures_are(reproduction):
    said = reproduction.text("#rule-notes")
    assert "ssmax has s = 1" in said
    assert "6.9 at n = 1024" in said
    assert "one random direction, used over the whole grid" in reproduction.text("#fig4 figcaption")


def test_figures_3_and_4_claim_no_grid_for_the_paper(reproduction):
    for figure in ("#fig3", "#fig4"):
        assert "ours: the paper prints none" in reproduction.text(f"{figure} figcaption")


def test_the_growth_of_the_critical_n_follows_text_and_level(reproduction):
    assert "L^0.92 (0.80 to 1.05), found in 97 %" in reproduction.text("#fig2c figcaption")


def test_a_figure_without_the_choice_says_so_and_shows_the_closest(reproduction):
    reproduction.choose(chosen(reproduction, "rule"), "ssmax")
    said = reproduction.first("#fig2a .fallback")
    assert said.is_displayed()
    missing = "Not measured for prose, value vectors, unit length, visible keys, rule ssmax"
    assert missing in said.text
    assert reproduction.line("#fig2a", "distance")[64] == pytest.approx(
        distance_at(CHOICES[0], 64, 5), rel=1e-4
    )
    assert not reproduction.first("#fig2b .fallback").is_displayed()
    assert reproduction.line("#fig2b", "distance")[1] == pytest.approx(
        distance_at(CHOICES[3], 1024, 1), rel=1e-4
    )
    assert "128 of 1024 query rows on average." in reproduction.text("#fig2b figcaption")


def test_a_combination_that_no_figure_has_gives_way(reproduction):
    reproduction.choose(chosen(reproduction, "rule"), "ssmax")
    reproduction.choose(chosen(reproduction, "vectors"), "hidden")
    values = [chosen(reproduction, f).get_attribute("value") for f in ("vectors", "rule")]
    assert values == ["hidden", "model"]


def test_a_line_is_hidden_and_shown_by_its_legend(reproduction):
    with_it = reproduction.axis("#fig2b svg.chart")
    button = "#fig2b .legend [data-series='expected_printed']"
    reproduction.press(reproduction.one(button))
    assert reproduction.line("#fig2b", "expected_printed") == {}
    assert reproduction.axis("#fig2b svg.chart")[3] < with_it[3]
    assert reproduction.one(button).get_attribute("aria-pressed") == "false"
    reproduction.press(reproduction.one(button))
    assert reproduction.axis("#fig2b svg.chart") == with_it


def test_figure_1_tells_token_and_weight_and_switches_rows(reproduction):
    reproduction.choose(reproduction.one("#fig1 .control select"), "1")
    said = reproduction.point_at(
        reproduction.first("#fig1 svg.chart [data-series='inside'] .marker")
    )
    assert SCRIPT in said
    assert "0.5" in said  # 1/(0 + 2)
    assert "N_s/N = 0.75" in reproduction.text("#fig1 figcaption")
    assert reproduction.run("return window.hacked") is None
    reproduction.press(reproduction.one("#fig1 .legend [data-series='rest']"))
    assert reproduction.line("#fig1", "rest") == {}  # in all three


def test_figure_2c_switches_level_and_length(reproduction):
    assert reproduction.line("#fig2c .chart-whole", "printed")[1024] == 61
    said = reproduction.point_at(marker(reproduction, "#fig2c", "upper", 1024))
    assert "none up to 400" in said
    level, length = reproduction.all("#fig2c .control select")
    reproduction.choose(level, "0.05")
    assert reproduction.line("#fig2c .chart-whole", "printed")[1024] == 30
    reproduction.choose(length, "256")
    assert "N, at L = 256" in reproduction.text("#fig2c .chart-whole:nth-child(2) svg")
    caption = reproduction.text("#fig2c figcaption")
    assert "All query rows that count; fewer from N = 100 on." in caption


def test_a_mean_over_fewer_windows_stands_off_the_line(reproduction):
    line = reproduction.first("#fig2b svg.chart [data-series='distance'] .line")
    assert line.get_dom_attribute("d").count("L") == len(NS) - 2  # all but N = 2, in one stroke
    (pale,) = reproduction.all("#fig2b svg.chart [data-series='distance'] .faint")
    assert pale.get_dom_attribute("data-x") == "2"
    assert "Line: over 4 windows; pale points" in reproduction.text("#fig2b figcaption")
    assert "pale points" not in reproduction.text("#fig2a figcaption")


def test_a_length_without_a_critical_n_is_not_joined_to_the_others(reproduction):
    line = reproduction.first("#fig2c svg.chart [data-series='upper'] .line")
    assert line.get_dom_attribute("d").count("L") == len(LENGTHS) - 2
    assert len(reproduction.all("#fig2c svg.chart [data-series='upper'] .open")) == 1


def test_figure_3_draws_a_box_for_every_n_and_the_bounds(reproduction):
    assert len(reproduction.all("#fig3 .boxplot")) == len(NS)
    assert len(reproduction.all("#fig3 .line.dashed")) >= 3
    assert reproduction.all("#fig3 .shade")
    said = reproduction.point_at(marker(reproduction, "#fig3", "separability", 4))
    assert "0.83" in said
    assert "0.75 to 0.91" in said  # the quartiles


def test_figure_4_switches_direction_and_logits(reproduction):
    assert reproduction.line("#fig4", "random 1")[1.0] == pytest.approx(0.25)
    direction, logits = reproduction.all("#fig4 .control select")
    reproduction.choose(direction, "worst")
    assert reproduction.line("#fig4", "worst 1")[1.0] == pytest.approx(0.325)
    reproduction.choose(logits, "raw")  # measured in a random direction only
    assert direction.get_attribute("value") == "random"
    assert "only direction “random”" in reproduction.text("#fig4 .fallback")
    assert reproduction.line("#fig4", "random 1")[1.0] == pytest.approx(0.5)
    offered = [each.text for each in direction.find_elements("css selector", "option")]
    assert offered == ["random", "worst"]
    bound = reproduction.one("#fig4 svg.chart [data-series='corrected bound limit'] .line")
    assert "dashed" in bound.get_attribute("class")


def test_figures_are_redrawn_at_the_width_of_a_phone(reproduction, reproduction_page):
    reproduction.open(reproduction_page, width=390)
    for chart in reproduction.all("svg.chart"):
        assert chart.size["width"] <= 390 - 32
        view = [float(part) for part in chart.get_dom_attribute("viewBox").split()]
        assert view[2] == pytest.approx(chart.size["width"], abs=1)


def test_a_finger_reads_points_and_does_not_zoom(reproduction, reproduction_page):
    reproduction.open(reproduction_page, width=390)
    point = reproduction.bring(marker(reproduction, "#fig2b", "distance", 16))
    before = reproduction.axis("#fig2b svg.chart")
    place = reproduction.run(
        "const box = arguments[0].getBoundingClientRect();"
        "return {x: box.x + box.width / 2, y: box.y + box.height / 2}",
        point,
    )
    send = reproduction.browser.execute_cdp_cmd
    send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [place]})
    send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    assert "N = 16" in reproduction.tooltip()
    box = reproduction.one("#tooltip").rect
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert reproduction.axis("#fig2b svg.chart") == before
