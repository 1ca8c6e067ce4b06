"""The engine's tests with every index of the compiled rows looked at (`test_within_bounds`).

Run with NUMBA_BOUNDSCHECK=1 and an empty cache: what is compiled without the check is cached
under the same name. Not all tests: those that go into every compiled function, in both precisions
and with threads; the rest would repeat them for theory's sake.
"""

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
CHOSEN = (
    "not torch and not checks and not within_bounds and not real_rows and not edge_of_the_ball "
    "and not numba_is_missing and (identical or not (rows_and_vectors or on_every_kind))"
)


def tests_pass() -> None:
    code = pytest.main(
        [str(HERE), str(HERE.parent / "normalizers" / "test_kernels.py"), "-k", CHOSEN, "-q",
         "-p", "no:cacheprovider", "--rootdir", str(HERE.parent.parent)]
    )  # fmt: skip
    assert code == pytest.ExitCode.OK, code


def every_kernel_was_compiled() -> None:
    from numba.core.dispatcher import Dispatcher

    from headgauge import engine

    names = [f"headgauge.engine.{file.stem}" for file in Path(engine.__path__[0]).glob("*rows.py")]
    kernels = {
        f"{module}.{name}": function
        for module in [*names, "headgauge.normalizers.entmax_rows"]
        for name, function in vars(importlib.import_module(module)).items()
        if isinstance(function, Dispatcher)
    }
    assert len(kernels) > 60, len(kernels)
    missed = [name for name, kernel in kernels.items() if not kernel.signatures]
    assert not missed, missed


def an_index_too_far_is_noticed() -> None:
    """In each of the ways in which rows are compiled."""
    import numpy as np

    from headgauge.engine import change_rows, separation_rows, sharpness_rows
    from headgauge.normalizers import entmax_rows

    three, none = np.ones(3), np.empty(0)
    places, hidden = np.empty(0, np.int64), np.zeros(3, np.bool_)
    too_far: dict[str, Callable[[], Any]] = {
        "compiled": lambda: entmax_rows._find_candidates(three, hidden, 1.0, none, places),
        "fused": lambda: separation_rows._least(three, three, 5),
        "literal": lambda: change_rows._near(three, three, 1.0, 5, np.empty(5)),
        "summed": lambda: sharpness_rows._place(three, 0.0, 1.0, np.empty(0, np.int32)),
    }
    for way, call in too_far.items():
        try:
            call()
        except IndexError:
            continue
        raise AssertionError(f"{way} rows are not checked")


if __name__ == "__main__":
    # Unchecked, an index too far would write anywhere.
    assert os.environ.get("NUMBA_BOUNDSCHECK") == "1", "set NUMBA_BOUNDSCHECK=1"
    tests_pass()
    every_kernel_was_compiled()
    an_index_too_far_is_noticed()
