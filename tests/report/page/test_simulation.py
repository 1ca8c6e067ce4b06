from functools import cache

import pytest

from headgauge.report.page import page
from report.page.dynamics_frames import PARTICLES, SIX, SPHERE_TIMES, TIMES, sphere_place
from report.page.results import fake_simulation


@cache
def parts(*kept):
    """By kind the parts of the dynamics; nothing where there is no such section."""
    sections = page(fake_simulation(*kept)).sections
    found = [each for each in sections if each is not None and each["id"] == "dynamics"]
    return {part.get("id", part["kind"]): part for each in found for part in each["parts"]}


def test_the_slider_ends_where_the_spheres_end_and_they_say_what_they_stand_on():
    timed = parts()["timed"]
    assert TIMES[-1] > SPHERE_TIMES[-1]
    assert timed["times"] == SPHERE_TIMES
    assert parts("curves")["timed"]["times"] == TIMES
    (words,) = timed["spheres"]["told"].values()
    for fact in (f"n = {PARTICLES} ", "d = 3", "β = 1,", f"to {SPHERE_TIMES[-1]:g}."):
        assert fact in words


def test_spheres_stand_in_the_order_of_the_schemes_in_thousandths():
    groups = parts()["timed"]["spheres"]["groups"]
    assert [group["name"] for group in groups] == SIX
    post = groups[SIX.index("post_ln")]
    assert post["times"] == SPHERE_TIMES
    for axis, name in enumerate("xyz"):
        assert len(post[name][4]) == PARTICLES
        exact = 1000 * sphere_place("post_ln", 3, SPHERE_TIMES[4])[axis]
        assert post[name][4][3] == pytest.approx(exact, abs=0.51)


@pytest.mark.parametrize(
    ("kept", "there"),
    [
        ("rates", {"text", "rates"}),
        ("collapse", {"text", "collapse"}),
        ("phase", {"text", "figures"}),
        ("curves", {"text", "timed"}),
        ("swarms", {"text", "timed"}),
        ("sphere", {"text", "timed"}),
    ],
)
def test_a_simulation_with_few_tables_shows_what_it_has(kept, there):
    found = parts(kept)
    assert set(found) == there
    if "timed" in there:
        assert bool(found["timed"]["spheres"]) == (kept == "sphere")
        assert (found["timed"]["readout"] is None) == (kept == "sphere")
    assert ("drag a sphere" in found["text"]["text"]) == (kept == "sphere")


def test_without_any_table_there_is_no_section():
    assert parts("none of them") == {}
