"""The dynamics in a browser: charts, the phase diagram, tables, and a page without heads."""

import math

import pytest
from selenium.webdriver.common.keys import Keys

from headgauge.report.page import write_page
from headgauge.report.page.schemes import SCHEMES
from report.page.dynamics_frames import (
    BETAS,
    HOSTILE,
    PHASE_TIMES,
    SEVEN,
    SIX,
    TIMES,
    dynamics_frames,
    log_gap,
    mean_cosine,
    probability,
)
from report.page.results import SCRIPT, simulation_content
from report.page.sliding import readout, slide


def test_a_simulation_opens_with_its_dynamics_and_has_no_heads(simulation):
    sections = [each.get_attribute("id") for each in simulation.all("main > section")]
    assert sections == ["dynamics", "manifest"]
    assert "attention head" not in simulation.text("main")
    assert [each.text for each in simulation.all("#nav a")] == ["Top", "Dynamics", "Manifest"]
    spheres = simulation.all(".sphere")
    assert [each.get_attribute("data-scheme") for each in spheres] == SIX
    assert all(each.rect["y"] + each.rect["height"] < 900 for each in spheres)  # the first screen
    assert simulation.one("#overview").text == "a note"


def test_the_gap_is_shown_on_a_logarithmic_axis_down_to_the_schemes_least(simulation):
    assert simulation.axis("#gamma svg.chart")[3] < 1.2
    simulation.choose(simulation.one("#gamma-scale"), "gap")
    low, high = simulation.axis("#gamma svg.chart")[2:]
    least = math.exp(log_gap("ln_scaling", 256, TIMES[-1]))  # the baseline goes farther
    assert least / 20 < low < least
    assert 1 < high < 20
    chart = simulation.one("#gamma svg.chart")
    simulation.run("arguments[0].focus()", chart)
    simulation.keys(*[Keys.ARROW_RIGHT] * 3)
    said = simulation.tooltip()
    assert "t = 1\n" in said
    assert f"{math.exp(-0.25):.5g}" in said  # Post-LN, and beside it
    assert f"{math.exp(-1):.5g}" in said  # Peri-LN at the same time
    simulation.press(simulation.one("#gamma .check input"))
    assert simulation.axis("#gamma svg.chart")[0] > 0  # a logarithmic x has no zero


def test_settings_are_chosen_for_chart_and_readout(simulation):
    slide(simulation, 8)  # t = 2
    simulation.choose(simulation.all("#gamma .control select")[1], "[64,3]")
    assert float(readout(simulation)["Post-LN"][1]) == pytest.approx(math.exp(-0.25), rel=1e-3)
    assert "n = 64, β = 3" in simulation.text("#readout .where")
    before = readout(simulation)["Post-LN"][-1]
    (weights,) = simulation.all("#swarm .control select")
    options = [each.get_attribute("value") for each in weights.find_elements("tag name", "option")]
    simulation.choose(weights, options[1])
    together = 100 * mean_cosine("post_ln", "random", 2.0) ** 2
    assert float(readout(simulation)["Post-LN"][-1]) == pytest.approx(together, abs=0.1)
    assert readout(simulation)["Post-LN"][-1] != before
    assert "random Q, K, V" in simulation.text("#swarm figcaption")


def test_a_scheme_has_its_colour_and_dashes_everywhere(simulation):
    def own(element):
        return simulation.run(
            "return getComputedStyle(arguments[0]).getPropertyValue('--own').trim()", element
        )

    for scheme in SEVEN:
        look = SCHEMES[scheme]
        lines = simulation.all(f"svg.chart [data-series='{scheme}'] .line")
        assert len(lines) == (1 if scheme == "unnormalised" else 2)
        for line in lines:
            assert own(line) == look.colour
            drawn = simulation.run("return getComputedStyle(arguments[0]).strokeDasharray", line)
            dashes = "none" if look.dash is None else look.dash.replace(" ", "px, ") + "px"
            assert drawn == dashes
    assert own(simulation.first(".sphere[data-scheme='ngpt'] .particle")) == "#E69F00"


