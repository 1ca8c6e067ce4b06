"""The examples in docstrings are run as they stand, those in examples/ at a small size."""

import doctest
import importlib
import importlib.util
import pkgutil
from pathlib import Path

import headgauge

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


def test_checkpoints_of_a_training_can_be_compared(tmp_path):
    path = Path(__file__).parents[1] / "examples" / "checkpoints.py"
    spec = importlib.util.spec_from_file_location("checkpoints", path)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    example.LENGTH = 64
    whole = example.small_model

    def shallow(seed):
        model = whole(seed)
        del model.model.layers[2:]
        model.config.num_hidden_layers = 2
        return model

    example.small_model = shallow
    example.train([0, 3], tmp_path, batch=1, windows=2)
    found = headgauge.compare(*sorted(tmp_path.iterdir()))
    (loss,) = found.measures().filter(measure="loss").to_dicts()
    assert loss["difference"] < 0.0
