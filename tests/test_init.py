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


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_packages_are_there_after_a_plain_import():
    code = "import headgauge; print(headgauge.normalizers.get('entmax', alpha=1.5).name)"
    assert python(code) == "entmax"
    assert (
        python(
            "import headgauge; print(headgauge.theory.normalization.coverage.heads_needed(.8, .99))"
        )
        == "3"
    )


def test_a_plain_import_shows_every_name_and_does_not_bring_torch():
    code = "import headgauge, sys; print(*dir(headgauge), 'torch' in sys.modules)"
    shown = python(code).split()
    assert shown == [*sorted(headgauge.__all__), "False"]


def test_every_name_that_is_shown_is_there():
    for name in dir(headgauge):
        assert getattr(headgauge, name) is not None
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
    held = {Reproduction: {"scan"}, ScanResult: {"heads", "curves", "samples", "depth"}}
    assert worked_out == held.get(kind, set())


def test_an_unknown_attribute_is_an_attribute_error():
    assert python("import headgauge; print(hasattr(headgauge, 'nonsense'))") == "False"
