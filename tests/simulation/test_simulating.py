from typing import Any

import polars as pl
import pytest

import headgauge
from headgauge.errors import InputError
from headgauge.particles import schemes
from headgauge.runs.dynamics_schema import DYNAMICS_TABLES
from headgauge.runs.schema import frame_schema
from headgauge.simulation import SimulationSettings, simulate, simulating
from headgauge.simulation.result import Simulation
from particles.conftest import SMALL


@pytest.fixture
def found(small_simulation: Simulation) -> Simulation:
    return small_simulation


def test_the_caption_says_what_was_simulated(found):
    assert found.caption() == "n = 6, d = 8, β = 2, t up to 2, 1 seed"
    assert repr(found) == f"<simulation: {found.caption()}>"


def test_it_is_told_apart_from_other_runs(found, tmp_path):
    assert Simulation.is_in(found.folder or tmp_path)
    assert not Simulation.is_in(tmp_path)
    assert isinstance(headgauge.read_run(found.folder or tmp_path), Simulation)


def test_every_table_is_there_with_its_columns(found):
    assert found.tables.keys() == DYNAMICS_TABLES.keys()
    for name, table in found.tables.items():
        assert len(table), name
        assert dict(table.schema) == dict(frame_schema(DYNAMICS_TABLES[name]))
    assert set(found.tables["swarms"]["weights"]) == {"identity", "random"}
    assert found.tables["swarms"].filter(weights="random")["beta"][0] == pytest.approx(8**0.5)


def test_curves_have_the_schemes_and_the_baseline(found):
    curves = found.tables["curves"]
    assert set(curves["scheme"]) == {"post_ln", "peri_ln", "unnormalised"}
    assert curves["time"].max() == 6.0
    first = curves.filter(pl.col("time") == 0)
    for row in first.iter_rows(named=True):
        if row["scheme"] != "unnormalised":
            wanted = schemes.get(row["scheme"]).initial_velocity(6, 2.0)
            assert row["velocity"] == pytest.approx(wanted, rel=1e-12)
    baseline = first.filter(scheme="unnormalised")["velocity"].item()
    assert baseline == pytest.approx(2 / 6, rel=1e-12)


def test_without_a_folder_there_is_nothing_to_draw_into(found):
    chosen: dict[str, Any] = SMALL | {"parts": ("swarms", "phase")}
    again = simulate(**chosen)
    for name in ("swarms", "collapse", "phase"):
        assert again.tables[name].equals(found.tables[name]), name
    assert not len(again.tables["curves"])
    with pytest.raises(InputError, match="no folder to draw into"):
        headgauge.draw(again)


def test_it_goes_on_where_it_was_interrupted(tmp_path, monkeypatch, found):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    parts: dict[str, Any] = SMALL | {"parts": ("swarms", "phase", "sphere")}
    with monkeypatch.context() as patched:
        patched.setattr(simulating.tables, "phase_rows", interrupted)
        with pytest.raises(KeyboardInterrupt):
            simulate(out=tmp_path / "run", **parts)
    with pytest.raises(InputError, match="is not finished"):
        Simulation.load(tmp_path / "run")
    done = (tmp_path / "run" / "dynamics" / "swarms.parquet").stat().st_mtime_ns
    told = []
    again = simulate(out=tmp_path / "run", progress=lambda part, share: told.append(part), **parts)
    assert set(told) == {"phase", "sphere"}
    assert (tmp_path / "run" / "dynamics" / "swarms.parquet").stat().st_mtime_ns == done
    for name in ("swarms", "collapse", "phase", "sphere"):
        first = (found.folder or tmp_path) / "dynamics" / f"{name}.parquet"
        second = tmp_path / "run" / "dynamics" / f"{name}.parquet"
        assert first.read_bytes() == second.read_bytes(), name
    assert again.manifest["times"]["resumed"] == 1


def test_the_notes_say_what_ln_scaling_is(tmp_path):
    chosen = SimulationSettings(schemes=("ln_scaling",), parts=("sphere",), sphere_particles=3)
    found = simulating.run_settings(chosen, tmp_path / "run")
    assert any(
        "Pre-LN with the norm's output divided by √l" in note for note in found.manifest["notes"]
    )
