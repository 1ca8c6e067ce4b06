import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.runs.dynamics_schema import DYNAMICS_TABLES
from headgauge.runs.json_files import read_json
from headgauge.runs.schema import frame_schema
from headgauge.runs.simulation_folder import has_simulation, load_simulation, open_simulation

SETTINGS = {"tokens": 8, "dim": 4, "beta": 2.5, "horizon": 1.0, "seeds": 2}


def empty(name: str) -> pl.DataFrame:
    return pl.DataFrame(schema=frame_schema(DYNAMICS_TABLES[name]))


def test_a_simulation_is_kept_table_by_table(tmp_path):
    place = tmp_path / "run"
    folder = open_simulation(place, SETTINGS, "cpu")
    assert not has_simulation(place)
    for name in DYNAMICS_TABLES:
        assert not folder.has(name)
        folder.write(name, empty(name), 1.5)
        assert folder.has(name)
    with pytest.raises(InputError, match="is not finished: repeat the command"):
        load_simulation(place)
    folder.finish(["a note"])
    manifest, tables = load_simulation(place)
    assert manifest["settings"] == SETTINGS
    assert manifest["notes"] == ["a note"]
    assert manifest["research_type"] == "simulation"
    assert manifest["times"]["seconds"]["phase"] == 1.5
    assert manifest["software"]["torch"]
    assert tables.keys() == DYNAMICS_TABLES.keys()
    assert manifest["tables"]["rates"]["rows"] == 0


def test_it_is_taken_up_and_other_settings_are_refused(tmp_path):
    place = tmp_path / "run"
    open_simulation(place, SETTINGS, "cpu").write("curves", empty("curves"), 0.0)
    again = open_simulation(place, SETTINGS, "cpu")
    assert again.has("curves")
    assert not again.has("phase")
    assert again.manifest["times"]["resumed"] == 1
    with pytest.raises(InputError, match=r"other settings: beta is 2.5 there, 3 here"):
        open_simulation(place, SETTINGS | {"beta": 3}, "cpu")
    (place / "dynamics" / "curves.parquet").write_bytes(b"half")
    assert not again.has("curves")


def test_other_places_are_refused(tmp_path):
    with pytest.raises(InputError, match="is no simulation of headgauge"):
        load_simulation(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file: give a folder"):
        open_simulation(tmp_path / "file", SETTINGS, "cpu")
    with pytest.raises(InputError, match="holds no run but other files"):
        open_simulation(tmp_path, SETTINGS, "cpu")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_nothing_of_the_machine_is_in_the_manifest(tmp_path):
    open_simulation(tmp_path / "run", SETTINGS, "cpu")
    text = str(read_json(tmp_path / "run" / "manifest.json"))
    assert str(tmp_path) not in text


def test_two_at_work_in_one_folder_lose_nothing_of_each_other(tmp_path):
    first = open_simulation(tmp_path, SETTINGS, "cpu")
    second = open_simulation(tmp_path, SETTINGS, "cpu")
    for number, name in enumerate(DYNAMICS_TABLES):
        (first, second)[number % 2].write(name, empty(name), 1.0 + number)
    assert all(first.has(name) for name in DYNAMICS_TABLES)
    first.finish([])
    second.write("phase", empty("phase"), 9.0)
    manifest, _ = load_simulation(tmp_path)
    assert manifest["tables"].keys() == DYNAMICS_TABLES.keys()
    assert manifest["times"]["seconds"].keys() == DYNAMICS_TABLES.keys()


def test_a_damaged_table_is_told_and_made_again(tmp_path):
    folder = open_simulation(tmp_path, SETTINGS, "cpu")
    for name in DYNAMICS_TABLES:
        folder.write(name, empty(name))
    folder.finish([])
    path = tmp_path / "dynamics" / "rates.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match=r"rates.parquet is damaged: not the bytes .*; repeat the"):
        load_simulation(tmp_path)
    again = open_simulation(tmp_path, SETTINGS, "cpu")
    assert not again.has("rates")
    again.write("rates", empty("rates"))
    load_simulation(tmp_path)


def test_a_sphere_with_a_particle_missing_is_told(tmp_path):
    folder = open_simulation(tmp_path, SETTINGS, "cpu")
    schemes, times = ("ngpt", "pre_ln"), (0.0, 1.0)
    places = [(scheme, time, at) for scheme in schemes for time in times for at in range(3)]
    rows = [
        {"scheme": scheme, "beta": 1.0, "time": time, "particle": at}
        | dict.fromkeys(("x", "y", "z", "radius"), 0.5)
        for scheme, time, at in places
    ]
    schema = frame_schema(DYNAMICS_TABLES["sphere"])
    for name in DYNAMICS_TABLES:
        folder.write(name, empty(name) if name != "sphere" else pl.DataFrame(rows, schema=schema))
    folder.finish([])
    load_simulation(tmp_path)
    for wrong in (rows[:-1], rows + rows[:1]):
        folder.write("sphere", pl.DataFrame(wrong, schema=schema))
        with pytest.raises(InputError, match=r"sphere.parquet is damaged: particles have no place"):
            load_simulation(tmp_path)


def test_a_phase_diagram_with_two_rows_for_one_place_is_told(tmp_path):
    folder = open_simulation(tmp_path, SETTINGS, "cpu")
    row = ("ngpt", 8, 4, 2.5, 1.0, 0.5, 2)
    schema = frame_schema(DYNAMICS_TABLES["phase"])
    for name in DYNAMICS_TABLES:
        folder.write(name, empty(name))
    folder.finish([])
    folder.write("phase", pl.DataFrame([row], schema=schema, orient="row"))
    load_simulation(tmp_path)
    folder.write("phase", pl.DataFrame([row, row], schema=schema, orient="row"))
    with pytest.raises(InputError, match=r"phase.parquet is damaged: two rows for one β and time"):
        load_simulation(tmp_path)


@pytest.mark.parametrize(("field", "value"), [("tokens", None), ("beta", "5"), ("horizon", [])])
def test_settings_that_a_view_needs_are_looked_at(field, value, tmp_path):
    folder = open_simulation(tmp_path, SETTINGS | {field: value}, "cpu")
    for name in DYNAMICS_TABLES:
        folder.write(name, empty(name))
    folder.finish([])
    with pytest.raises(InputError, match=rf"manifest.json is damaged: settings.{field} is"):
        load_simulation(tmp_path)
