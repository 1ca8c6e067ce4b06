"""The moving picture, the sphere as a camera sees it, and its end."""

import math

import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from PIL import Image, ImageSequence

from headgauge.errors import InputError
from headgauge.registry.names import SCHEMES
from headgauge.report.dynamics.sphere import camera_at, sphere_figure, sphere_gif


@pytest.fixture(scope="module")
def some(whole):
    """Three moments of two schemes."""
    times = whole["sphere"]["time"].unique().sort()
    kept = times.gather([0, 10, 19]).to_list()
    few = whole["sphere"].filter(pl.col("time").is_in(kept))
    return few.filter(pl.col("scheme").is_in(["post_ln", "peri_ln"]))


def frames(path):
    with Image.open(path) as picture:
        for frame in ImageSequence.Iterator(picture):
            yield np.asarray(frame.convert("RGB"))


def test_a_frame_for_each_time_and_it_goes_on_for_ever(some, tmp_path):
    path = sphere_gif(some, "a caption", tmp_path / "figures" / "sphere.gif")
    with Image.open(path) as picture:
        assert picture.size[0] == 900
        assert picture.info["loop"] == 0
    first, middle, last = frames(path)
    assert (first != middle).any()
    assert (middle != last).any()
    assert (first[0, 0] == 255).all()


def test_all_schemes_fit_and_the_baseline_is_left_out(whole, tmp_path):
    times = whole["sphere"]["time"].unique().sort()
    first = whole["sphere"].filter(pl.col("time").is_in([times[0]]))
    sizes = {}
    for count, schemes in {1: ["ngpt"], 6: first["scheme"].unique().to_list()[:7]}.items():
        rows = first.filter(pl.col("scheme").is_in(schemes))
        (picture,) = frames(sphere_gif(rows, "", tmp_path / f"{count}.gif"))
        sizes[count] = picture.shape
    assert sizes[1][1] == sizes[6][1] == 900
    assert 1.5 < sizes[6][0] / sizes[1][0] < 2  # two rows for seven schemes


def test_in_the_end_the_particles_are_in_front(some, tmp_path):
    last = some.filter(pl.col("time") == pl.col("time").max()).filter(scheme="post_ln")
    gathered = last.with_columns(x=pl.lit(-0.6), y=pl.lit(-0.8), z=pl.lit(0.0))
    *_, picture = frames(sphere_gif(gathered, "", tmp_path / "sphere.gif"))
    vermilion = np.abs(picture.astype(int) - [0xD5, 0x5E, 0x00]).sum(-1) < 20
    below_title = vermilion[100:]
    assert below_title.any()


def test_the_same_data_gives_the_same_bytes(some, tmp_path):
    one, other = (sphere_gif(some, "", tmp_path / name) for name in ("a.gif", "b.gif"))
    assert one.read_bytes() == other.read_bytes()


def test_no_particles_are_the_users_mistake(some, tmp_path):
    with pytest.raises(InputError, match="the table sphere is empty"):
        sphere_gif(some.clear(), "", tmp_path / "sphere.gif")
    assert not list(tmp_path.iterdir())


def test_a_camera_has_three_directions_at_right_angles_and_is_not_mirrored():
    camera = camera_at(0.7, 0.3)
    assert camera @ camera.T == pytest.approx(np.eye(3))
    assert np.linalg.det(camera) == pytest.approx(1)


def test_it_looks_at_what_is_before_it_and_the_north_is_up():
    camera = camera_at(math.pi / 2, 0.0)
    assert camera @ [0, 1, 0] == pytest.approx([0, 0, 1])
    assert camera @ [0, 0, 1] == pytest.approx([0, 1, 0])
    assert (camera_at(0.0, 0.5) @ [0, 0, 1])[2] > 0


def test_the_end_has_its_time_the_far_side_pale_and_trails_that_are_broken(some):
    """Where the particles gather is in front: of two opposite ones the lonely one is behind."""
    places = [(0.0, -0.8, 0.6), (0.0, -0.6, 0.8), (0.0, 0.8, -0.6)]
    rows = [
        ("ngpt", 4.0, time, index, x * turn, y, z, 2.5)
        for time, turn in ((0.0, 1.0), (1.5, 1.0))
        for index, (x, y, z) in enumerate(places)
    ]
    figure = sphere_figure(pl.DataFrame(rows, schema=some.schema, orient="row"), "a caption")
    written = {text.get_text() for text in figure.findobj(Text)}
    assert {"nGPT", "mean radius 2.5", "t = 1.50"} <= written
    assert any("a caption; 3 particles" in words for words in written)
    lines = figure.axes[0].get_lines()
    assert not any(each.get_animated() for each in lines)
    dots = {
        to_hex(each.get_color()).upper(): len(np.asarray(each.get_xdata()))
        for each in lines
        if each.get_marker() == "o"
    }
    assert dots.pop(SCHEMES["ngpt"].look.colour) == 2
    assert list(dots.values()) == [1]
    (trails,) = [each for each in lines if each.get_alpha() == 0.5]
    seen = np.isfinite(trails.get_xdata()).tolist()
    assert seen == [True, True, False] * 2 + [False] * 3
