import importlib.util
import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def small_run():
    """The module `small_run.py`, which also runs as a process."""
    path = Path(__file__).with_name("small_run.py")
    spec = importlib.util.spec_from_file_location("small_run", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def unit(small_run):
    """One unit with all its tables."""
    return small_run.unit_tables(small_run.KEYS[1])


@pytest.fixture(scope="session")
def made_once(small_run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made") / "made"
    small_run.make(folder, seed=0)
    return folder


@pytest.fixture
def made(made_once, tmp_path):
    """The folder of a finished run."""
    return shutil.copytree(made_once, tmp_path / "made")
