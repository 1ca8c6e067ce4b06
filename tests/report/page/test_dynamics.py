import polars as pl
import pytest

from headgauge.report.page.dynamics import MOST_TIMES, dynamics_data, some_times
from headgauge.report.page.schemes import SCHEMES
from headgauge.runs.dynamics_schema import DYNAMICS_TABLES
from report.page.dynamics_frames import (
    BETAS,
    HOSTILE,
    PARTICLES,
    PHASE_TIMES,
    SEVEN,
    SIX,
    SPHERE_TIMES,
    TIMES,
    dynamics_frames,
    log_gap,
    probability,
    sphere_place,
)


def shuffled(frame):
    return frame.sample(fraction=1.0, shuffle=True, seed=1)


def found(groups, **wanted):
    (group,) = [each for each in groups if wanted.items() <= each["fixed"].items()]
    return group


def test_every_table_reaches_the_page_and_an_empty_or_missing_one_does_not():
    frames = dynamics_frames()
    assert set(dynamics_data(frames)) == set(DYNAMICS_TABLES)
    fewer = {name: frame for name, frame in frames.items() if name != "rates"}
    fewer["phase"] = frames["phase"].clear()
    assert set(dynamics_data(fewer)) == set(DYNAMICS_TABLES) - {"rates", "phase"}
    assert dynamics_data({}) == {}


def test_a_line_holds_its_numbers_in_the_order_of_time():
    curves = dynamics_data({"curves": shuffled(dynamics_frames()["curves"])})["curves"]
    line = found(curves, scheme="peri_ln", tokens=64)
    assert line["fixed"]["beta"] == 3
    assert line["lists"]["time"] == TIMES
    expected = [log_gap("peri_ln", 64, time) for time in TIMES]
    assert line["lists"]["log_gap"] == pytest.approx(expected, rel=1e-4)


def test_schemes_stand_in_one_order_everywhere():
    data = dynamics_data({name: shuffled(frame) for name, frame in dynamics_frames().items()})
    for name in ("curves", "swarms", "sphere", "phase"):
        told = list(dict.fromkeys(group["fixed"]["scheme"] for group in data[name]))
        assert told == [scheme for scheme in SCHEMES if scheme in told], name
    assert list(dict.fromkeys(data["rates"]["scheme"])) == [*SIX, HOSTILE]


def test_a_sphere_holds_the_places_of_its_particles_by_time():
    sphere = dynamics_data({"sphere": shuffled(dynamics_frames()["sphere"])})["sphere"]
    group = found(sphere, scheme="mix_ln")
    assert group["times"] == SPHERE_TIMES
    assert [len(places) for places in group["x"]] == [PARTICLES] * len(SPHERE_TIMES)
    for axis, place in zip("xyz", sphere_place("mix_ln", 7, SPHERE_TIMES[9]), strict=True):
        assert group[axis][9][7] == round(1000 * place)


def test_a_phase_diagram_has_a_row_per_beta_from_the_largest():
    phase = dynamics_data({"phase": shuffled(dynamics_frames()["phase"])})["phase"]
    group = found(phase, scheme="pre_ln", dim=128)
    assert group["betas"] == BETAS[::-1]
    assert group["times"] == PHASE_TIMES
    expected = [probability("pre_ln", 128, BETAS[-2], time) for time in PHASE_TIMES]
    assert group["probability"][1] == pytest.approx(expected, rel=1e-4)


def test_a_cell_that_was_not_simulated_is_null():
    frame = dynamics_frames()["phase"].filter((pl.col("time") < 2) | (pl.col("beta") <= 4))
    group = found(dynamics_data({"phase": frame})["phase"], scheme="post_ln", dim=8)
    assert group["probability"][0][2:] == [None] * (len(PHASE_TIMES) - 2)
    assert None not in group["probability"][1]


def test_many_times_are_thinned_with_both_ends_kept():
    many = [0.01 * place for place in range(5001)]
    kept = some_times(many, MOST_TIMES)
    assert len(kept) == MOST_TIMES
    assert (kept[0], kept[-1]) == (many[0], many[-1])
    assert set(kept) <= set(many)
    assert some_times([2.0, 1.0, 2.0], 5) == [1.0, 2.0]


def test_a_long_simulation_stays_small_on_the_page():
    curves = dynamics_frames()["curves"].filter(pl.col("tokens") == 64)
    long = pl.concat([curves.with_columns(pl.col("time") + 20.5 * turn) for turn in range(20)])
    sizes = [group["size"] for group in dynamics_data({"curves": long})["curves"]]
    assert sizes == [MOST_TIMES] * len(SEVEN)
