"""Threads: one for small arrays, one at a time for models, none that a fork has broken."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from headgauge.errors import InputError

_turn = threading.RLock()
_begun = False  # torch and polars may have started threads in this process
_broken = False  # they had, in the process that this one was forked from


@contextmanager
def one_thread() -> Iterator[None]:
    """Thousands of small steps: on a busy machine two threads mostly wait for each other."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def in_turn(wait: bool = True) -> Iterator[None]:
    """One thread at a time reads models: their mode, transformers' interface and torch's random
    numbers are the process's. Other threads wait, or are refused; the same one may come again."""
    turn = _turn
    if not turn.acquire(blocking=wait):
        raise InputError("another thread is reading a model here: wait until it has ended")
    try:
        yield
    finally:
        turn.release()


def begin() -> None:
    """The first call of a run: refuses where the threads it needs died in a fork.

    The pools of torch (OpenMP) and polars live on in a forked child as if they still had their
    threads, and whoever uses them there waits for ever.
    """
    global _begun
    if _broken:
        raise InputError(
            "this process was forked from one that had already run headgauge, so torch's and "
            "polars' threads are gone: start it with multiprocessing's 'spawn' or 'forkserver', "
            "or run in the parent"
        )
    _begun = True


def _forked() -> None:
    global _broken, _turn
    _broken, _turn = _begun, threading.RLock()  # its holder may be a thread that is gone


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
