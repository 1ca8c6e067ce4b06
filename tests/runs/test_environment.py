import importlib.metadata
import importlib.util
import shutil
import subprocess
import sys

import pytest

import headgauge
from headgauge.runs import environment
from headgauge.runs.environment import PACKAGES, hardware, software, source_code


def test_versions_are_the_installed_ones():
    found = software()
    assert list(found) == ["python", "platform", *PACKAGES]
    assert found["polars"] == importlib.metadata.version("polars")
    assert found["python"] == ".".join(str(part) for part in sys.version_info[:3])


def test_a_package_that_is_not_there_has_no_version(monkeypatch):
    monkeypatch.setattr("headgauge.runs.environment.PACKAGES", ("no-such-package",))
    assert software()["no-such-package"] is None


def test_hardware_has_numbers():
    found = hardware("cuda:0", gpu="a card")
    assert found["cpu"]
    assert found["threads"] >= 1
    assert found["memory_bytes"] > 1 << 28
    assert (found["device"], found["gpu"]) == ("cuda:0", "a card")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_package_has_no_commit_and_a_checkout_has(tmp_path):
    package = tmp_path / "src" / "headgauge"
    copied = package / "runs" / "environment.py"
    copied.parent.mkdir(parents=True)
    shutil.copy(environment.__file__, copied)
    spec = importlib.util.spec_from_file_location("copied_environment", copied)
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    (tmp_path / ".gitignore").write_text("__pycache__\n")
    none = {"name": "headgauge", "version": headgauge.__version__, "commit": None, "dirty": None}
    assert copy.source_code() == none
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"]):
        subprocess.run([*git, *command], check=True)
    asked = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    committed = none | {"commit": asked.stdout.strip(), "dirty": False}
    assert copy.source_code() == committed
    (tmp_path / "result.txt").write_text("not part of the code")
    assert copy.source_code() == committed
    (package / "new.py").write_text("")
    assert copy.source_code() == committed | {"dirty": True}


def test_this_code_says_its_version():
    assert source_code()["version"] == headgauge.__version__
