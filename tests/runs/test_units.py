import dataclasses
import json
import math
import os
import resource
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.runs import UnitFacts, UnitKey, UnitTables, read_unit, write_unit
from headgauge.runs.tables import checked
from headgauge.runs.units import is_whole, read_facts, unit_folder


def test_a_key_has_a_name_and_an_order():
    assert UnitKey(3, 1024).name == "w0003-L01024"
    assert sorted([UnitKey(1, 8), UnitKey(0, 16), UnitKey(0, 8)])[-1] == UnitKey(1, 8)
    for key in (UnitKey(0, 1), UnitKey(12345, 1048576)):
        assert UnitKey.from_name(key.name) == key
    for name in ("w3-L01024", "w0003-L01024x", "w00003-L01024", ".writing-w0003-L01024", "x"):
        assert UnitKey.from_name(name) is None


@pytest.mark.parametrize("with_rows", [True, False])
def test_round_trip(with_rows, small_run, tmp_path):
    tables = small_run.unit_tables(UnitKey(2, 8), with_rows=with_rows)
    write_unit(tmp_path, tables)
    found = read_unit(tmp_path, UnitKey(2, 8), with_rows=True)
    assert found.key == tables.key
    assert found.facts == tables.facts
    assert found.frames().keys() == tables.frames().keys()
    for name, frame in tables.frames().items():
        assert found.frames()[name].equals(checked(name, frame))
    assert read_unit(tmp_path, UnitKey(2, 8)).rows is None
    assert [place.name for place in (tmp_path / "units").iterdir()] == ["w0002-L00008"]
    files = {place.name for place in (tmp_path / "units" / "w0002-L00008").iterdir()}
    assert files == {f"{name}.parquet" for name in tables.frames()} | {"unit.json"}


def test_facts_that_are_not_finite_come_back(tables, tmp_path):
    facts = UnitFacts(loss=math.nan, tokens=1, start=0, distrusted={"a": math.inf}, tapped=("b",))
    write_unit(tmp_path, dataclasses.replace(tables, facts=facts))
    found = read_facts(tmp_path, tables.key)
    assert found.loss is not None
    assert math.isnan(found.loss)
    assert dataclasses.replace(found, loss=0.0) == dataclasses.replace(facts, loss=0.0)
    nothing = UnitFacts(loss=None, tokens=1, start=0)
    assert UnitFacts.from_json(json.loads(json.dumps(dataclasses.asdict(nothing)))) == nothing


def test_the_first_of_two_equal_units_stays(tables, tmp_path):
    write_unit(tmp_path, tables)
    file = unit_folder(tmp_path, tables.key) / "unit.json"
    before = file.read_bytes()
    later = dataclasses.replace(tables, facts=UnitFacts(loss=9.0, tokens=1, start=0))
    write_unit(tmp_path, later)
    assert file.read_bytes() == before


def test_a_damaged_unit_is_written_anew(tables, tmp_path):
    write_unit(tmp_path, tables)
    (unit_folder(tmp_path, tables.key) / "heads.parquet").unlink()
    assert not is_whole(tmp_path, tables.key)
    write_unit(tmp_path, tables)
    assert is_whole(tmp_path, tables.key)


def test_rows_of_another_unit_are_refused(tables, tmp_path):
    other: UnitTables = dataclasses.replace(tables, key=UnitKey(7, 16))
    with pytest.raises(InputError) as error:
        write_unit(tmp_path, other)
    assert str(error.value) == "the table heads of w0007-L00016 has rows of w0000-L00016"
    assert list(tmp_path.iterdir()) == []


def test_another_schema_is_refused_before_anything_is_written(tables, tmp_path):
    wrong = dataclasses.replace(tables, rows=tables.rows.with_columns(pl.col("row").cast(pl.Int32)))
    with pytest.raises(InputError, match=r"^not the table rows: 'row' is Int32, not Int64$"):
        write_unit(tmp_path, wrong)
    assert list(tmp_path.iterdir()) == []


def test_a_unit_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match=r"has no unit w0000-L00008$"):
        read_unit(tmp_path, UnitKey(0, 8))


def test_a_write_that_stops_midway_leaves_nothing(tmp_path, small_run):
    """The kernel stops the child's files at 4 kB: polars fails with bytes already written."""
    program = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2]); import small_run\n"
        "from headgauge.runs import write_unit\n"
        "tables = small_run.unit_tables(small_run.KEYS[0], queries=100)\n"
        "try: write_unit(Path(sys.argv[1]), tables)\n"
        "except ValueError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), str(Path(small_run.__file__).parent)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
    )
    assert done.stdout.startswith("the largest file allowed is reached while writing"), done
    assert f"{tmp_path}/units/w0000-L00008 (" in done.stdout
    assert list((tmp_path / "units").iterdir()) == []
