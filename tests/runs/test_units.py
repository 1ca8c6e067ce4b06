import dataclasses
import json
import math
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.runs import UnitFacts, UnitKey, write_unit
from headgauge.runs.schema import KEYS, TABLES
from headgauge.runs.tables import checked, scan_table
from headgauge.runs.units import is_whole, read_unit, unit_folder


def facts(**known: Any) -> UnitFacts:
    none: Any = {"loss": 1.0, "tokens": 1, "start": 0, "unseen": [], "distrusted": {}, "tapped": []}
    return UnitFacts(**none | {"seconds": {}} | known)


def test_a_key_has_a_name_and_an_order():
    assert UnitKey(3, 1024).name == "w0003-L01024"
    assert sorted([UnitKey(1, 8), UnitKey(0, 16), UnitKey(0, 8)])[-1] == UnitKey(1, 8)
    for key in (UnitKey(0, 1), UnitKey(12345, 1048576)):
        assert UnitKey.from_name(key.name) == key
    for name in ("w3-L01024", "w0003-L01024x", "w00003-L01024", ".writing-w0003-L01024", "x"):
        assert UnitKey.from_name(name) is None


def test_round_trip(small_run, tmp_path):
    for number, with_rows in enumerate((True, False)):
        unit = small_run.unit_tables(UnitKey(number, 8), with_rows=with_rows)
        write_unit(tmp_path, unit)
        found = read_unit(tmp_path, unit.key)
        assert found["facts"] == unit.facts
        place = unit_folder(tmp_path, unit.key)
        assert found["tables"].keys() == unit.tables.keys()
        for name, frame in unit.tables.items():
            read = scan_table(TABLES[name], place / f"{name}.parquet", found["tables"][name])
            assert read.collect().equals(checked(name, frame, TABLES[name], KEYS[name]))
        files = {each.name for each in place.iterdir()}
        assert files == {f"{name}.parquet" for name in unit.tables} | {"unit.json"}
    names = {place.name for place in (tmp_path / "units").iterdir()}
    assert names == {"w0000-L00008", "w0001-L00008"}


def test_facts_that_are_not_finite_come_back_as_words(unit, tmp_path):
    known = facts(loss=math.nan, distrusted={"a": math.inf}, tapped=["b"])
    write_unit(tmp_path, dataclasses.replace(unit, facts=known))
    found = read_unit(tmp_path, unit.key)["facts"]
    assert found == {**known, "loss": "nan", "distrusted": {"a": "inf"}}
    json.loads((unit_folder(tmp_path, unit.key) / "unit.json").read_text())


def test_the_first_of_two_equal_units_stays(unit, tmp_path):
    write_unit(tmp_path, unit)
    file = unit_folder(tmp_path, unit.key) / "unit.json"
    before = file.read_bytes()
    write_unit(tmp_path, dataclasses.replace(unit, facts=facts(loss=9.0)))
    assert file.read_bytes() == before


def test_a_damaged_unit_is_written_anew(unit, tmp_path):
    write_unit(tmp_path, unit)
    (unit_folder(tmp_path, unit.key) / "heads.parquet").unlink()
    assert not is_whole(tmp_path, unit.key)
    write_unit(tmp_path, unit)
    assert is_whole(tmp_path, unit.key)


def test_rows_of_another_unit_are_refused(unit, tmp_path):
    with pytest.raises(InputError) as error:
        write_unit(tmp_path, dataclasses.replace(unit, key=UnitKey(7, 16)))
    assert str(error.value) == "the table heads of w0007-L00016 has rows of w0000-L00016"
    assert list(tmp_path.iterdir()) == []


def test_another_schema_is_refused_before_anything_is_written(unit, tmp_path):
    rows = unit.tables["rows"].with_columns(pl.col("row").cast(pl.Int32))
    with pytest.raises(InputError, match=r"^not the table rows: 'row' is Int32, not Int64$"):
        write_unit(tmp_path, dataclasses.replace(unit, tables=unit.tables | {"rows": rows}))
    assert list(tmp_path.iterdir()) == []


def test_a_unit_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match=r"has no unit w0000-L00008$"):
        read_unit(tmp_path, UnitKey(0, 8))


@pytest.mark.parametrize(
    ("limit", "line"),
    [
        (16384, "the largest file allowed is reached while writing"),
        (4096, "cannot write all of"),  # in a file's last bytes, where polars keeps no reason
    ],
)
def test_a_write_that_stops_midway_leaves_nothing(tmp_path, small_run, limit, line):
    """The kernel stops the child's files: polars fails with bytes already written."""
    program = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]); import small_run\n"
        "from headgauge.runs import write_unit\n"
        "tables = small_run.unit_tables(small_run.KEYS[0], queries=1000)\n"
        "try: write_unit(Path(sys.argv[1]), tables)\n"
        "except ValueError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), str(Path(small_run.__file__).parent)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
    )
    assert done.stdout.startswith(line), done
    assert f"{tmp_path}/units/w0000-L00008" in done.stdout
    assert list((tmp_path / "units").iterdir()) == []