def test_the_phase_diagram_tells_its_numbers(simulation):
    cells = simulation.all("#phase .cell")
    assert len(cells) == len(BETAS) * len(PHASE_TIMES)
    simulation.choose(simulation.one("#phase-scheme"), "mix_ln")
    simulation.choose(simulation.one("#phase-size"), "[32,128]")
    beta, time = BETAS[1], PHASE_TIMES[7]
    cell = simulation.one(f"#phase .cell[data-phase='{3 * len(PHASE_TIMES) + 7}']")
    said = simulation.point_at(cell)
    assert "t = 7, β = 1" in said
    assert f"{100 * probability('mix_ln', 128, beta, time):.1f} % of pairs together" in said
    assert "Mix-LN, n = 32, d = 128" in said
    cell.click()
    simulation.keys(Keys.ARROW_UP)
    assert "t = 7, β = 2" in simulation.tooltip()


def test_a_diagram_that_was_not_made_says_so(simulation):
    simulation.choose(simulation.one("#phase-scheme"), "ngpt")
    simulation.choose(simulation.one("#phase-size"), "[32,128]")
    assert simulation.text("#phase .fallback") == "nGPT was not simulated with n = 32, d = 128."
    assert simulation.all("#phase .cell") == []
    simulation.choose(simulation.one("#phase-scheme"), "peri_ln")
    assert simulation.all("#phase .cell")
    assert not simulation.one("#phase .fallback").is_displayed()


def test_theory_stands_beside_what_was_measured(simulation):
    rates, collapse = (
        [
            [cell.text for cell in row.find_elements("css selector", "td")]
            for row in box.find_elements("css selector", "tbody tr")
        ]
        for box in simulation.all("#theory table")
    )
    assert rates[1] == ["Post-LN", "final rate", "1 − γ ~ e^{−2t}", "t", "−0.5", "−0.4975", "–"]
    assert rates[2][-1] == "−0.95"
    assert ["Pre-LN", "random Q, K, V", "10", "25 %", "–", "14", "–"] in collapse


def test_words_of_a_table_stay_words(simulation):
    assert HOSTILE in simulation.text("#theory")
    assert simulation.one("h1").text == f"headgauge: dynamics {SCRIPT}"
    assert simulation.all("main img, main script") == []
    assert simulation.run("return window.hacked") is None


def test_everything_can_be_pressed_and_has_a_name(simulation, simulation_page):
    assert simulation.nameless() == []
    assert simulation.try_everything() > 30
    assert "NaN" not in simulation.drawn()
    assert "undefined" not in simulation.drawn() + simulation.text("main")
    assert {url for url in simulation.requests() if not url.startswith("data:")} == {
        simulation_page.as_uri()
    }


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_the_spheres_stand_in_rows_and_the_slider_stays(
    simulation, simulation_page, theme
):
    simulation.open(simulation_page, width=390, theme=theme)
    lefts = {round(each.rect["x"]) for each in simulation.all(".sphere")}
    assert len(lefts) == 3
    simulation.bring(simulation.one("#swarm"))
    bar = simulation.run("return document.querySelector('.clock').getBoundingClientRect().top")
    assert 0 <= bar < 120  # under the sections' bar, wherever the charts are
    assert simulation.one("#time").rect["width"] > 250


@pytest.mark.parametrize("kept", [["rates"], ["phase"], ["curves"], ["sphere"], ["swarms"], []])
def test_a_simulation_with_few_tables_shows_what_it_has(simulation, tmp_path, kept):
    frames = {
        name: frame if name in kept else frame.clear() for name, frame in dynamics_frames().items()
    }
    simulation.open(write_page(tmp_path, simulation_content(dynamics=frames)))
    assert bool(simulation.all("#dynamics")) == bool(kept)
    assert len(simulation.all("#time")) == (kept != [] and kept[0] not in ("rates", "phase"))
    assert len(simulation.all("#readout")) == (kept in (["curves"], ["swarms"]))
    assert len(simulation.all("#theory")) == (kept == ["rates"])
    assert len(simulation.all("#phase")) == (kept == ["phase"])
    assert len(simulation.all(".sphere")) == (len(SIX) if kept == ["sphere"] else 0)
