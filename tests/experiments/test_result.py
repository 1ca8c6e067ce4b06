import json

import pytest

from headgauge.errors import InputError
from headgauge.experiments import Reproduction
from headgauge.experiments.result import read_timing


def test_a_reproduction_is_read_from_its_folder(kept):
    read = Reproduction.load(kept.folder)
    assert read.folder == kept.folder
    assert read.paper.keys() == kept.paper.keys()
    for name, table in kept.paper.items():
        assert read.paper[name].equals(table), name
    assert read.timing == tuple(json.loads(json.dumps(kept.timing)))
    assert len(read.timing) == 5
    assert read.scan.heads.equals(kept.scan.heads)
    assert read.scan.untrained() == kept.scan.untrained() is not None


def test_a_folder_is_told_from_that_of_a_scan(kept, tmp_path):
    assert Reproduction.is_in(kept.folder)
    assert not Reproduction.is_in(tmp_path)
    with pytest.raises(InputError, match="is no run of headgauge"):
        Reproduction.load(tmp_path)


def test_without_a_folder_nothing_is_kept_or_drawn(found):
    assert found.folder is None
    with pytest.raises(InputError, match="has no folder"):
        found.keep()
    with pytest.raises(InputError, match="has no folder to draw into"):
        found.draw()


def test_keeping_twice_is_the_same_bytes(kept, parquet_bytes):
    before = parquet_bytes(kept.folder)
    timing = (kept.folder / "timing.json").read_bytes()
    kept.keep()
    assert parquet_bytes(kept.folder) == before
    assert (kept.folder / "timing.json").read_bytes() == timing


def test_times_that_are_not_there_are_none(tmp_path):
    assert read_timing(tmp_path) == ()
