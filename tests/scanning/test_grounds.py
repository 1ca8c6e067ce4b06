"""What an outlook's intervals stand on."""

import polars as pl

from headgauge.options import options
from headgauge.options.commands import ScanOptions
from headgauge.scanning.grounds import TESTED_REACH, grounds


def _trends(target: int, lengths: int, *freedom: float | None) -> pl.DataFrame:
    """What `grounds` reads of a table of trends over lengths up to 512."""
    schema = {"target": pl.Int64, "longest": pl.Int64, "lengths": pl.Int64, "freedom": pl.Float64}
    rows = [(target, 512, lengths, each) for each in freedom]
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_in_words_and_numbers() -> None:
    found = grounds(_trends(2048, 3, 1.0, 2.5, None, 1.5))
    assert found.fewest == 3
    assert found.freedom == {"least": 1.0, "median": 1.5, "most": 2.5}
    assert found.tested()
    (line,) = found.notes()
    assert line.startswith("intervals at 2048 tokens: 3 lengths leave 1 degree of freedom for the")
    assert "unsteady" in line
    assert line.endswith("with the spread of the windows 1.0 to 2.5, median 1.5")
    assert found.as_dict()["degrees_of_freedom"] == found.freedom
    (line,) = grounds(_trends(2048, 4, 2.0)).notes()
    assert "4 lengths leave 2 degrees of freedom" in line
    assert "unsteady" not in line


def test_beyond_what_was_tested() -> None:
    at, beyond = (grounds(_trends(target, 4, 2.0)) for target in (4 * 512, 4 * 512 + 1))
    assert at.tested()
    assert len(at.notes()) == 1
    assert not beyond.tested()
    assert beyond.notes()[1].startswith("never tested: 2049 tokens are 4.002 times the longest")
    assert "up to 4 times (2048 tokens here)" in beyond.notes()[1]
    assert not beyond.as_dict()["tested"]


def test_without_an_interval() -> None:
    found = grounds(_trends(1024, 2, None))
    assert (found.fewest, found.freedom) == (None, None)
    assert found.notes() == ["no intervals at 1024 tokens: they need three lengths or more"]
    assert found.as_dict()["degrees_of_freedom"] is None


def test_the_help_names_the_limit() -> None:
    assert f"up to {TESTED_REACH} times" in options(ScanOptions)["target_length"].help
