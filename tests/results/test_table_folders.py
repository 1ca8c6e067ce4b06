from dataclasses import dataclass

import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.results.table_folders import TableFolder


@dataclass(frozen=True)
class Row:
    name: str
    value: float | None


FOLDER = TableFolder("things", "a test", {"first": Row, "second": Row})
FRAME = pl.DataFrame({"name": ["a", "b"], "value": [0.5, None]})


def test_a_table_comes_back(tmp_path):
    assert not FOLDER.there(tmp_path)
    path = FOLDER.write(tmp_path, "first", FRAME)
    assert path == tmp_path / "things" / "first.parquet"
    assert FOLDER.there(tmp_path)
    assert FOLDER.read(tmp_path, "first").equals(FRAME)


def test_what_is_wrong_is_told(tmp_path):
    with pytest.raises(InputError, match="not the table first of a test: its columns differ"):
        FOLDER.write(tmp_path, "first", FRAME.rename({"value": "worth"}))
    assert not list(tmp_path.rglob("*.parquet"))
    with pytest.raises(InputError, match=r"second.parquet is missing: repeat the command"):
        FOLDER.read(tmp_path, "second")
    path = FOLDER.write(tmp_path, "second", FRAME)
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(InputError, match=r"second.parquet is damaged"):
        FOLDER.read(tmp_path, "second")
    FRAME.rename({"value": "worth"}).write_parquet(path)
    with pytest.raises(InputError, match=r"second.parquet has other columns"):
        FOLDER.read(tmp_path, "second")
