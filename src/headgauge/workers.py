"""Processes side by side that end with the one that started them.

joblib's processes know nothing of their parent: killed, it would leave them behind with a model in
memory each. So every one watches it. Ctrl-C at a terminal reaches all of them at once; they leave
it to the parent, which tells it once.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from multiprocessing import resource_tracker
from typing import Any, TypeVar, cast

import joblib
import psutil

from headgauge.errors import InputError

_LOOK = 0.5  # seconds between two looks at the parent

Result = TypeVar("Result")


def as_they_finish(
    function: Callable[..., Result], calls: Iterable[tuple[Any, ...]], jobs: int
) -> Iterator[Result]:
    """function(*call) of every call; with one job here, with several in as many processes."""
    # From its first moment on a process watches: one that waits for work has to end as well.
    watch = {} if jobs == 1 else {"initializer": _end_with, "initargs": (os.getpid(),)}
    work = joblib.Parallel(
        n_jobs=jobs, return_as="generator_unordered", pre_dispatch="n_jobs", **watch
    )
    one: Any = joblib.delayed(function)
    with nullcontext() if jobs == 1 else _apart():
        found = work(one(*call) for call in calls)
    try:
        yield from cast(Iterator[Result], found)
    except BrokenProcessPool:
        raise InputError(
            f"one of {jobs} processes died, most likely for want of memory (each holds the model): "
            "use fewer jobs and start it again, a run with a folder goes on"
        ) from None


def _end_with(parent: int) -> None:
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    try:
        process = psutil.Process(parent)
        # On POSIX an orphan gets another parent; on Windows the old number stays.
        while os.getppid() == parent and process.is_running():
            time.sleep(_LOOK)
    except psutil.NoSuchProcess:
        pass
    os._exit(1)


@contextmanager
def _apart() -> Iterator[None]:
    """What is started in here never hears Ctrl-C; this process does when it is left."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = os.environ.get("PYTHONWARNINGS")
    # Semaphores of a process that was ended are swept up by a helper, which would tell the user.
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, [before, "ignore:resource_tracker"]))
    resource_tracker.ensure_running()  # it would unblock the signal again
    heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, heard)
        del os.environ["PYTHONWARNINGS"]
        if before is not None:
            os.environ["PYTHONWARNINGS"] = before
