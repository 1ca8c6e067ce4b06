import pytest

import headgauge
from headgauge.simulation import Simulation


@pytest.fixture
def found(small_simulation: Simulation) -> Simulation:
    return small_simulation


def test_the_caption_says_what_was_simulated(found):
    assert found.caption() == "n = 6, d = 8, β = 2, t up to 2, 1 seed"
    assert repr(found) == f"<simulation: {found.caption()}>"


def test_drawing_leaves_page_figures_and_animation(found):
    drawn = headgauge.draw(found)
    assert drawn[0].name == "report.html"
    assert drawn[1].name == "dynamics.png"
    assert drawn[-1].name == "sphere.gif"
    assert all(path.stat().st_size > 500 for path in drawn)
    page = drawn[0].read_text(encoding="utf-8")
    assert "attention dynamics on the sphere" in page
    assert found.caption() in page


def test_it_is_told_apart_from_other_runs(found, tmp_path):
    assert Simulation.is_in(found.folder or tmp_path)
    assert not Simulation.is_in(tmp_path)
    assert isinstance(headgauge.read_run(found.folder or tmp_path), Simulation)
