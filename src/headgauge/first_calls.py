"""The kernels that a command needs, each called once for no rows, which compiles it.

`python -m headgauge.first_calls scan 0` is one of the processes that `headgauge.first_use`
starts. All of them make the same calls in another order: who comes second to one finds it compiled,
or waits for it. A line says how many kernels there are to compile before a command can measure, a
second one that they are.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch

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
from headgauge.normalizers import entmax_rows
from headgauge.particles import Attention, InnerProducts, gap_rows, integrate, schemes


class Call(NamedTuple):
    """What is called, and the kernels that it enters."""

    make: partial[Any]
    kernels: tuple[Any, ...]


def calls(what: str) -> tuple[list[Call], list[Call]]:
    """What has to be there before anything is measured, and what is rarely needed or later: rows
    that single precision leaves to double, other rules, and of the paper's reproduction
    Algorithm 5. The longest come first."""
    single, double = np.float32, np.float64
    if what == "simulate":
        return [_simulated()], []
    in_double = [_walk(double), *_before(double)]
    if what == "scan-float64":
        return [*in_double, *_row_measures(single)], []
    first = [_walk(single), *_row_measures(single), *_before(single)]
    then = in_double
    if what == "compare":
        then.insert(0, _entmax(single, 1e-10))
    if what == "reproduce":
        rules = _entmax(single, 1e-10), _entmax(double, 1e-15)
        then += [*rules, *_row_measures(double), *_sensitivity()]
    return first, then


def _rows(kernel: Any, *arguments: Any) -> Call:
    return Call(partial(kernel, *arguments, 0, 0), (kernel,))


def _before(real: type) -> Iterator[Call]:
    whole, seen = np.zeros((1, 1), real), np.ones((1, 1), np.bool_)
    spans, places = np.zeros(1, selection_rows.SPAN), np.zeros((1, 1), np.int32)
    counts = np.ones(1, np.int64)
    yield _rows(selection_rows.select, whole, seen, False, counts, spans, places, seen[0])
    norms2, squares, at = np.zeros(1, real), np.zeros(1), np.zeros(1, np.int64)
    products = np.zeros((1, 1))
    yield _rows(separability_rows.nearest_before, products, whole, 0, norms2, 0.0, at, squares)


def _walk(real: type) -> Call:
    whole, seen, at = np.zeros((1, 1), real), np.ones((1, 1), np.bool_), np.zeros(1, np.int64)
    spans, places = np.zeros(1, selection_rows.SPAN), np.zeros((1, 1), np.int32)
    block = rows.Block(whole, seen, False, np.ones(1, np.int64), spans, places, whole, whole)
    squares, norms2 = np.zeros(1), np.zeros(1, real)
    shared = rows.Shared(
        True, np.zeros((1, 1)), norms2, at, squares, at, squares, whole, at
    )  # fmt: skip
    return _rows(rows.measure, block, shared, np.zeros((1, 1), TABLE), seen[0])


def _row_measures(real: type) -> Iterator[Call]:
    whole, seen, logs = np.zeros((1, 1), real), np.ones((1, 1), np.uint8), np.zeros(1)
    out = np.zeros(1, concentration_rows.MEASURES)
    yield _rows(concentration_rows.measure, seen, whole, whole, whole, logs, out)
    out, at = np.zeros(1, look_rows.LOOKS), np.zeros(1, np.int64)
    yield _rows(look_rows.measure, seen, whole, logs, at, at, out)


def _sensitivity() -> Iterator[Call]:
    whole, row = np.zeros((1, 1)), np.zeros(1)
    yield _rows(sensitivity_rows.changes, whole, whole, whole, row, row, whole)
    yield _rows(sensitivity_rows.mean_over_directions, whole, 1, row)


def _entmax(real: type, tolerance: float) -> Call:
    whole, seen, at = np.zeros((1, 1), real), np.ones((1, 1), np.bool_), np.zeros(1, np.int64)
    return _rows(entmax_rows.forward, whole, seen, at, np.zeros(1), tolerance, whole)


def _simulated() -> Call:
    """Of a simulation a small one: what its steps hand to each other is theirs alone."""
    entered = (each for each in vars(gap_rows).values() if hasattr(each, "py_func"))
    return Call(partial(_simulate), tuple(entered))


def _simulate() -> None:
    gaps = 1 - torch.eye(2, dtype=torch.float64)[None]
    attention = Attention(torch.ones(1, dtype=torch.float64))
    system, state = InnerProducts.of(gaps, attention, schemes.get("peri_ln"))
    # Saved between steps too, at the loosest tolerance for which stages are in single precision.
    integrate.states_at(system, state, [0.1, 0.2, 0.3], integrate.SINGLE)


def kernels_in(wanted: list[Call]) -> set[Any]:
    """The kernels that these calls compile, those that they call included."""
    found: set[Any] = set()
    waiting = [kernel for call in wanted for kernel in call.kernels]
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
        for call in wanted if place % 2 == 0 else reversed(wanted):
            call.make()
        if said:
            _say(said)
    first_use.done(what)


def _say(line: object) -> None:
    with suppress(OSError):  # whoever asked has ended; the next will need it
        print(line, flush=True)


if __name__ == "__main__":
    main()
