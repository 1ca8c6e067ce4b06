"""The wheel has what headgauge needs, and the files that name a version name the same."""

import tomllib
import zipfile
from contextlib import chdir
from importlib.metadata import version
from pathlib import Path

import yaml
from hatchling.build import build_wheel
from packaging.requirements import Requirement
from packaging.version import Version

import headgauge

ROOT = Path(__file__).parents[1]


def test_the_wheel_has_every_file(tmp_path):
    with chdir(ROOT):
        name = build_wheel(str(tmp_path))
    with zipfile.ZipFile(tmp_path / name) as wheel:
        inside = set(wheel.namelist())
        about = f"headgauge-{headgauge.__version__}.dist-info"
        assert b"headgauge = headgauge.__main__:main" in wheel.read(f"{about}/entry_points.txt")
    source = ROOT / "src"
    files = (path for path in source.rglob("*") if path.is_file())
    needed = {
        path.relative_to(source).as_posix() for path in files if "__pycache__" not in path.parts
    }
    assert sum(path.startswith("headgauge/report/page/assets/") for path in needed) > 20
    assert {path for path in inside if not path.startswith(about)} == needed


def test_no_numba_is_allowed_whose_inner_parts_were_not_tried():
    """kernels.py replaces some of them: one that has others would end every process at import."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [Requirement(each) for each in project["dependencies"]]
    (allowed,) = (each.specifier for each in needed if each.name == "numba")
    tried = Version(version("numba"))
    assert f"{tried.major}.{tried.minor}.99" in allowed
    assert f"{tried.major}.{tried.minor + 1}" not in allowed


def test_the_citation_has_the_version():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == headgauge.__version__
    assert [each["url"][-10:] for each in cited["references"]] == ["2508.17821", "2510.22026"]
