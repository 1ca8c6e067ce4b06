"""The moving picture."""

import numpy as np
import polars as pl
import pytest
from PIL import Image, ImageSequence

from headgauge.errors import InputError
from headgauge.report.dynamics.sphere import FRAMES, sphere_gif


@pytest.fixture
def some(whole):
    """Three moments of two schemes."""
    times = whole["sphere"]["time"].unique().sort()
    kept = times.gather([0, 50, 99]).to_list()
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


def test_many_times_are_thinned_and_the_file_stays_small(whole, tmp_path):
    sphere = whole["sphere"].filter(scheme="peri_ln")
    path = sphere_gif(sphere, "", tmp_path / "sphere.gif")
    assert sphere["time"].n_unique() > FRAMES == len(list(frames(path)))
    assert path.stat().st_size < 1e6


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
