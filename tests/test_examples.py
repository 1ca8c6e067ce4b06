"""The examples in docstrings are run as they stand."""

import doctest
import importlib
import pkgutil

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
