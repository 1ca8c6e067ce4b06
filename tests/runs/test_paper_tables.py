import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.runs.json_files import read_json
from headgauge.runs.paper_schema import PAPER_TABLES
from headgauge.runs.paper_tables import has_paper, load_paper, open_paper, text_folder
from headgauge.runs.schema import columns, frame_schema
from headgauge.runs.table_run import TableRun

_VALUES = {int: 3, float: 0.25, str: "</script> ß", bool: True}
SETTINGS = {"model": {"name": "small"}, "texts": [{"name": "a"}, {"name": "b"}], "seed": 1}


@pytest.fixture
def paper() -> dict[str, pl.DataFrame]:
    """Every table with a full row and one of nulls where they may be."""
    found = {}
    for name, row in PAPER_TABLES.items():
        known = columns(row).items()
        full = {
            key: column.words[0] if column.words else _VALUES[column.kind] for key, column in known
        }
        bare = {key: None if column.optional else full[key] for key, column in known}
        found[name] = pl.DataFrame([full, bare], schema=frame_schema(row))
    return found


def write(place, paper) -> TableRun:
    folder = open_paper(place, SETTINGS, "cpu")
    for name, frame in paper.items():
        folder.write(name, frame)
    folder.finish([])
    return folder


def test_round_trip(paper, tmp_path):
    write(tmp_path / "run", paper)
    manifest, found = load_paper(tmp_path / "run")
    assert manifest["settings"] == SETTINGS
    assert manifest["research_type"].startswith("reproduction of a paper's experiments")
    assert "Algorithms 1 to 5" in (manifest["pseudocode"] or "")
    assert found.keys() == paper.keys() == manifest["tables"].keys()
    for name, table in paper.items():
        assert found[name].equals(table), name
        assert manifest["tables"][name]["rows"] == 2
    written = {f"{name}.parquet" for name in PAPER_TABLES}
    assert {path.name for path in (tmp_path / "run").rglob("*")} == {
        "paper", "manifest.json", *written,
    }  # fmt: skip


def test_the_same_tables_are_the_same_bytes(paper, tmp_path):
    write(tmp_path / "run", paper)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")}
    chunked = {name: pl.concat([t[:1], t[1:]], rechunk=False) for name, t in paper.items()}
    write(tmp_path / "run", chunked)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")} == before
    assert len(before) == len(PAPER_TABLES)


def test_a_folder_has_a_reproduction_or_not(paper, tmp_path):
    place = tmp_path / "run"
    assert not has_paper(place)
    with pytest.raises(InputError, match="is no reproduction of headgauge"):
        load_paper(place)
    write(place, paper)
    assert has_paper(place)
    (place / "paper" / "verdicts.parquet").unlink()
    assert has_paper(place)  # a damaged one, which must not pass for a scan
    with pytest.raises(InputError, match=r"verdicts.parquet is missing"):
        load_paper(place)


def test_one_that_was_interrupted_is_taken_up_but_not_read(paper, tmp_path):
    folder = open_paper(tmp_path / "run", SETTINGS, "cpu")
    folder.write("fig1", paper["fig1"])
    with pytest.raises(InputError, match="is not finished: repeat the command that began it"):
        load_paper(tmp_path / "run")
    again = open_paper(tmp_path / "run", SETTINGS, "cpu")
    assert again.has("fig1")
    assert not again.has("fig2a")
    assert again.manifest["times"]["resumed"] == 1
    with pytest.raises(InputError, match="other settings: seed is 1 there, 2 here"):
        open_paper(tmp_path / "run", SETTINGS | {"seed": 2}, "cpu")
    with pytest.raises(InputError, match="other settings"):
        open_paper(tmp_path / "run", SETTINGS | {"texts": [{"name": "a"}]}, "cpu")


def test_other_columns_are_refused(paper, tmp_path):
    folder = open_paper(tmp_path / "run", SETTINGS, "cpu")
    with pytest.raises(InputError, match=r"^not the table fig3 of a reproduction"):
        folder.write("fig3", paper["fig3"].rename({"mean": "average"}))
    assert not (tmp_path / "run" / "paper" / "fig3.parquet").exists()
    assert "fig3" not in read_json(tmp_path / "run" / "manifest.json")["tables"]


def test_what_is_wrong_with_a_file_is_told(paper, tmp_path):
    write(tmp_path, paper)
    place = tmp_path / "paper" / "fig4.parquet"
    whole = place.read_bytes()
    for other in (whole[: len(whole) // 2], (tmp_path / "paper" / "fig3.parquet").read_bytes()):
        place.write_bytes(other)
        with pytest.raises(InputError, match=r"fig4.parquet is damaged: not the bytes that were"):
            load_paper(tmp_path)


@pytest.mark.parametrize(
    ("text", "folder"),
    [("war-and-peace", "war-and-peace"), ("my text.txt", "my-text.txt"), ("../up", "up"),
     ("a/b\\c", "a-b-c"), ("Krieg & Frieden ß", "Krieg-Frieden-ß"), ("...", "text"), ("", "text"),
     ("tokens 2", "tokens-2"), (".hidden", "hidden")],
)  # fmt: skip
def test_a_texts_name_as_a_folder(text, folder):
    assert text_folder(text) == folder


def test_columns_that_do_not_fit_together_are_told(paper, tmp_path):
    model = paper["fig1"][:1].with_columns(panel=pl.lit("model"))
    sound = {"choices": paper["choices"], "fig1": model}
    folder = write(tmp_path, paper | sound)
    load_paper(tmp_path)
    ends, places = ("plateau_low", "plateau_high"), ("layer", "head", "row")
    for name, columns_of, said in (
        ("choices", ends, "a plateau has only one end"),
        ("fig1", places, "a point of the model has no layer, head or row"),
    ):
        for column in columns_of:
            none = pl.lit(None, sound[name].schema[column]).alias(column)
            folder.write(name, sound[name].with_columns(none))
            with pytest.raises(InputError, match=f"{name}.parquet is damaged: {said}; repeat"):
                load_paper(tmp_path)
        folder.write(name, sound[name])
