"""Runs that are made table by table: a reproduction's figures, a simulation."""

import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.runs import (
    REPRODUCTION,
    SIMULATION,
    Layout,
    RunFolder,
    load_run,
    manifest,
    text_folder,
)
from headgauge.runs.columns import columns
from headgauge.runs.json_files import read_json
from headgauge.runs.schema import frame_schema

_VALUES = {int: 3, float: 0.25, str: "</script> ß", bool: True}
SETTINGS = {"tokens": 8, "dim": 4, "beta": 2.5, "horizon": 1.0, "seeds": 2, "texts": ["a", "b"]}
LAYOUTS = pytest.mark.parametrize("layout", [REPRODUCTION, SIMULATION], ids=lambda each: each.name)


def frames(layout: Layout) -> dict[str, pl.DataFrame]:
    """Every table with a full row and, in a reproduction, one of nulls where they may be."""
    found = {}
    for name, row in layout.tables.items():
        known = columns(row).items()
        full = {
            key: column.words[0] if column.words else _VALUES[column.kind] for key, column in known
        }
        bare = {key: None if column.optional else full[key] for key, column in known}
        rows = [full, bare] if layout is REPRODUCTION else [full]
        found[name] = pl.DataFrame(rows, schema=frame_schema(row))
    return found


def opened(place: Path, layout: Layout, **other: Any) -> RunFolder:
    return RunFolder.open(place, SETTINGS | other, layout)


def write(folder: RunFolder, tables: dict[str, pl.DataFrame]) -> None:
    for name, frame in tables.items():
        folder.write(name, frame, 1.5)
    folder.finish(["a note"])


@pytest.fixture(scope="module")
def made_all(tmp_path_factory):
    place = tmp_path_factory.mktemp("layouts")
    for layout in (REPRODUCTION, SIMULATION):
        write(opened(place / layout.name, layout), frames(layout))
    return place


@pytest.fixture
def made(made_all, tmp_path):
    """A folder with a finished run of each layout, by its name."""
    return shutil.copytree(made_all, tmp_path / "made")


@LAYOUTS
def test_it_is_kept_table_by_table(layout, tmp_path):
    tables = frames(layout)
    place = tmp_path / "run"
    folder = opened(place, layout)
    folder.describe(manifest(SETTINGS, "cpu", research_type="looking", pseudocode="Algorithm 1"))
    assert not layout.is_in(place)
    for name, frame in tables.items():
        assert not folder.has(name)
        folder.write(name, frame, 1.5)
        assert folder.has(name)
    assert layout.is_in(place)
    with pytest.raises(InputError, match="is not finished: repeat the command that began it"):
        load_run(place, layout)
    folder.finish(["a note"])
    run = load_run(place, layout)
    told = run.manifest
    assert (told["settings"], told["notes"]) == (SETTINGS, ["a note"])
    assert (told["research_type"], told["pseudocode"]) == ("looking", "Algorithm 1")
    assert told["software"]["torch"]
    assert set(told["times"]["seconds"].values()) == {1.5}
    assert run.tables.keys() == tables.keys() == told["tables"].keys()
    for name, table in tables.items():
        assert run.tables[name].equals(table), name
        assert told["tables"][name]["rows"] == len(table)
    written = {f"{name}.parquet" for name in layout.tables}
    assert {path.name for path in place.rglob("*")} == {layout.folder, "manifest.json", *written}
    assert str(tmp_path) not in str(read_json(place / "manifest.json"))


def test_the_same_tables_are_the_same_bytes(made):
    before = {path: path.read_bytes() for path in made.rglob("*.parquet")}
    chunked = {
        name: pl.concat([frame[:1], frame[1:]], rechunk=False)
        for name, frame in frames(REPRODUCTION).items()
    }
    write(opened(made / "reproduction", REPRODUCTION), chunked)
    assert {path: path.read_bytes() for path in made.rglob("*.parquet")} == before
    assert len(before) == len(REPRODUCTION.tables) + len(SIMULATION.tables)


@LAYOUTS
def test_it_is_taken_up_and_other_settings_are_refused(layout, tmp_path):
    first, *_, last = frames(layout).items()
    opened(tmp_path, layout).write(*first)
    again = opened(tmp_path, layout)
    assert again.has(first[0])
    assert not again.has(last[0])
    assert again.manifest["times"]["resumed"] == 1
    with pytest.raises(InputError, match=r"other settings: beta is 2.5 there, 3 here"):
        opened(tmp_path, layout, beta=3)
    with pytest.raises(InputError, match="other settings"):
        opened(tmp_path, layout, texts=["a"])
    layout.file(tmp_path, first[0]).write_bytes(b"half")
    assert not again.has(first[0])


@LAYOUTS
def test_other_places_are_refused(layout, tmp_path):
    with pytest.raises(InputError, match=f"is no {layout.name} of headgauge: it has no "):
        load_run(tmp_path, layout)
    with pytest.raises(InputError, match="of headgauge: there is no such folder"):
        load_run(tmp_path / "nowhere", layout)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="is a file: give a folder"):
        opened(tmp_path / "file", layout)
    with pytest.raises(InputError, match="holds no run but other files"):
        opened(tmp_path, layout)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_two_at_work_in_one_folder_lose_nothing_of_each_other(tmp_path):
    tables = frames(SIMULATION)
    both = opened(tmp_path, SIMULATION), opened(tmp_path, SIMULATION)
    for number, (name, frame) in enumerate(tables.items()):
        both[number % 2].write(name, frame, 1.0 + number)
    assert all(both[0].has(name) for name in tables)
    both[0].finish([])
    both[1].write("phase", tables["phase"], 9.0)
    told = load_run(tmp_path, SIMULATION).manifest
    assert told["tables"].keys() == told["times"]["seconds"].keys() == tables.keys()


