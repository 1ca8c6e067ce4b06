"""The file that may change thresholds."""

from pathlib import Path

import pytest

from headgauge.errors import InputError
from headgauge.scanning.threshold_file import read_thresholds
from headgauge.scanning.thresholds import DEFAULT, ROLE_LINES


@pytest.fixture
def write(tmp_path: Path):
    def _write(text: str) -> Path:
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return _write


def test_a_file_changes_some_and_leaves_the_rest(write):
    path = write("[diffuse.rest_entropy_share]\nvalue = 0.5\n[saturated.separability]\ntop_n = 8\n")
    read = {threshold.name: threshold for threshold in read_thresholds(path)}
    before = {threshold.name: threshold for threshold in (*DEFAULT, *ROLE_LINES)}
    assert list(read) == list(before)
    assert read["diffuse.rest_entropy_share"].value == 0.5
    assert read["diffuse.rest_entropy_share"].source == "mine.toml"
    assert read["diffuse.rest_entropy_share"].remedy == before["diffuse.rest_entropy_share"].remedy
    assert read["saturated.separability"].top_n == 8
    assert read["saturated.separability"].value == before["saturated.separability"].value
    for name in before.keys() - {"diffuse.rest_entropy_share", "saturated.separability"}:
        assert read[name] == before[name]


def test_an_empty_file_changes_nothing(write):
    assert read_thresholds(write("")) == (*DEFAULT, *ROLE_LINES)
    assert read_thresholds(str(write("# nothing\n"))) == (*DEFAULT, *ROLE_LINES)


def test_a_whole_number_is_a_value(write):
    read = read_thresholds(write("[unstable.max_logit]\nvalue = 50\n"))
    value = next(t for t in read if t.measure == "max_logit").value
    assert value == 50
    assert isinstance(value, float)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "[sunk.rest_entropy_share]\nvalue = 1",
            "no threshold 'sunk.rest_entropy_share', only saturated.",
        ),
        ("[diffuse.entropy]\nvalue = 1", "no threshold 'diffuse.entropy'"),
        ("diffuse = 0.3", "diffuse must be a table"),
        ("[diffuse]\nrest_entropy_share = 0.3", "diffuse.rest_entropy_share must be a table"),
        (
            "[diffuse.rest_entropy_share]\ncut = 0.3",
            "cut of diffuse.rest_entropy_share cannot be set, only value",
        ),
        (
            "[diffuse.rest_entropy_share]\ntop_n = 4",
            "top_n of diffuse.rest_entropy_share cannot be set",
        ),
        (
            "[diffuse.rest_entropy_share]\nsource = 'me'",
            "source of diffuse.rest_entropy_share cannot be set",
        ),
        (
            "[diffuse.rest_entropy_share]\nvalue = '0.3'",
            "must be a number between 0 and 1, got '0.3'",
        ),
        (
            "[diffuse.rest_entropy_share]\nvalue = true",
            "must be a number between 0 and 1, got True",
        ),
        ("[diffuse.rest_entropy_share]\nvalue = 30", "must be a number between 0 and 1, got 30"),
        ("[diffuse.rest_entropy_share]\nvalue = nan", "must be a number between 0 and 1, got nan"),
        ("[unstable.jacobian_norm]\nvalue = 0.6", "between 0 and 0.5, got 0.6"),
        ("[unstable.max_logit]\nvalue = -1", "must be a number above 0, got -1"),
        ("[unstable.max_logit]\nvalue = inf", "must be a number above 0, got inf"),
        ("[saturated.separability]\ntop_n = 0", "must be a whole number from 1 on, got 0"),
        ("[saturated.separability]\ntop_n = 8.0", "must be a whole number from 1 on, got 8.0"),
        ("[saturated.separability]\ntop_n = true", "must be a whole number from 1 on"),
        ("[saturated.separability]\nvectors = 'keys'", "must be one of value, hidden, embedding"),
        ("[saturated.separability]\nscale = 1", "must be one of unit, raw, got 1"),
        ("[saturated.separability]\nkeys = ['all']", "must be one of visible, all"),
        ("[sink", "is no TOML file"),
        (f"[unstable.max_logit]\nvalue = 1{'0' * 400}", "must be a number above 0, got 1000000"),
        (f"[unstable.max_logit]\nvalue = 1{'0' * 5000}", "is no TOML file"),
        ("[unstable.max_logit]\nvalue = nan", "must be a number above 0, got nan"),
        (f"[saturated.separability]\ntop_n = 1{'0' * 30}", "must be a whole number from 1 on"),
        (f"a = {'[' * 9999}", "is no TOML file"),
        (f"[unstable.max_logit.value{'.a' * 999}]", "must be a number above 0, got {'a': {'a'"),
    ],
)
def test_a_mistake_is_told_in_one_line(write, text, words):
    with pytest.raises(InputError) as told:
        read_thresholds(write(text))
    assert words in str(told.value)
    assert "mine.toml" in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_that_is_not_there(tmp_path: Path):
    with pytest.raises(InputError, match=r"cannot read the thresholds .*: No such file"):
        read_thresholds(tmp_path / "none.toml")
    with pytest.raises(InputError, match="cannot read the thresholds"):
        read_thresholds(tmp_path)


def test_a_file_that_is_no_text(tmp_path: Path):
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="is no TOML file"):
        read_thresholds(tmp_path / "mine.toml")
