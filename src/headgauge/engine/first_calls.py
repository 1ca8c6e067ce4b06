"""The kernels that a command needs, each called once for no rows, which compiles it.

`python -m headgauge.engine.first_calls scan 0` is one of the processes that `headgauge.first_use`
starts. All of them make the same calls in another order: who comes second to one finds it compiled,
or waits for it. A line says how many kernels there are to compile before a command can measure, a
second one that they are.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from headgauge import first_use
from headgauge.engine import (
    concentration_rows,
    look_rows,
    rows,
    selection_rows,
    sensitivity_rows,
    separability_rows,
)
from headgauge.engine.curves import TABLE

Call = tuple[Any, tuple[Any, ...]]


def calls(what: str) -> tuple[list[Call], list[Call]]:
    """What has to be there before anything is measured, and what is rarely needed or later: rows
    that single precision leaves to double, and of the paper's reproduction Algorithm 5. The longest
    come first."""
    single, double = np.float32, np.float64
    in_double = [_walk(double), *_before(double)]
    if what == "scan-float64":
        return [*in_double, *_row_measures(single)], []
    first = [_walk(single), *_row_measures(single), *_before(single)]
    then = in_double
    if what == "reproduce":
        then += [*_row_measures(double), *_sensitivity()]
    return first, then


def _before(real: type) -> Iterator[Call]:
    whole, seen = np.zeros((1, 1), real), np.ones((1, 1), np.bool_)
    spans, places = np.zeros(1, selection_rows.SPAN), np.zeros((1, 1), np.int32)
    yield (
        selection_rows.select,
        (whole, seen, False, np.ones(1, np.int64), spans, places, seen[0]),
    )
    norms2, squares, at = np.zeros(1, real), np.zeros(1), np.zeros(1, np.int64)
    yield separability_rows.nearest_before, (np.zeros((1, 1)), whole, 0, norms2, 0.0, at, squares)


def _walk(real: type) -> Call:
    whole, seen, at = np.zeros((1, 1), real), np.ones((1, 1), np.bool_), np.zeros(1, np.int64)
    spans, places = np.zeros(1, selection_rows.SPAN), np.zeros((1, 1), np.int32)
    block = rows.Block(whole, seen, False, np.ones(1, np.int64), spans, places, whole, whole)
    squares, norms2 = np.zeros(1), np.zeros(1, real)
    shared = rows.Shared(
        True, np.zeros((1, 1)), norms2, at, squares, at, squares, whole, at
    )  # fmt: skip
    return rows.measure, (block, shared, np.zeros((1, 1), TABLE), seen[0])


def _row_measures(real: type) -> Iterator[Call]:
    whole, seen, logs = np.zeros((1, 1), real), np.ones((1, 1), np.uint8), np.zeros(1)
    out = np.zeros(1, concentration_rows.MEASURES)
    yield concentration_rows.measure, (seen, whole, whole, whole, logs, out)
    out = np.zeros(1, look_rows.LOOKS)
    yield look_rows.measure, (seen, whole, logs, np.zeros(1, np.int64), np.zeros(1, np.int64), out)


def _sensitivity() -> Iterator[Call]:
    whole, row = np.zeros((1, 1)), np.zeros(1)
    yield sensitivity_rows.changes, (whole, whole, whole, row, row, whole)
    yield sensitivity_rows.mean_over_directions, (whole, 1, row)


def kernels_in(wanted: list[Call]) -> set[Any]:
    """The kernels that these calls compile, those that they call included."""
    found: set[Any] = set()
    waiting = [kernel for kernel, _ in wanted]
    while waiting:
        kernel = waiting.pop()
        found.add(kernel)
        function = kernel.py_func
        named = (function.__globals__.get(name) for name in function.__code__.co_names)
        waiting += [each for each in named if hasattr(each, "py_func") and each not in found]
    return found


def main() -> None:
    what, place = sys.argv[1], int(sys.argv[2])
    if what not in first_use.KINDS:
        sys.exit(2)
    first, then = calls(what)
    _say(len(kernels_in(first)))
    parts = [(first, "ready"), (then, "")]
    for wanted, said in parts if place < 2 else reversed(parts):
        for kernel, arguments in wanted if place % 2 == 0 else reversed(wanted):
            kernel(*arguments, 0, 0)
        if said:
            _say(said)
    first_use.done(what)


def _say(line: object) -> None:
    with suppress(OSError):  # whoever asked has ended; the next will need it
        print(line, flush=True)


if __name__ == "__main__":
    main()