def test_what_is_no_such_table_is_refused(tmp_path):
    frame = frames(REPRODUCTION)["fig3"]
    folder = opened(tmp_path, REPRODUCTION)
    with pytest.raises(InputError, match=r"^not the table fig3: no column 'mean'"):
        folder.write("fig3", frame.rename({"mean": "average"}))
    with pytest.raises(InputError, match=r"^the table fig3 has rows without 'measure'"):
        folder.write("fig3", frame.with_columns(measure=pl.lit(None, pl.String)))
    assert not list(tmp_path.rglob("*.parquet"))
    assert "fig3" not in read_json(tmp_path / "manifest.json")["tables"]


@LAYOUTS
def test_a_damaged_table_is_told_and_made_again(layout, made):
    place = made / layout.name
    name, other, *_ = layout.tables
    path = layout.file(place, name)
    whole = path.read_bytes()
    flipped = whole[:40] + bytes([whole[40] ^ 1]) + whole[41:]
    for wrong in (flipped, whole[: len(whole) // 2], layout.file(place, other).read_bytes()):
        path.write_bytes(wrong)
        with pytest.raises(InputError, match=rf"{name}.parquet is damaged: not the bytes .*; rep"):
            load_run(place, layout)
    path.unlink()
    assert layout.is_in(place)  # a damaged one, which must not pass for a scan
    with pytest.raises(InputError, match=rf"{name}.parquet is missing"):
        load_run(place, layout)
    again = opened(place, layout)
    assert not again.has(name)
    again.write(name, frames(layout)[name])
    load_run(place, layout)


def told(place: Path, layout: Layout, name: str, frame: pl.DataFrame) -> str:
    """What is said of a run with this table, though its sum was put right."""
    opened(place, layout).write(name, frame)
    with pytest.raises(InputError) as error:
        load_run(place, layout)
    return str(error.value)


def test_columns_that_do_not_fit_together_are_told(made):
    place = made / "reproduction"
    tables = frames(REPRODUCTION)
    model = tables["fig1"][:1].with_columns(panel=pl.lit("model"))
    for name, sound, names, said in (
        (
            "choices",
            tables["choices"],
            ("plateau_low", "plateau_high"),
            "a plateau has only one end",
        ),
        ("fig1", model, ("layer", "head", "row"), "a point of the model has no layer, head or row"),
    ):
        for column in names:
            none = pl.lit(None, sound.schema[column]).alias(column)
            line = told(place, REPRODUCTION, name, sound.with_columns(none))
            assert f"{name}.parquet is damaged: {said}; repeat" in line
        opened(place, REPRODUCTION).write(name, sound)
        load_run(place, REPRODUCTION)


def test_rows_of_a_simulation_that_do_not_fit_together_are_told(made):
    place = made / "simulation"
    places = [(scheme, time, at) for scheme in ("ngpt", "pre_ln") for time in (0.0, 1.0)
              for at in range(3)]  # fmt: skip
    rows = [
        {"scheme": scheme, "beta": 1.0, "time": time, "particle": at}
        | dict.fromkeys(("x", "y", "z", "radius"), 0.5)
        for scheme, time, at in places
    ]
    schema = frame_schema(SIMULATION.tables["sphere"])
    opened(place, SIMULATION).write("sphere", pl.DataFrame(rows, schema=schema))
    load_run(place, SIMULATION)
    for wrong in (rows[:-1], rows + rows[:1]):
        line = told(place, SIMULATION, "sphere", pl.DataFrame(wrong, schema=schema))
        assert "sphere.parquet is damaged: particles have no place" in line
    opened(place, SIMULATION).write("sphere", pl.DataFrame(rows, schema=schema))
    phase = frames(SIMULATION)["phase"]
    line = told(place, SIMULATION, "phase", pl.concat([phase, phase]))
    assert "phase.parquet is damaged: two rows for one β and time" in line


def test_settings_that_a_view_needs_are_looked_at(made):
    path = made / "simulation" / "manifest.json"
    whole = path.read_text()
    for field, value in (("tokens", "null"), ("beta", '"5"'), ("horizon", "[]")):
        path.write_text(whole.replace(f'"{field}": {SETTINGS[field]}', f'"{field}": {value}'))
        with pytest.raises(InputError, match=rf"manifest.json is damaged: settings.{field} is"):
            load_run(made / "simulation", SIMULATION)


def test_a_texts_name_as_a_folder():
    for text, folder in (
        ("war-and-peace", "war-and-peace"), ("my text.txt", "my-text.txt"), ("../up", "up"),
        ("a/b\\c", "a-b-c"), ("Krieg & Frieden ß", "Krieg-Frieden-ß"), ("...", "text"),
        ("", "text"), ("tokens 2", "tokens-2"), (".hidden", "hidden"),
    ):  # fmt: skip
        assert text_folder(text) == folder
