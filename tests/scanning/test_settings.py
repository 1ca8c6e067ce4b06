"""Choices that make no sense are refused in one line that names them."""

import pytest

from headgauge.errors import InputError
from headgauge.runs import UnitKey
from headgauge.scanning.settings import ScanSettings, scan_task


@pytest.mark.parametrize(
    ("choice", "line"),
    [
        ({"lengths": (1,)}, "at least 2 tokens, got length 1"),
        ({"windows": 0}, "windows 0 must be at least 1"),
        ({"offset": -1}, "offset -1 at least 0"),
        ({"top_ns": (0, 1)}, "numbers of 1 or more, got 0, 1"),
        ({"top_ns": ()}, "numbers of 1 or more"),
        ({"top_ns": (1, 1024)}, "top-N must stay below, got 1024"),
        ({"vectors": ("values",)}, "no vectors named 'values'; there are embedding, hidden"),
        ({"vectors": ()}, "vectors needs at least one of"),
        ({"keys": ("masked",)}, "no keys named 'masked'; there are visible, all"),
        ({"precision": "float16"}, "no precision named 'float16'"),
        ({"bos": "maybe"}, "no bos named 'maybe'"),
        ({"threads": 0}, "threads must be in 1 to 1024, got 0"),
        ({"threads": 100_000}, "threads must be in 1 to 1024, got 100000"),
        ({"seed": -1}, "seed must be in 0 to 9223372036854775807, got -1"),
        ({"seed": 2**70}, "seed must be in 0 to 9223372036854775807, got 1180591620717411303424"),
        ({"seed": 10**5000}, "seed must be in 0 to 9223372036854775807, got one of 16610 bits"),
    ],
)
def test_refused(choice, line):
    with pytest.raises(InputError) as error:
        ScanSettings(**choice)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_a_run_without_depth_is_what_it_was_before_there_was_one():
    assert "depth" not in ScanSettings().as_dict()
    assert ScanSettings(depth=True).as_dict() == ScanSettings().as_dict() | {"depth": True}
    assert scan_task(ScanSettings(depth=True), UnitKey(0, 1024)).depth
    assert not scan_task(ScanSettings(), UnitKey(0, 1024)).depth


def test_the_main_length_is_the_longest():
    settings = ScanSettings(lengths=(128, 512, 256), top_ns=(1, 300))
    assert settings.length == 512
    assert settings.as_dict()["lengths"] == (128, 512, 256)
    assert {request.scale for request in scan_task(settings, UnitKey(0, 512)).curves} == {"unit"}
    assert scan_task(ScanSettings(raw=True), UnitKey(0, 1024)).curves[0].scale == "raw"
