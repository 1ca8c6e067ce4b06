import hashlib
from dataclasses import dataclass

import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.runs.table_folders import TableFolder
from headgauge.runs.tables import sha256


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
    assert FOLDER.read(tmp_path, "first", sha256(path)).equals(FRAME)


def test_what_is_wrong_is_told(tmp_path):
    with pytest.raises(InputError, match="not the table first of a test: no column 'value'"):
        FOLDER.write(tmp_path, "first", FRAME.rename({"value": "worth"}))
    with pytest.raises(InputError, match="the table first of a test has rows without 'name'"):
        FOLDER.write(tmp_path, "first", FRAME.with_columns(name=pl.lit(None, pl.String)))
    assert not list(tmp_path.rglob("*.parquet"))
    with pytest.raises(InputError, match=r"second.parquet is missing; repeat the command"):
        FOLDER.read(tmp_path, "second", "")
    path = FOLDER.write(tmp_path, "second", FRAME)
    whole = path.read_bytes()
    path.write_bytes(whole[:20])
    with pytest.raises(InputError, match=r"second.parquet is damaged: no parquet file; repeat"):
        FOLDER.read(tmp_path, "second", sha256(path))
    path.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
    with pytest.raises(InputError, match=r"second.parquet is damaged: not the bytes that were"):
        FOLDER.read(tmp_path, "second", hashlib.sha256(whole).hexdigest())
    FRAME.rename({"value": "worth"}).write_parquet(path)
    with pytest.raises(InputError, match=r"second.parquet is not a table of this version: no col"):
        FOLDER.read(tmp_path, "second", sha256(path))
