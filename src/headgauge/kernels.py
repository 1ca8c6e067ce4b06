"""Loops over rows that numba compiles: how, where the result is kept, when and on what threads.

A kernel is marked with one of four names, which say what the compiler may do to its arithmetic:

    compiled   nothing; a division by zero is an error
    fused      reorder sums over finite numbers. Infinities keep their meaning, NaN must not come
    literal    nothing; a division by zero is an infinity or a NaN, as in numpy
    summed     reorder sums. Infinities, NaN and divisions by zero keep their meaning

Looking for a zero at every division keeps a loop from becoming vector code: four times slower.
"""

import contextlib
import hashlib
import importlib
import inspect
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

try:
    import numba
except ImportError:  # the torch versions serve
    numba = None

_PACKAGE = Path(__file__).parent
_SOURCES = (
    "kernels.py",
    "engine/*.py",
    "*/*_rows.py",
    "theory/normalization/*.py",
    "theory/roles.py",
)
_config: Any = None if numba is None else importlib.import_module("numba.core.config")
_SMALL = 1 << 16  # entries below which threads cost more than they save
_enabled = True
_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):  # a forked child has none of the threads
    os.register_at_fork(after_in_child=_pools.clear)


def _compiler(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def compile_rows(function: Callable[..., Any]) -> Callable[..., Any]:
        function = inspect.unwrap(function)  # what the tests' checker of shapes has wrapped
        if numba is None:
            return function
        kernel = numba.njit(nogil=True, **options)(function)
        folder = cache_folder()
        if folder is not None and not _config.DISABLE_JIT:
            before, _config.CACHE_DIR = _config.CACHE_DIR, str(folder)
            try:
                kernel.enable_caching()
            finally:
                _config.CACHE_DIR = before
        return kernel

    return compile_rows


@cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept: a folder named by the sources of all of them.

    numba itself looks at the file of a kernel only, not at those of the functions and constants
    that are compiled into it. Beside the package, or in the user's folder where that is read-only;
    None where nothing can be kept, and every process compiles for itself.
    """
    digest = hashlib.sha256(f"{_config.OPT} {_config.BOUNDSCHECK}".encode())
    for pattern in _SOURCES:
        for source in sorted(_PACKAGE.glob(pattern)):
            digest.update(source.name.encode() + source.read_bytes())
    folders = importlib.import_module("numba.misc.appdirs")
    beside, user = _PACKAGE / "__pycache__", folders.user_cache_dir("numba", False)
    given = _config.CACHE_DIR
    for place in [Path(given)] if given else [beside, Path(user)]:
        folder = place / f"headgauge-{digest.hexdigest()[:16]}"
        with contextlib.suppress(OSError):
            if place == beside and not folder.is_dir():
                for other in place.glob("headgauge-*"):  # of sources that are gone
                    shutil.rmtree(other, ignore_errors=True)
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            return folder
    return None


# All of it is said, also what is usual: numba gives a function that leaves something open what its
# caller has, so that its arithmetic would depend on who called it first, and stay so in the cache.
compiled = _compiler(error_model="python", fastmath=False)
fused = _compiler(error_model="python", fastmath={"reassoc", "contract", "nsz", "nnan"})
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


def over_rows(kernel: Callable[..., Any], rows: int, entries: int, *arguments: Any) -> None:
    """Run kernel(*arguments, start, stop) over all rows, in threads when there is enough to do.

    Split by hand: numba's own parallel loops may not be entered from two threads at once, which a
    training loop does.
    """
    workers = min(torch.get_num_threads(), rows)
    if workers < 2 or entries < _SMALL:
        kernel(*arguments, 0, rows)
        return
    # Several pieces per worker, the last first: under a causal mask those are the expensive ones.
    edges = np.linspace(0, rows, 4 * workers + 1).astype(int)
    # Kept from call to call: starting threads costs half a millisecond, some heads take ten.
    if workers not in _pools:
        _pools.setdefault(workers, ThreadPoolExecutor(workers, "headgauge"))
    jobs = [
        _pools[workers].submit(kernel, *arguments, int(start), int(stop))
        for start, stop in reversed(list(itertools.pairwise(edges)))
    ]
    wait(jobs)  # all of them, before an error lets go of the arrays
    for job in jobs:
        job.result()
