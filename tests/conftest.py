"""Shapes in headgauge's signatures are checked by beartype here, and only here."""

import os
from contextlib import nullcontext
from pathlib import Path

# Some virtual machines show AMX and then forbid it: the first bf16 product ends the process. The
# libraries read this when they load.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

import pytest
import torch
from hypothesis import settings

from headgauge import first_use
from shape_checks import check_shapes, shapes_unchecked

check_shapes()
WHOLE = {"cli", "paper", "report", "test_result.py", "test_scanning.py", "test_simulating.py"}
WHOLE |= {"ablation", "exports", "test_bos_check.py", "test_not_finite.py", "test_reading.py"}
WHOLE |= {"test_plan.py", "comparison", "remedies", "test_examples.py", "validation"}
WHOLE |= {"test_spans.py", "test_matrices.py"}
WHOLE |= {"test_estimates.py", "test_unit_under_load.py", "test_depth_prediction.py"}

# Two test processes on two cores: more threads each would only fight.
torch.set_num_threads(1 if os.environ.get("PYTEST_XDIST_WORKER") else torch.get_num_threads())

# A slow machine is no failure, and the same examples everywhere make a failure repeatable.
settings.register_profile("headgauge", deadline=None, derandomize=True)
settings.load_profile("headgauge")


@pytest.fixture(scope="session", autouse=True)
def _nothing_ahead():
    """Nothing is compiled ahead in other processes: the tests compile what they need. A mark that
    all is there would outlive them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(first_use, "start", lambda what: None)
        yield


@pytest.fixture(scope="module", autouse=True)
def _shapes(request):
    """Whole commands, runs and figures are tested for what they say and leave: their pieces have
    tests of their own, where every shape is checked."""
    whole = not WHOLE.isdisjoint(request.path.relative_to(Path(__file__).parent).parts)
    with shapes_unchecked() if whole else nullcontext():
        yield


@pytest.fixture
def unchecked():
    """Signatures as users run them: for very many steps, and for messages behind the signature."""
    with shapes_unchecked():
        yield


def pytest_collection_modifyitems(items):
    """Compiled rows first, and beside them what needs none: what one process compiles while the
    other is at work elsewhere, none compiles or waits for. Then the longest file, so that no
    process is left alone with it at the end."""
    first = ("engine/test_curves", "tests/claims/", "tests/test_docs")

    def turn(item):
        return next((i for i, part in enumerate(first) if part in item.nodeid), len(first))

    items.sort(key=turn)
