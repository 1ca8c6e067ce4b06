"""One slider moves spheres, charts and the readout; it plays, and stops."""

import math

import polars as pl
import pytest
from selenium.webdriver.common.keys import Keys

from headgauge.report.page import page, write_page
from report.page.dynamics_frames import (
    PARTICLES,
    SIX,
    SPHERE_TIMES,
    TIMES,
    clusters,
    log_gap,
    mean_cosine,
    sphere_place,
)
from report.page.results import fake_simulation
from report.page.sliding import position, readout, slide, sphere


def test_the_slider_moves_spheres_lines_and_readout(simulation):
    for place in (4, 12):
        slide(simulation, place)
        time = SPHERE_TIMES[place]
        assert simulation.text("#time-told") == f"t = {time:.2f}"
        assert float(sphere(simulation, "ngpt")[0]) == time
        for chart in ("#gamma", "#swarms"):
            line = simulation.first(f"{chart} svg.chart .now")
            assert float(line.get_attribute("data-time")) == time
            low, high = simulation.axis(f"{chart} svg.chart")[:2]
            left, right = simulation.run(
                "const all = [...arguments[0].querySelectorAll('.axis')][0].getBBox();"
                "return [all.x, all.x + all.width]",
                simulation.first(f"{chart} svg.chart"),
            )
            share = (float(line.get_attribute("x1")) - left) / (right - left)
            assert share == pytest.approx((time - low) / (high - low), abs=1e-3)
        gamma, gap, radius, norm, groups, together = readout(simulation)["Mix-LN"]
        expected = math.exp(log_gap("mix_ln", time))
        assert float(gamma) == pytest.approx(1 - expected, abs=1e-4)
        assert float(gap) == pytest.approx(expected, rel=1e-2)
        assert float(radius) == pytest.approx(1 + 0.75 * time, abs=0.01)
        assert float(norm) == pytest.approx(1 - expected / 2, abs=1e-3)
        assert float(groups) == pytest.approx(clusters("mix_ln", time), abs=0.1)
        share = 100 * mean_cosine("mix_ln", "identity", time) ** 2
        assert float(together) == pytest.approx(share, abs=0.1)


def test_a_drag_turns_all_spheres_together_and_moves_no_time(simulation):
    before = {scheme: sphere(simulation, scheme) for scheme in SIX}
    simulation.drag(simulation.first(".sphere"), (0, 0), (60, 20))
    after = {scheme: sphere(simulation, scheme) for scheme in SIX}
    assert len({each[1] for each in after.values()}) == 1
    for scheme in SIX:
        assert after[scheme][0] == before[scheme][0]
        assert after[scheme][1] != before[scheme][1]
        assert after[scheme][2] != before[scheme][2]


def test_nothing_plays_until_it_is_told_and_it_pauses(simulation):
    button = simulation.one("#play")
    start = position(simulation)
    for _ in range(5):
        simulation.settle()
    assert position(simulation) == start
    assert "Play" in button.text
    button.click()
    assert "Pause" in button.text
    simulation.wait(lambda: position(simulation) > start)
    button.click()
    held = position(simulation), sphere(simulation, "pre_ln")
    assert "Play" in button.text
    for _ in range(5):
        simulation.settle()
    assert (position(simulation), sphere(simulation, "pre_ln")) == held


def test_at_the_end_it_stops_and_plays_again_from_the_start(simulation):
    end = len(SPHERE_TIMES) - 1
    slide(simulation, end - 0.25)
    button = simulation.one("#play")
    button.click()
    simulation.wait(lambda: "Play" in button.text)
    assert position(simulation) == end
    assert simulation.text("#time-told") == f"t = {SPHERE_TIMES[-1]:.2f}"
    button.click()
    assert position(simulation) < end / 2
    slide(simulation, 3)  # a hand on the slider stops it
    assert "Play" in button.text


def test_the_keyboard_moves_the_slider(simulation):
    slider = simulation.one("#time")
    assert slider.accessible_name == "Time"
    simulation.run("arguments[0].focus()", slider)
    simulation.keys(Keys.HOME)
    assert simulation.text("#time-told") == "t = 0.00"
    assert slider.get_attribute("aria-valuetext") == "t = 0.00"
    simulation.keys(*[Keys.ARROW_RIGHT] * 4)
    assert simulation.text("#time-told") == f"t = {SPHERE_TIMES[1]:.2f}"
    # Half way between two stored times.
    half = (1 - math.exp(-0.5 / 4)) / 2
    assert float(readout(simulation)["Post-LN"][0]) == pytest.approx(half, abs=1e-4)
    simulation.keys(Keys.END)
    assert simulation.text("#time-told") == f"t = {SPHERE_TIMES[-1]:.2f}"


def test_after_the_last_time_of_a_table_there_is_nothing_to_read(simulation, tmp_path):
    few = fake_simulation("curves", "swarms")  # the particles' table ends at 10
    simulation.open(write_page(tmp_path, page(few)))
    slide(simulation, len(TIMES) - 1)
    assert readout(simulation)["Post-LN"][-2:] == ["–", "–"]
    assert readout(simulation)["Post-LN"][0] == f"{1 - math.exp(-0.25 * 20):.4f}"
    assert simulation.first("#swarms .now").get_attribute("visibility") == "hidden"


def test_zero_is_at_the_left_end_of_a_logarithmic_axis(simulation):
    slide(simulation, 0)
    line = simulation.first("#gamma .chart-whole:nth-child(3) .now")
    assert line.get_attribute("visibility") == "visible"
    assert float(line.get_attribute("x1")) == 58  # where the plot begins


def test_between_stored_times_particles_are_between_and_on_the_sphere(simulation, tmp_path):
    """Turned to look down on the pole, the screen shows x and y of the sphere itself."""
    ends = SPHERE_TIMES[0], SPHERE_TIMES[-1]
    few = fake_simulation("sphere")
    few.tables["sphere"] = few.tables["sphere"].filter(pl.col("time").is_in(ends))
    simulation.open(write_page(tmp_path, page(few)))
    row = simulation.bring(simulation.one(".spheres"))
    simulation.run("arguments[0].focus()", row)
    simulation.keys(*[Keys.ARROW_DOWN] * 14)
    slide(simulation, 0.5)
    _, turn, places, behind = sphere(simulation, "post_ln")
    yaw, pitch = map(float, turn.split())
    assert pitch == pytest.approx(math.pi / 2, abs=1e-3)
    expected, below = [], 0
    for particle in range(PARTICLES):
        first, last = (sphere_place("post_ln", particle, time) for time in ends)
        middle = [(a + b) / 2 for a, b in zip(first, last, strict=True)]
        x, y, z = (each / math.hypot(*middle) for each in middle)
        right, away = (
            x * math.cos(yaw) - y * math.sin(yaw),
            x * math.sin(yaw) + y * math.cos(yaw),
        )
        expected.append((right, -away))
        below += z < 0
    for place in expected:
        assert min(math.dist(place, each) for each in places) < 3e-3
    assert behind == below
