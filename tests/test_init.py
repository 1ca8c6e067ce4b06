import subprocess
import sys
from functools import cached_property

import pytest

import headgauge
from headgauge.paper import Reproduction
from headgauge.runs import Run
from headgauge.scanning import ScanResult
from headgauge.scanning.grounds import Grounds
from headgauge.simulation import Simulation


def test_a_plain_import_shows_every_name_and_brings_what_is_used():
    code = """
import headgauge, sys
print(*dir(headgauge))
print(headgauge.errors.InputError.__name__, hasattr(headgauge, "nonsense"), "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names, used = done.stdout.splitlines()
    assert names.split() == sorted(headgauge.__all__)
    assert used == "InputError False False"


def test_every_name_that_is_shown_is_there():
    for name in dir(headgauge):
        assert getattr(headgauge, name) is not None
    for name in set(dir(headgauge)) - {"__version__"}:  # as when it is asked for the first time
        assert headgauge.__getattr__(name) is getattr(headgauge, name)
    assert headgauge.load is headgauge.models.load
    assert headgauge.reproduce is headgauge.paper.reproduce
    assert headgauge.simulate is headgauge.simulation.simulate


@pytest.mark.parametrize("kind", [ScanResult, Reproduction, Simulation, Run, Grounds])
def test_what_a_run_holds_is_an_attribute_and_what_is_worked_out_is_called(kind):
    worked_out = {
        name
        for name, made in vars(kind).items()
        if isinstance(made, (property, cached_property)) and not name.startswith("_")
    }
    # The first of the scans that a reproduction holds; tables by their names.
    held = {Reproduction: {"scan"}, ScanResult: {"heads", "curves", "samples", "depth", "spans"}}
    assert worked_out == held.get(kind, set())
