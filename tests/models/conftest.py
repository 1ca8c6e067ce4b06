"""Small models with random weights, and the real default model."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from headgauge import models
from model_families import INSIDE, OUTSIDE, Case, case, case_of, cases

DATA = os.environ.get("HEADGAUGE_DATA_DIR")


@pytest.fixture(scope="module", params=cases(INSIDE))
def inside(request: pytest.FixtureRequest) -> Case:
    """A family that goes through transformers' attention interface."""
    return case_of(request.param)


@pytest.fixture(scope="module", params=cases(OUTSIDE))
def outside(request: pytest.FixtureRequest) -> Case:
    """A family that computes its attention by hand."""
    return case_of(request.param)


@pytest.fixture
def build() -> Callable[[str, str], Case]:
    """A case by the names of its family and implementation."""
    return case


@pytest.fixture(scope="session")
def real_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def fresh_default(real_cache: Path) -> models.LoadedModel:
    """The default model, converted once in this session."""
    pytest.importorskip("gguf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADGAUGE_CACHE_DIR", str(real_cache))
        loaded = models.load()
    return loaded


@pytest.fixture(scope="session")
def prose() -> models.SourceText:
    """War and Peace where it is at hand, else the language reference."""
    return models.read_text("war-and-peace" if DATA else "python-reference")
