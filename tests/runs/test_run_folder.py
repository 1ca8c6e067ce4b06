import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from headgauge import __version__
from headgauge.errors import InputError
from headgauge.runs import (
    Data,
    EdgeToken,
    Model,
    RunFolder,
    Splits,
    UnitKey,
    begun_settings,
    begun_units,
    load_run,
    manifest,
    write_unit,
)
from headgauge.runs.manifest_file import changed_manifest
from headgauge.runs.schema import KEYS as TABLE_KEYS
from headgauge.runs.units import unit_folder


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.parquet")}


def manifest_of(folder: Path) -> dict:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob(".writing-*"))


# A whole run


def test_a_run_is_the_units_in_order(made, small_run):
    run = load_run(made)
    units = [small_run.unit_tables(key).tables for key in small_run.KEYS]
    assert list(run.tables) == [
        "heads",
        "curves",
        "samples",
        "matrices",
        "tokens",
        "spans",
        "depth",
    ]
    assert run.rows is not None
    for name, found in (run.tables | {"rows": run.rows.collect()}).items():
        assert found.equals(pl.concat([unit[name] for unit in units]).sort(TABLE_KEYS[name]))
    assert load_run(made, names=("heads", "points")).tables.keys() == {"heads"}
    assert sorted(place.name for place in made.iterdir()) == [
        "curves.parquet",
        "depth.parquet",
        "heads.parquet",
        "manifest.json",
        "matrices.parquet",
        "rows.parquet",
        "samples.parquet",
        "spans.parquet",
        "tokens.parquet",
        "units",
    ]


def test_the_manifest_is_finished(made, small_run):
    found = load_run(made).manifest
    assert found["status"] == "finished"
    assert found["times"]["finished"] is not None
    assert found["times"]["resumed"] == 0
    assert list(found["units"]) == [key.name for key in small_run.KEYS]
    facts = [small_run.unit_tables(key).facts for key in small_run.KEYS]
    assert [unit["loss"] for unit in found["units"].values()] == [fact["loss"] for fact in facts]
    assert found["times"]["seconds"]["model"] == 0.5 * len(facts)
    assert found["tables"]["heads"]["rows"] == load_run(made).tables["heads"].height


def test_rows_are_there_on_request_only(small_run, tmp_path):
    run = RunFolder.open(tmp_path, {})
    run.describe(small_run.described({}))
    write_unit(run.path, small_run.unit_tables(UnitKey(0, 8), with_rows=False))
    run.merge([UnitKey(0, 8)])
    assert load_run(tmp_path).rows is None
    write_unit(run.path, small_run.unit_tables(UnitKey(1, 8)))
    with pytest.raises(InputError, match="only one of w0000-L00008 and w0001-L00008 has the table"):
        run.merge([UnitKey(0, 8), UnitKey(1, 8)])


def test_units_that_are_missing_are_counted(small_run, tmp_path):
    run = RunFolder.open(tmp_path, {})
    write_unit(run.path, small_run.unit_tables(UnitKey(0, 8)))
    with pytest.raises(InputError, match=r"2 of 3 units are missing, the first is w0001-L00008$"):
        run.merge([UnitKey(2, 8), UnitKey(1, 8), UnitKey(0, 8)])
    assert bytes_of(tmp_path) == {}


# The same bytes


def test_order_and_process_do_not_show(made, small_run, tmp_path):
    small_run.make(tmp_path / "here", seed=1)
    command = [sys.executable, small_run.__file__, str(tmp_path / "elsewhere")]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    for place in ("here", "elsewhere"):
        assert bytes_of(tmp_path / place) == bytes_of(made)
        found, expected = manifest_of(tmp_path / place), manifest_of(made)
        del found["times"], expected["times"]
        assert found == expected


def test_a_finished_run_can_be_made_again(made, small_run):
    before = bytes_of(made)
    small_run.make(made, seed=1)
    assert bytes_of(made) == before
    assert manifest_of(made)["status"] == "finished"
    assert manifest_of(made)["times"]["resumed"] == 1


# Damage


