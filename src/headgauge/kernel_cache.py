"""Where compiled kernels are kept: each is compiled once, and nothing that lies there does harm.

numba keeps machine code in files, and trusts them: half a file ends the process with a traceback,
a wrong bit in it with worse, and of two processes that write at once one overwrites the other's. So
here a file has its checksum, whatever cannot be read was never there, what cannot be kept is not,
and whoever compiles a kernel for a signature does it alone, while others wait and then read it.
"""

import contextlib
import errno
import hashlib
import importlib
import os
import pickle
import shutil
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

try:
    import numba
except ImportError:  # the torch versions serve
    numba = None

PACKAGE = Path(__file__).parent
_SOURCES = (
    "kernel*.py",
    "engine/*.py",
    "*/*_rows.py",
    "theory/normalization/*.py",
    "theory/roles.py",
    "theory/dynamics/schemes.py",
)
config: Any = None if numba is None else importlib.import_module("numba.core.config")
_PATIENCE = 300.0  # seconds after which one who compiles and does not end is waited for no more
_LOOK = 0.05
_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@cache
def folder() -> Path | None:
    """A folder named by the sources of all kernels and what compiles them.

    numba itself looks at the file of a kernel only, not at those of the functions and constants
    that are compiled into it; for which processor a kernel is stands beside it in its index. Beside
    the package, or in the user's folder where that is read-only; None where nothing can be kept,
    and every process compiles for itself. Another compiler may be another environment's, whose
    folder stays.
    """
    if numba is None or config.DISABLE_JIT:
        return None
    llvm = importlib.import_module("llvmlite").__version__
    made_by = f"{numba.__version__} {llvm} {config.OPT} {config.BOUNDSCHECK}"
    compiler = hashlib.sha256(made_by.encode()).hexdigest()[:8]
    digest = hashlib.sha256()
    for pattern in _SOURCES:
        for source in sorted(PACKAGE.glob(pattern)):
            digest.update(source.name.encode() + source.read_bytes())
    folders = importlib.import_module("numba.misc.appdirs")
    beside, user = PACKAGE / "__pycache__", folders.user_cache_dir("numba", False)
    given = config.CACHE_DIR
    for place in [Path(given)] if given else [beside, Path(user)]:
        found = place / f"headgauge-{digest.hexdigest()[:16]}-{compiler}"
        with contextlib.suppress(OSError):
            if place == beside and not found.is_dir():
                for other in place.glob(f"headgauge-*-{compiler}"):  # of sources that are gone
                    shutil.rmtree(other, ignore_errors=True)
            found.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=found).close()
            return found
    return None


def keep(kernel: Any) -> None:
    """Have a kernel's machine code read from the folder, and written to it."""
    place = folder()
    if place is None:
        return
    before, config.CACHE_DIR = config.CACHE_DIR, str(place)
    try:
        kernel._cache = cache = _caches()(kernel.py_func)
    finally:
        config.CACHE_DIR = before
    compile_kernel = kernel.compile

    def compile_in_turn(sig: Any) -> Any:
        try:
            return compile_kernel(sig)
        finally:  # also of one that failed or was interrupted, in a notebook that goes on
            cache.end_turn(sig)

    kernel.compile = compile_in_turn


@cache
def _caches() -> Any:
    """numba's classes for a function's files, made careful; without numba there are none."""
    caching: Any = importlib.import_module("numba.core.caching")
    normalize = importlib.import_module("numba.core.sigutils").normalize_signature

    class Files(caching.IndexDataCacheFile):
        def _dump(self, obj: Any) -> bytes:
            data = super()._dump(obj)
            return data + hashlib.sha256(data).digest()  # behind its end no pickle reads

        def _load_data(self, name: str) -> Any:
            data = Path(self._data_path(name)).read_bytes()
            if hashlib.sha256(data[:-32]).digest() != data[-32:]:
                raise OSError(errno.EIO, "not what was written")  # as if there were no file
            return pickle.loads(data)

        def _load_index(self) -> dict[Any, str]:
            try:
                return super()._load_index()
            except Exception:  # whatever unpickling makes of it
                return {}

    class Cache(caching.FunctionCache):
        def __init__(self, function: Any) -> None:
            super().__init__(function)
            stamp = self._impl.locator.get_source_stamp()
            self._cache_file = Files(self._cache_path, self._impl.filename_base, stamp)
            self._turns: dict[Any, int | None] = {}

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            """The compiled kernel, or None in the turn to compile it."""
            found = self._found(sig, target_context)
            types = normalize(sig)[0]
            if found is None and types not in self._turns:
                name = hashlib.sha256(
                    f"{self._index_key(types, target_context.codegen())}".encode()
                )
                path = f"{self._cache_file._index_path}.{name.hexdigest()[:16]}.lock"
                self._turns[types] = _lock(path)
                found = self._found(sig, target_context)  # somebody was quicker
                if found is not None:
                    _unlock(self._turns.pop(types))
            return found

        def save_overload(self, sig: Any, data: Any) -> None:
            """Keep it, where that is possible, and let others have it."""
            writing = _lock(f"{self._cache_file._index_path}.lock")  # the index has all signatures
            with contextlib.suppress(OSError):  # no room left, a folder that is gone
                super().save_overload(sig, data)
            _unlock(writing)
            self.end_turn(sig)

        def end_turn(self, sig: Any) -> None:
            _unlock(self._turns.pop(normalize(sig)[0], None))

        def _found(self, sig: Any, target_context: Any) -> Any:
            try:
                found = super().load_overload(sig, target_context)
            except Exception:  # of another build of what it was made with
                return None
            same = found is not None and found.signature.args == normalize(sig)[0]
            return found if same else None

    return Cache


def _lock(path: str) -> int | None:
    """A lock that a file stands for; None where there are no locks, or not in time.

    Who ends, however it ends, holds nothing any more.
    """
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:
        return None
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            if sys.platform == "win32":
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except OSError as error:
            if error.errno not in _TAKEN or time.monotonic() > until:
                os.close(descriptor)
                return None
        time.sleep(_LOOK)


def _unlock(descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)
