import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.measure.requests import OFF_SINK
from headgauge.models import VECTOR_KINDS
from headgauge.paper import choices
from headgauge.particles.attention import WEIGHTS
from headgauge.particles.schemes import SCHEMES, VARIANTS
from headgauge.runs import columns as known_words
from headgauge.runs.columns import columns
from headgauge.runs.dynamics_schema import CollapseRow, PhaseRow
from headgauge.runs.paper_schema import ChoiceRow, PointRow
from headgauge.runs.schema import KEYS, TABLES, frame_schema
from headgauge.runs.tables import checked, join_tables, scan_table, write_table


def check(name: str, frame: pl.DataFrame) -> pl.DataFrame:
    return checked(name, frame, TABLES[name], KEYS[name])


def read(row: type, path: Path) -> pl.DataFrame:
    return scan_table(row, path).collect()


def test_keys_are_columns_of_their_table():
    assert KEYS.keys() == TABLES.keys()
    for name, keys in KEYS.items():
        assert set(keys) <= set(frame_schema(TABLES[name]))


@pytest.mark.parametrize("name", TABLES)
def test_a_checked_frame_is_sorted(name, unit):
    frame = unit.tables[name]
    keys = frame.select(KEYS[name]).rows()
    assert keys != sorted(keys), "the test needs rows in disorder"
    assert check(name, frame).select(KEYS[name]).rows() == sorted(keys)
    assert check(name, frame).equals(check(name, frame[::-1]))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda frame: frame.drop("entropy"), "no column 'entropy'"),
        (lambda frame: frame.with_columns(extra=1), "a column 'extra' too many"),
        (
            lambda frame: frame.with_columns(pl.col("entropy").cast(pl.Float32)),
            "'entropy' is Float32, not Float64",
        ),
        (
            lambda frame: frame.select("length", "window", pl.exclude("length", "window")),
            "column 0 is 'length', not 'window'",
        ),
        (
            lambda frame: frame.select(pl.all().cast(pl.String)),
            "'window' is String, not Int64; 'length' is String, not Int64; 'layer' is String, "
            "not Int64; …",
        ),
    ],
)
def test_other_columns_are_refused(change, line, unit):
    with pytest.raises(InputError) as error:
        check("heads", change(unit.tables["heads"]))
    assert str(error.value) == f"not the table heads: {line}"


def test_rows_without_or_with_the_same_key_are_refused(unit):
    with pytest.raises(InputError, match=r"the table heads has rows without 'head'$"):
        check("heads", unit.tables["heads"].with_columns(head=pl.lit(None, pl.Int64)))
    line = r"the table heads has two rows for window 0, length 16, layer 1, .*, head 2$"
    twice = pl.concat([unit.tables["heads"], unit.tables["heads"].filter(layer=1, head=2)])
    with pytest.raises(InputError, match=line):
        check("heads", twice)


@pytest.mark.parametrize("name", TABLES)
def test_round_trip(name, unit, tmp_path):
    frame = check(name, unit.tables[name])
    write_table(tmp_path / "a", frame)
    assert read(TABLES[name], tmp_path / "a").equals(frame)