def cut_in_half(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def flip_a_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(bytes(content))


def other_table(path: Path) -> None:
    frame = pl.read_parquet(path)
    frame.drop(frame.columns[-1]).write_parquet(path)


GONE_OR_HALF = [
    (damage, file)
    for damage in (Path.unlink, cut_in_half)
    for file in ("heads.parquet", "unit.json")
]
OTHERS = [(damage, "rows.parquet") for damage in (Path.unlink, cut_in_half, flip_a_bit)]
OTHERS += [(flip_a_bit, "curves.parquet"), (other_table, "samples.parquet")]


@pytest.mark.parametrize("damages", [GONE_OR_HALF, OTHERS])
def test_a_damaged_unit_is_made_again(damages, made, small_run):
    """Each damage in a unit of its own."""
    before = bytes_of(made)
    keys = small_run.KEYS[1 : 1 + len(damages)]
    for key, (damage, file) in zip(keys, damages, strict=True):
        damage(unit_folder(made, key) / file)
    run = RunFolder.open(made, small_run.SETTINGS)
    assert run.finished() == set(small_run.KEYS) - set(keys)
    assert not any(unit_folder(made, key).exists() for key in keys)
    small_run.make(made, 0)
    assert bytes_of(made) == before


def test_units_of_an_older_schema_are_made_again(made, small_run):
    """Whole by their sha256, but not with this version's columns."""
    place = unit_folder(made, small_run.KEYS[0])
    other_table(place / "curves.parquet")
    record = json.loads((place / "unit.json").read_text())
    record["tables"]["curves"] = hashlib.sha256((place / "curves.parquet").read_bytes()).hexdigest()
    (place / "unit.json").write_text(json.dumps(record))
    assert small_run.KEYS[0] not in RunFolder.open(made, small_run.SETTINGS).finished()


def test_a_damaged_table_is_told_and_made_again(made, small_run):
    before = bytes_of(made)
    for name in ("rows", "depth", "samples", "curves", "heads"):  # heads are read first
        flip_a_bit(made / f"{name}.parquet")
        said = rf"{name}.parquet is damaged: not the bytes that were written; repeat the command"
        with pytest.raises(InputError, match=said):
            load_run(made)
    small_run.make(made, 0)
    assert bytes_of(made) == before
    load_run(made)


@pytest.mark.parametrize("name", ["curves", "samples"])
def test_heads_that_only_one_table_has_are_told(name, made):
    """Though the file's sum was put right."""
    path = made / f"{name}.parquet"
    pl.read_parquet(path).with_columns(pl.col("layer") + 7).write_parquet(path)
    with changed_manifest(made) as there:
        there["tables"][name]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(InputError, match=rf"{name}.parquet is damaged: it has heads that heads"):
        load_run(made)


def test_what_is_no_unit_is_left_alone(made, small_run):
    (made / "units" / "notes").mkdir()
    assert RunFolder.open(made, small_run.SETTINGS).finished() == set(small_run.KEYS)
    assert (made / "units" / "notes").is_dir()


# Names


ODD = [
    "run[v2]",
    "run*",
    "{run}",
    "%20run",
    "läuft Ω",
    "two\nlines",
    "layer=3",
    "~run",
]


@pytest.mark.skipif(os.name != "posix", reason="no such names there")
@pytest.mark.parametrize("name", ODD)
def test_a_folders_name_is_no_pattern(name, small_run, made, tmp_path, monkeypatch):
    """Not even beside folders that it would match, and from where it stands."""
    (tmp_path / "runv").symlink_to(made)
    (tmp_path / "run1").symlink_to(made)
    monkeypatch.chdir(tmp_path)
    run = RunFolder.open(name, {})
    run.describe(small_run.described({}))
    for key in small_run.KEYS[:2]:
        write_unit(run.path, small_run.unit_tables(key, with_paper=False))
    run.merge(small_run.KEYS[:2])
    found = load_run(name)
    assert found.tables["heads"].select("window", "length").n_unique() == 2
    assert found.rows is not None
    for table, frame in (found.tables | {"rows": found.rows.collect()}).items():
        assert frame.height == found.manifest["tables"][table]["rows"]
    assert run.finished() == set(small_run.KEYS[:2])


@pytest.mark.skipif(os.name != "posix", reason="no such names there")
def test_places_that_cannot_be_are_one_line(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    places = ["x" * 300, "loop", "dangling", "file", "file/below", "loop/below", "a\udcff", "a\0b"]
    for place in [*(tmp_path / name for name in places), Path("/dev/full")]:
        for call in (
            lambda place=place: RunFolder.open(place, {}),
            lambda place=place: load_run(place),
        ):
            with pytest.raises(InputError) as error:
                call()
            assert "\n" not in str(error.value)
    assert sorted(os.listdir(tmp_path)) == ["dangling", "file", "loop"]


# Refusals


def test_other_settings_are_refused(tmp_path):
    settings = {"model": "a", "length": 512, "text": {"name": "prose", "offset": 0}, "n": (1, 5)}
    RunFolder.open(tmp_path, settings)
    before = manifest_of(tmp_path)
    with pytest.raises(InputError) as error:
        RunFolder.open(tmp_path, settings | {"length": 1024})
    assert str(error.value) == (
        f"{tmp_path} holds a run with other settings: length is 512 there, 1024 here; "
        "choose another --out or remove it"
    )
    other = {"model": "b", "length": 1024, "text": {"name": "verse", "offset": 7}, "n": [1]}
    with pytest.raises(InputError) as error:
        RunFolder.open(tmp_path, other)
    assert 'text.name is "prose" there, "verse" here; and 2 more; choose' in str(error.value)
    assert manifest_of(tmp_path) == before
    assert RunFolder.open(tmp_path, settings | {"n": [1, 5]}).manifest["times"]["resumed"] == 1


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match=r"holds no run but other files \('thesis.tex'\): choose"):
        RunFolder.open(tmp_path, {})
    (tmp_path / "data").mkdir()
    with pytest.raises(InputError, match=r"\('data' and 1 more\)"):
        RunFolder.open(tmp_path, {})
    assert sorted(place.name for place in tmp_path.iterdir()) == ["data", "thesis.tex"]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("{", "is damaged"),
        ('{"format": 2}', "is damaged"),
        ("{}", "has no format number, and headgauge VERSION reads format 2: choose another folder"),
        ('{"format": "other 1"}', "has no format number"),
        ('{"format": 1}', "has format 1, and headgauge VERSION reads format 2: make the run again"),
        (
            '{"format": "headgauge run 1"}',  # as the first runs have it
            "has format 1, and headgauge VERSION reads format 2: make the run again",
        ),
        ('{"format": 3}', "has format 3, and headgauge VERSION reads format 2: update headgauge"),
    ],
)
def test_another_manifest_is_refused(content, line, tmp_path):
    (tmp_path / "manifest.json").write_text(content)
    for call in (lambda: RunFolder.open(tmp_path, {}), lambda: load_run(tmp_path)):
        with pytest.raises(InputError, match=re.escape(line.replace("VERSION", __version__))):
            call()


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(InputError, match=r"a is a file: give a folder to write to$"):
        RunFolder.open(tmp_path / "a", {})
    with pytest.raises(InputError, match=r"cannot write .*b: Not a directory$"):
        RunFolder.open(tmp_path / "a" / "b", {})


