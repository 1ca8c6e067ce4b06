"""A scan's depth in a browser: the residual stream by layer beside what is predicted."""

import pytest

from headgauge.report.page import write_page
from report.page.dynamics_frames import (
    HOSTILE,
    LAYERS,
    SIX,
    depth_cosine,
    depth_frame,
    predicted_cosine,
)
from report.page.results import page_content


def chart(place):
    return f"#depth-lines .chart-whole:nth-child({place})"


def test_a_deep_scan_has_heads_and_depth(deep_scan):
    sections = [each.get_attribute("id") for each in deep_scan.all("main > section")]
    assert sections == ["heads", "depth", "manifest"]
    assert len(deep_scan.all("#depth svg.chart")) == 4


def test_measured_lines_are_means_over_windows(deep_scan):
    expected = {
        layer: (depth_cosine(layer, 0) + depth_cosine(layer, 1)) / 2 for layer in range(LAYERS + 1)
    }
    assert deep_scan.line(chart(1), "measured") == pytest.approx(expected, rel=1e-4)
    assert deep_scan.line(chart(2), "measured")[3] == 5
    assert deep_scan.line(chart(3), "attention")[2] == pytest.approx(1.2)
    assert deep_scan.line(chart(3), "rest")[2] == pytest.approx(2.4)
    assert deep_scan.line(chart(4), "measured")[4] == pytest.approx(0.5)
    assert deep_scan.line(chart(4), "attention")[5] == pytest.approx(0.2)
    assert max(deep_scan.line(chart(4), "measured")) == LAYERS - 1  # none after the last
    for place, bands in ((1, 1), (2, 1), (3, 0), (4, 1)):
        assert len(deep_scan.all(f"{chart(place)} .band")) == bands


def test_the_recognised_scheme_is_bold_and_the_others_wait_in_the_legend(deep_scan):
    def width(scheme):
        line = deep_scan.one(f"{chart(1)} svg.chart [data-series='{scheme}'] .line")
        return float(
            deep_scan.run("return parseFloat(getComputedStyle(arguments[0]).strokeWidth)", line)
        )

    drawn = {
        each.get_attribute("data-series")
        for each in deep_scan.all(f"{chart(1)} svg g[data-series]")
    }
    assert drawn == {"measured", "pre_ln"}
    deep_scan.press(deep_scan.one(f"{chart(1)} .legend [data-series='peri_ln']"))
    assert width("pre_ln") > 2 * width("peri_ln")
    assert deep_scan.all(f"{chart(2)} svg.chart [data-series='peri_ln'] .line")  # in both charts
    offered = [
        each.get_attribute("data-series") for each in deep_scan.all(f"{chart(1)} .legend button")
    ]
    assert offered == ["measured", "pre_ln", *[scheme for scheme in SIX if scheme != "pre_ln"]]


def test_a_point_tells_measured_and_predicted_and_words_stay_words(deep_scan):
    said = deep_scan.point_at(
        deep_scan.first(f"{chart(1)} [data-series='measured'] .marker[data-x='4']")
    )
    assert "layer = 4" in said
    assert "0.305 (0.205 to 0.405)" in said
    assert f"{predicted_cosine('pre_ln', 4):.5g}" in said
    assert f"layers.4 {HOSTILE}" in said
    assert deep_scan.all("main img, #tooltip img") == []
    assert deep_scan.run("return window.hacked") is None


def test_a_sentence_says_what_was_recognised_and_from_what(deep_scan):
    said = deep_scan.text("#recognised")
    assert "Recognised as Pre-LN (11 of 12 layers)" in said
    assert "n = 63 tokens" in said
    assert "β = 1.625" in said
    assert "2 windows of L = 64" in deep_scan.text("#depth-lines figcaption")


def test_everything_can_be_pressed_and_has_a_name(deep_scan):
    assert deep_scan.nameless() == []
    deep_scan.try_everything()
    assert "NaN" not in deep_scan.drawn()
    assert "undefined" not in deep_scan.text("#depth")


def test_without_a_scheme_nothing_is_predicted(deep_scan, tmp_path):
    deep_scan.open(write_page(tmp_path, page_content(paper=False, depth=depth_frame())))
    assert "No one scheme was recognised (layers: other, Pre-LN)" in deep_scan.text("#recognised")
    assert len(deep_scan.all(f"{chart(1)} .legend button")) == 1
