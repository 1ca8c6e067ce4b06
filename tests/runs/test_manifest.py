import getpass
import json
import re
from pathlib import Path

import pytest

from headgauge.runs import Data, EdgeToken, Model, Splits, manifest
from headgauge.runs.json_files import json_text
from headgauge.runs.manifest import FORMAT, Manifest, first_manifest, now

NONE = EdgeToken(put=False, id=None, why="not asked", file=None, tokenizer=None)

# In their order; an outlook is there only where one was asked for.
REQUIRED = [name for name in Manifest.__annotations__ if name in Manifest.__required_keys__]


@pytest.fixture
def described(tmp_path):
    return manifest(
        {"model": str(tmp_path / "gpt2"), "lengths": (8, 16), "rule": {"name": "softmax"}},
        "cpu",
        research_type="measurement of a trained model",
        pseudocode="the measures of Algorithms 2 and 4",
        data=Data(name="prose", sha256="ab" * 32, origin=str(tmp_path / "prose.txt"), tokens=99),
        splits=Splits(offset=0, windows=3, lengths=[8, 16], bos=NONE, eos=NONE),
        model=Model(
            name="gpt2", source="folder", quantisation=None, sha256=None, fingerprint="cd", facts={}
        ),
        seeds={"rows": 7},
        notes=[f"no copy kept: {Path.home()}/.cache is full", f"see {Path.cwd()}/x"],
    )


def test_every_reproducibility_variable_is_answered(described):
    assert list(described) == REQUIRED
    assert described["format"] == FORMAT
    assert described["status"] == "running"
    for name in ("research_type", "pseudocode", "source_code", "data", "splits", "hardware"):
        assert described[name], name
    for name in ("software", "settings", "seeds", "model"):
        assert described[name], name


def test_it_survives_json_unchanged(described):
    assert json.loads(json_text(described)) == described
    assert described["settings"]["lengths"] == [8, 16]


def test_nothing_of_the_machine_is_in_it(described, tmp_path):
    text = json_text(described)
    for part in (tmp_path, tmp_path.parent, Path.home(), Path.cwd(), Path(__file__).parent):
        assert str(part) not in text
    assert not re.search(r'"[^"]*(?<![\w:/])/\w+/[^"]*"', text)
    # Where a test runs as root, the name is too short a word to look for.
    if getpass.getuser() != "root":
        assert f"/{getpass.getuser()}" not in text
    assert described["settings"]["model"] == "gpt2"
    assert described["data"]["origin"] == "prose.txt"
    assert described["notes"] == ["no copy kept: .cache is full", "see x"]


def test_a_folder_begins_with_the_same_form():
    assert list(first_manifest({})) == REQUIRED


def test_times_are_utc():
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", now())