@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match=r"cannot write .*: Permission denied$"):
        RunFolder.open(tmp_path, {})


# Reading


def test_what_is_no_run_is_told(tmp_path, made):
    with pytest.raises(
        InputError, match=r"nowhere is no run of headgauge: there is no such folder$"
    ):
        load_run(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"is no run of headgauge: it has no manifest\.json$"):
        load_run(tmp_path / "empty")
    RunFolder.open(tmp_path / "begun", {})
    with pytest.raises(InputError, match="begun is not finished: repeat the command"):
        load_run(tmp_path / "begun")
    (made / "rows.parquet").unlink()
    with pytest.raises(
        InputError, match=r"rows\.parquet is missing; repeat the command that made the run$"
    ):
        load_run(made)
    cut_in_half(made / "heads.parquet")
    with pytest.raises(InputError, match=r"heads\.parquet is damaged"):
        load_run(made)


# What the manifest says


FACTS = {"kind": "decoder"}


def described(settings: dict, notes: tuple[str, ...] = ()):
    none = EdgeToken(put=False, id=None, why="not asked", file=None, tokenizer=None)
    return manifest(
        settings,
        "cpu",
        research_type="measurement",
        pseudocode="Algorithms 2 and 4",
        data=Data(name="prose", sha256="", origin="made up", tokens=99),
        splits=Splits(offset=0, windows=3, lengths=[8], bos=none, eos=none),
        model=Model(
            name="a",
            source="default",
            quantisation=None,
            sha256=None,
            fingerprint=None,
            facts=FACTS,
        ),
        notes=list(notes),
    )


def test_a_described_run_keeps_its_state(tmp_path, small_run):
    run = RunFolder.open(tmp_path, {"a": 1})
    begun = "2000-01-01T00:00:00Z"
    with changed_manifest(tmp_path) as there:
        there["times"]["started"] = begun
    run.describe(described({"a": 1}, notes=("first",)))
    write_unit(run.path, small_run.unit_tables(UnitKey(0, 8)))
    run.merge([UnitKey(0, 8)])
    again = RunFolder.open(tmp_path, {"a": 1})
    again.describe(described({"a": 1}, notes=("first", "second")))
    found = load_run(tmp_path).manifest
    assert found["times"]["started"] == begun
    assert found["status"] == "finished"
    assert found["notes"] == ["first", "second"]
    assert found["units"].keys() == {"w0000-L00008"}
    assert list(found) == list(described({}))


def test_a_run_taken_up_with_other_packages_says_so(tmp_path):
    first = described({})
    first["software"]["torch"] = "1.0"
    RunFolder.open(tmp_path, {}).describe(first)
    later = described({})
    later["software"]["torch"] = "2.0"
    for _ in range(2):
        RunFolder.open(tmp_path, {}).describe(later)
    found = manifest_of(tmp_path)
    assert found["software"]["torch"] == "1.0"
    assert found["notes"] == ['taken up with another software: torch is "1.0" before, "2.0" after']


def test_a_manifest_that_cannot_be_written_leaves_the_old(tmp_path, monkeypatch):
    run = RunFolder.open(tmp_path, {})
    before = (tmp_path / "manifest.json").read_bytes()

    def full(self, *_, **__):
        with self.open("wb") as file:
            file.write(b"{")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputError, match=r"^no space left on the disk while writing .*json \("):
        run.describe(described({}))
    assert (tmp_path / "manifest.json").read_bytes() == before
    assert leftovers(tmp_path) == []


def test_what_was_begun_can_be_asked_without_opening(tmp_path, unit):
    assert begun_settings(tmp_path / "none") is None
    assert begun_units(tmp_path / "none") == set()
    run = RunFolder.open(tmp_path / "run", {"threads": 2})
    assert begun_units(run.path) == set()
    write_unit(run.path, unit)
    assert begun_settings(run.path) == {"threads": 2}
    assert begun_units(run.path) == {unit.key}
