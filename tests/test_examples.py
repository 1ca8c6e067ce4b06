"""The examples in docstrings are run as they stand, those in examples/ at a small size."""

import doctest
import importlib
import importlib.util
import pkgutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headgauge
from headgauge.training import TrainingLog

MODULES = [
    info.name
    for info in pkgutil.walk_packages(headgauge.__path__, "headgauge.")
    if not info.name.endswith("__main__")
]


def test_docstring_examples():
    tried = 0
    for name in MODULES:
        found = doctest.testmod(importlib.import_module(name))
        assert found.failed == 0, name
        tried += found.attempted > 0
    assert tried >= 4


def example(name: str) -> Any:
    """What is run as a script finds what is beside it."""
    path = Path(__file__).parents[1] / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"examples_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(path.parent)
        spec.loader.exec_module(module)
    return module


def steps(folder):
    log = headgauge.read_run(folder)
    assert isinstance(log, TrainingLog)
    return log.steps()


def test_checkpoints_of_a_training_can_be_compared(tmp_path):
    checkpoints = example("checkpoints")
    checkpoints.LENGTH, checkpoints.LAYERS = 64, 2
    checkpoints.train([0, 3], tmp_path, batch=1, windows=2)
    found = headgauge.compare(*sorted(tmp_path.iterdir()))
    (loss,) = found.measures().filter(measure="loss").to_dicts()
    assert loss["difference"] < 0.0


def test_a_training_is_judged(tmp_path):
    training = example("training")
    training.LENGTH, training.BATCH, training.EVERY = 32, 2, 2
    training.MEAN, training.LASTING = 2, 2
    found = training.run_all(tmp_path, [0], steps=6, layers=1)
    assert list(found) == ["stable-0", "pushed-0", "clipped-0"]
    assert found["stable-0"]["behind"] is None
    assert found["pushed-0"]["last"] != found["stable-0"]["last"]
    assert steps(tmp_path / "pushed-0")["step"].to_list() == [1, 2, 4, 6]
    before = (tmp_path / "pushed-0" / "log.jsonl").stat().st_mtime_ns
    assert training.run_all(tmp_path, [0], steps=6, layers=1) == found  # nothing is made twice
    assert (tmp_path / "pushed-0" / "log.jsonl").stat().st_mtime_ns == before
    assert training.table(found).row_count == 3


@pytest.mark.parametrize(
    ("gaps", "step"),
    [([0, 0, 1, 1, 1, 1], 7), ([1, 1, 1, 0, 0, 0], 5), ([1, 1, 0, 1, 1, 0], None)],
)
def test_the_loss_shows_it_once_that_has_lasted(gaps, step):
    """A gap belongs to the last of the MEAN steps it was averaged over; steps count from 1."""
    training = example("training")
    training.MEAN, training.LASTING = 3, 3
    assert training.shown(np.array(gaps), 0.5) == step


def test_the_same_with_trainer(tmp_path):
    history = example("training_with_trainer").train(tmp_path, steps=11, length=16, layers=1)
    logged = [each for each in history if "headgauge/max_logit" in each]
    assert [each["step"] for each in logged] == [1, 10]
    assert any("loss" in each for each in history)
    assert steps(tmp_path / "trainer")["step"].to_list() == [1, 10]


@pytest.mark.filterwarnings("ignore")  # Lightning's own, of workers and of what it takes over
def test_the_same_with_lightning(tmp_path):
    pytest.importorskip("lightning")
    example("training_with_lightning").train(tmp_path, steps=11, length=16, layers=1)
    found = steps(tmp_path / "lightning")
    assert found["step"].to_list() == [1, 10]
    assert found["loss"][1] < found["loss"][0]
