"""The examples in docstrings are run as they stand."""

import doctest
import importlib
import pkgutil

import pytest

import headgauge

MODULES = [
    info.name
    for info in pkgutil.walk_packages(headgauge.__path__, "headgauge.")
    if not info.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    found = [case for name in MODULES for case in finder.find(importlib.import_module(name))]
    assert sum(bool(case.examples) for case in found) >= 4
