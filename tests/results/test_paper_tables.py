import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.results.paper_schema import PAPER_TABLES
from headgauge.results.paper_tables import has_paper, read_paper, write_paper
from headgauge.results.schema import frame_schema

_VALUES = {pl.Int64: 3, pl.Float64: 0.25, pl.String: "</script> ß", pl.Boolean: True}


@pytest.fixture
def paper() -> dict[str, pl.DataFrame]:
    """Every table with a full row and, where it may be, one of nulls."""
    found = {}
    for name, row in PAPER_TABLES.items():
        schema = frame_schema(row)
        full = {column: _VALUES[type(kind)] for column, kind in schema.items()}
        found[name] = pl.DataFrame([full, dict.fromkeys(schema)], schema=schema)
    return found


def test_round_trip(paper, tmp_path):
    written = write_paper(tmp_path, paper)
    assert [path.name for path in written] == [f"{name}.parquet" for name in PAPER_TABLES]
    found = read_paper(tmp_path)
    assert found.keys() == paper.keys()
    for name, table in paper.items():
        assert found[name].equals(table), name
    assert {path.name for path in tmp_path.rglob("*")} == {"paper", *(p.name for p in written)}


def test_the_same_tables_are_the_same_bytes(paper, tmp_path):
    write_paper(tmp_path, paper)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")}
    chunked = {name: pl.concat([t[:1], t[1:]], rechunk=False) for name, t in paper.items()}
    write_paper(tmp_path, chunked)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.parquet")} == before


def test_a_folder_has_a_reproduction_or_not(paper, tmp_path):
    assert not has_paper(tmp_path)
    write_paper(tmp_path, paper)
    assert has_paper(tmp_path)
    (tmp_path / "paper" / "verdicts.parquet").unlink()
    assert has_paper(tmp_path)  # a damaged one, which must not pass for a scan
    with pytest.raises(InputError, match=r"verdicts.parquet is missing"):
        read_paper(tmp_path)


def test_other_columns_are_refused(paper, tmp_path):
    wrong = paper | {"fig3": paper["fig3"].rename({"mean": "average"})}
    with pytest.raises(InputError, match=r"^not the table fig3 of a reproduction"):
        write_paper(tmp_path, wrong)
    assert not (tmp_path / "paper" / "fig3.parquet").exists()


def test_what_is_wrong_with_a_file_is_told(paper, tmp_path):
    with pytest.raises(InputError, match=r"fig1.parquet is missing: repeat the command"):
        read_paper(tmp_path)
    write_paper(tmp_path, paper)
    place = tmp_path / "paper" / "fig4.parquet"
    whole = place.read_bytes()
    place.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"fig4.parquet is damaged: no parquet file$"):
        read_paper(tmp_path)
    place.write_bytes((tmp_path / "paper" / "fig3.parquet").read_bytes())
    with pytest.raises(InputError, match=r"fig4.parquet has other columns"):
        read_paper(tmp_path)