def test_a_file_that_is_no_such_table_is_told(unit, tmp_path):
    path = tmp_path / "a"
    with pytest.raises(InputError, match=r"a is missing; repeat the command that made the run$"):
        read(TABLES["heads"], path)
    write_table(path, unit.tables["curves"])
    line = r"a has other columns than format \d in headgauge .*: no column 'kv_head'; .*, or read"
    with pytest.raises(InputError, match=line):
        read(TABLES["heads"], path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"a is damaged: no parquet file; repeat"):
        read(TABLES["curves"], path)
    path.write_bytes(whole[:8] + bytes(len(whole) // 2) + whole[8 + len(whole) // 2 :])
    with pytest.raises(InputError, match="a is damaged"):
        read(TABLES["curves"], path)


@pytest.mark.parametrize(
    ("name", "column", "value", "said"),
    [
        ("curves", "vectors", "../../x", "with 'vectors' none of value, hidden, embedding, final"),
        ("curves", "scale", "/tmp/x", "with 'scale' none of unit, raw"),
        ("paper_curves", "keys", "", "with 'keys' none of visible, all, off_sink"),
        ("heads", "seen", "qkv ", "with 'seen' none of qkv, softmax"),
        ("heads", "window", -1, "with 'window' below 0"),
        ("heads", "kv_head", None, "without 'kv_head'"),
        ("samples", "module", None, "without 'module'"),
    ],
)
def test_values_that_cannot_be_are_refused(name, column, value, said, unit, tmp_path):
    frame = unit.tables[name]
    whole = pl.lit(value, frame.schema[column])
    # In one row alone, in the middle.
    wrong = frame.with_columns(
        pl.when(pl.int_range(pl.len()) == 5).then(whole).otherwise(column).alias(column)
    )
    with pytest.raises(InputError, match=f"the table {name} has rows {re.escape(said)}$"):
        check(name, wrong)
    write_table(tmp_path / "a", wrong)
    with pytest.raises(InputError, match=f"a is damaged: it has rows {re.escape(said)}; make"):
        read(TABLES[name], tmp_path / "a")


@pytest.mark.parametrize(
    ("row", "column", "value", "said"),
    [
        (PhaseRow, "time", float("nan"), "with 'time' not finite"),
        (PhaseRow, "beta", float("inf"), "with 'beta' not finite"),
        (PhaseRow, "beta", None, "without 'beta'"),
        (CollapseRow, "time", float("-inf"), "with 'time' not finite"),
        (CollapseRow, "collapsed", 1.5, "with 'collapsed' outside 0 to 1"),
        (CollapseRow, "scheme", "x", "with 'scheme' none of post_ln, "),
        (PointRow, "scaled_y", float("-inf"), "with 'scaled_y' no place in a plane"),
        (PointRow, "radius", None, "without 'radius'"),
        (ChoiceRow, "critical_n", 0, "with 'critical_n' below 1"),
        (ChoiceRow, "critical_share", 0.0, "with 'critical_share' not above 0 and up to 1"),
        (ChoiceRow, "critical_share", float("nan"), "with 'critical_share' not above 0"),
    ],
)
def test_numbers_outside_the_range_of_their_column_are_refused(row, column, value, said, tmp_path):
    """Whatever the bytes' own sum says: no figure can be drawn over them."""
    there = {pl.Int64: 1, pl.Float64: 0.5, pl.Boolean: True, pl.String: "x"}
    words = {name: known.words[0] for name, known in columns(row).items() if known.words}
    whole = {name: there[kind] for name, kind in frame_schema(row).items()} | words
    frame = pl.DataFrame([whole, whole], schema=frame_schema(row))
    write_table(tmp_path / "a", frame)
    assert read(row, tmp_path / "a").equals(frame)
    wrong = pl.DataFrame([whole, whole | {column: value}], schema=frame_schema(row))
    write_table(tmp_path / "a", wrong)
    with pytest.raises(InputError, match=f"a is damaged: it has rows {re.escape(said)}"):
        read(row, tmp_path / "a")


def test_a_measure_may_be_null_but_no_key(unit):
    none = pl.lit(None, pl.Float64)
    assert (
        check("heads", unit.tables["heads"].with_columns(entropy=none))["entropy"].null_count()
        == 12
    )
    with pytest.raises(InputError, match="the table sensitivity has rows without 'epsilon'"):
        check("sensitivity", unit.tables["sensitivity"].with_columns(epsilon=none))


def test_the_words_are_those_of_the_rooms_that_write_them():
    assert set(get_args(known_words.Vectors)) == set(VECTOR_KINDS)
    assert set(get_args(known_words.Scale)) == set(choices.SCALES)
    assert set(get_args(known_words.Weights)) == set(WEIGHTS)
    assert set(get_args(known_words.Scheme)) == {*SCHEMES, *VARIANTS, "unnormalised"}
    assert set(get_args(known_words.Keys)) == {*choices.KEYS, OFF_SINK}


LARGE = """
import sys, random
from pathlib import Path
import polars as pl
from headgauge.runs.schema import QueryRow, frame_schema
from headgauge.runs.tables import join_tables, write_table
folder = Path(sys.argv[1])
schema = frame_schema(QueryRow)
for unit, height in enumerate([3, 70_001, 0, 140_000]):
    index = pl.int_range(height, eager=True)
    frame = pl.DataFrame({
        name: (index * 7919 % 1013 / 1013).cast(kind) if kind == pl.Float64
        else ("layers." + (index // 9000).cast(pl.String)) if kind == pl.String
        else index + unit
        for name, kind in schema.items()
    }, schema=schema)
    cut = random.Random(sys.argv[2]).randrange(height + 1)
    write_table(folder / f"{unit}", pl.concat([frame[:cut], frame[cut:]], rechunk=False))
join_tables([folder / f"{unit}" for unit in range(4)], folder / "joined")
"""


def test_bytes_do_not_depend_on_threads_or_chunks(tmp_path):
    """More rows than a row group holds, so that polars has work to share out."""
    found = []
    for threads in ("1", "7"):
        folder = tmp_path / threads
        folder.mkdir()
        subprocess.run(
            [sys.executable, "-c", LARGE, str(folder), threads],
            env=os.environ | {"POLARS_MAX_THREADS": threads},
            check=True,
        )
        found.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert found[0].keys() == {"0", "1", "2", "3", "joined"}
    assert found[0] == found[1]
    joined = pl.read_parquet(tmp_path / "1" / "joined")
    assert joined.equals(pl.concat([pl.read_parquet(tmp_path / "1" / f"{i}") for i in range(4)]))


def test_tables_without_rows_can_be_joined(unit, tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        write_table(path, unit.tables["samples"].clear())
    join_tables(paths, tmp_path / "joined")
    assert read(TABLES["samples"], tmp_path / "joined").height == 0


def test_frames_in_any_order_give_the_same_bytes(unit, tmp_path):
    found = set()
    for seed in range(3):
        rows = unit.tables["curves"].rows()
        random.Random(seed).shuffle(rows)
        frame = pl.DataFrame(rows, schema=unit.tables["curves"].schema, orient="row")
        write_table(tmp_path / "a", check("curves", frame))
        found.add((tmp_path / "a").read_bytes())
    assert len(found) == 1
