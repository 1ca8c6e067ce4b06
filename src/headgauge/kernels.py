"""Loops over rows that numba compiles: how, when and on what threads.

A kernel is marked with one of five names, which say what the compiler may do to its arithmetic:

    compiled   nothing; a division by zero is an error
    fused      reorder sums over finite numbers. Infinities keep their meaning, NaN must not come
    rooted     the same, and take roots in single precision by an estimate and a step of Newton's,
               to 3e-7, in half of the time. For the root alone: infinities must not come either
    literal    nothing; a division by zero is an infinity or a NaN, as in numpy
    summed     reorder sums. Infinities, NaN and divisions by zero keep their meaning

Looking for a zero at every division keeps a loop from becoming vector code: four times slower.
Counting who holds an array, at every slice of it, costs a third of a row that is cut into many: a
kernel that others call may not allocate, and its slices are not counted. What calls it does that.
"""

import contextlib
import dis
import importlib
import inspect
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from headgauge import kernel_cache
from headgauge.kernel_cache import numba

_SMALL = 1 << 16  # entries below which threads cost more than they save
_enabled = True
_helped = threading.local()
_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):  # a forked child has none of the threads
    os.register_at_fork(after_in_child=_pools.clear)


def _compiler(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def compile_rows(function: Callable[..., Any]) -> Callable[..., Any]:
        function = inspect.unwrap(function)  # what the tests' checker of shapes has wrapped
        if numba is None:
            return function
        # What other kernels alone call needs no way in from Python: a fifth of the compiler's time.
        entered = list(inspect.signature(function).parameters)[-2:] == ["start", "stop"]
        within: dict[str, Any] = {"pipeline_class": _pipelines().whole}
        if not entered:
            # Loops over numbers keep the counting, without which they become no vector code.
            loops = bool(options["fastmath"])
            within = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": loops}
            if loops and any(each.opname == "FOR_ITER" for each in dis.get_instructions(function)):
                within["pipeline_class"] = _pipelines().apart
        kernel: Any = numba.njit(nogil=True, **within, **options)(function)
        if not kernel_cache.config.DISABLE_JIT:
            kernel_cache.keep(kernel)
            if not entered:
                _close(kernel)
        return kernel

    return compile_rows


class _Pipelines(NamedTuple):
    """numba's compiler with another last step."""

    apart: Any
    whole: Any


@cache
def _pipelines() -> _Pipelines:
    """`apart` is for loops that stay functions of their own: as a part of one that counts no arrays
    they would become no vector code. `whole` is for what Python calls: all that it calls in turn
    is its own. Usually the first copy of a function in a process serves every kernel, and copies
    are compiled apart from each other: last digits would depend on who was read before, and on
    whether it was compiled here or read.
    """
    compiler = importlib.import_module("numba.core.compiler")
    lowering = importlib.import_module("numba.core.lowering")
    machinery = importlib.import_module("numba.core.compiler_machinery")
    passes = importlib.import_module("numba.core.typed_passes")

    class Told(lowering.Lower):
        def lower_function_body(self) -> Any:
            # Else LLVM takes half of a register on Intel's processors, and no estimates where the
            # divider is thought to be fast.
            triple, _, features = self.context.codegen().magic_tuple()
            told = {"prefer-vector-width": "512"}
            if triple.startswith("x86_64"):
                told |= {"reciprocal-estimates": "all"}
                told |= {"target-features": f"{features},-fast-vector-fsqrt"}
            for name, value in told.items():
                # llvmlite knows attributes by name, and not those with a value.
                set.add(self.function.attributes, f'"{name}"="{value}"')
            return super().lower_function_body()

    class Apart(Told):
        def lower_function_body(self) -> Any:
            self.function.attributes.add("noinline")
            return super().lower_function_body()

    class Whole(Told):
        def lower_function_body(self) -> Any:
            library = self.library
            optimize = library._optimize_final_module

            def own() -> None:
                for each in library._final_module.functions:
                    if not each.is_declaration and each.linkage.name == "linkonce_odr":
                        each.linkage = "internal"
                optimize()

            library._optimize_final_module = own
            return super().lower_function_body()

    def ending_in(lower: Any) -> Any:
        @machinery.register_pass(mutates_CFG=True, analysis_only=False)
        class Lowering(passes.NativeLowering):
            _name = f"native_lowering_{lower.__name__.lower()}"
            lowering_class = lower

        class Compiler(compiler.CompilerBase):
            def define_pipelines(self) -> list[Any]:
                made = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
                made.passes = [
                    (Lowering if each is passes.NativeLowering else each, why)
                    for each, why in made.passes
                ]
                made.finalize()
                return [made]

        return Compiler

    return _Pipelines(ending_in(Apart), ending_in(Whole))


def _close(kernel: Any) -> None:
    """A call from Python, which has no way in, is an error and not the end of the process."""

    def refuse(*given: Any, **named: Any) -> None:
        name = kernel.py_func.__qualname__
        raise TypeError(f"{name} is for other kernels; from Python there is {name}.py_func")

    def register(compiled: Any) -> None:
        kernel.overloads[compiled.signature.args] = compiled

    kernel.add_overload, kernel._compile_for_args = register, refuse


# All of it is said, also what is usual: numba gives a function that leaves something open what its
# caller has, so that its arithmetic would depend on who called it first, and stay so in the cache.
compiled = _compiler(error_model="python", fastmath=False)
fused = _compiler(error_model="python", fastmath={"reassoc", "contract", "nsz", "nnan"})
rooted = _compiler(
    error_model="python", fastmath={"reassoc", "contract", "nsz", "nnan", "ninf", "afn"}
)
literal = _compiler(error_model="numpy", fastmath=False)
summed = _compiler(error_model="numpy", fastmath={"reassoc", "contract", "nsz"})


@contextlib.contextmanager
def use_compiled(enabled: bool) -> Iterator[None]:
    """Switch the compiled kernels off (or on again) for a while."""
    global _enabled
    before, _enabled = _enabled, enabled
    try:
        yield
    finally:
        _enabled = before


def serves(tensor: Tensor) -> bool:
    """Whether the compiled kernels take this tensor."""
    return (
        numba is not None
        and _enabled
        and tensor.device.type == "cpu"
        and not torch.compiler.is_compiling()
    )


@contextlib.contextmanager
def helped(workers: int) -> Iterator[None]:
    """Rows of this thread on so many threads, however few torch has here: for the last of several
    works, beside which nobody has anything left to do. No number depends on it."""
    _helped.workers = workers
    try:
        yield
    finally:
        del _helped.workers


def over_rows(kernel: Callable[..., Any], rows: int, entries: int, *arguments: Any) -> None:
    """Run kernel(*arguments, start, stop) over all rows, in threads when there is enough to do.

    Split by hand: numba's own parallel loops may not be entered from two threads at once, which a
    training loop does.
    """
    workers = min(getattr(_helped, "workers", None) or torch.get_num_threads(), rows)
    if workers < 2 or entries < _SMALL:
        kernel(*arguments, 0, rows)
        return
    # Several pieces per worker, the last first: under a causal mask those are the expensive ones.
    edges = np.linspace(0, rows, 4 * workers + 1).astype(int).tolist()
    pieces = reversed(list(itertools.pairwise(edges)))

    def work() -> None:
        for start, stop in pieces:  # each goes to whoever comes first
            kernel(*arguments, start, stop)

    # Kept from call to call: starting threads costs half a millisecond, some heads take ten. To
    # hand over work costs a thirtieth of that, so that it is done once for a helper.
    helpers = workers - 1
    if helpers not in _pools:
        _pools.setdefault(helpers, ThreadPoolExecutor(helpers, "headgauge"))
    jobs = [_pools[helpers].submit(work) for _ in range(helpers)]
    try:
        work()
    finally:  # before an error lets go of the arrays
        jobs = [job for job in jobs if not job.cancel()]
        wait(jobs)
    for job in jobs:
        job.result()
