import importlib.metadata
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import headgauge
from headgauge.runs.environment import PACKAGES, hardware, software, source_code

ROOT = Path(headgauge.__file__).parents[2]


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


def said_by(package: Path) -> dict:
    """What the code of a copy says of itself."""
    program = (
        "import json; from headgauge.runs import environment as e; "
        "print(json.dumps([e.__file__, e.source_code()]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=package.parent,
        env={"PYTHONPATH": str(package.parent), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    file, found = json.loads(done.stdout)
    assert Path(file).is_relative_to(package)
    return found


def test_a_package_has_no_commit_and_a_checkout_has(tmp_path):
    if shutil.which("git") is None:
        pytest.skip("needs git")
    package = tmp_path / "src" / "headgauge"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(headgauge.__file__).parent, package, ignore=ignored)
    (tmp_path / ".gitignore").write_text("__pycache__\n")
    assert said_by(package) == {
        "name": "headgauge",
        "version": headgauge.__version__,
        "commit": None,
        "dirty": None,
    }
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"]):
        subprocess.run([*git, *command], check=True)
    asked = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
    found = said_by(package)
    assert found["commit"] == asked.stdout.strip()
    assert found["dirty"] is False
    (tmp_path / "result.txt").write_text("not part of the code")
    assert said_by(package)["dirty"] is False
    (package / "new.py").write_text("")
    assert said_by(package)["dirty"] is True


def test_this_code_says_its_version():
    assert source_code()["version"] == headgauge.__version__
