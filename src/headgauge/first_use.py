"""The first use on a machine: kernels are compiled in other processes while the model loads.

numba compiles one kernel at a time in a process, so there are several. They share what they find by
the cache alone (`kernel_cache`): where one of them cannot be started or dies, whoever needs a
kernel compiles it. They finish what they began when the command ends first, so that no other
command compiles it again.
"""

import contextlib
import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headgauge import kernel_cache

KINDS = ("scan", "scan-float64", "reproduce", "compare", "simulate")  # what commands need
_MOST = 4  # processes: there are no more pieces that take long
_LOOK = 0.1


class _Helper:
    """One process, and what it has said."""

    def __init__(self, what: str, place: int) -> None:
        command = [sys.executable, "-m", "headgauge.first_calls", what, str(place)]
        apart: dict[str, Any] = (
            {"creationflags": 0x200} if os.name == "nt" else {"start_new_session": True}
        )
        none = subprocess.DEVNULL
        self.process = subprocess.Popen(
            command, stdin=none, stdout=subprocess.PIPE, stderr=none, text=True, **apart
        )
        self.kernels: int | None = None
        self.ready = False
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as said:
            for line in said:
                self.ready |= line == "ready\n"
                self.kernels = int(line) if line.strip().isdigit() else self.kernels

    def working(self) -> bool:
        return not self.ready and self.process.poll() is None


_helpers: list[_Helper] = []


def start(what: str) -> None:
    """Begin to compile what a command needs, unless it is there or nothing can be kept."""
    marker = _marker(what)
    if marker is None or marker.exists() or _helpers:
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with contextlib.suppress(OSError):
        for place in range(min(cores or 1, _MOST)):
            _helpers.append(_Helper(what, place))


def done(what: str) -> None:
    """Note that all that a command needs lies in the cache."""
    marker = _marker(what)
    if marker is not None:
        with contextlib.suppress(OSError):
            marker.touch()


def waiting() -> Iterator[tuple[int, int | None]]:
    """How many kernels are compiled, and of how many, until a command can measure."""
    folder = kernel_cache.folder()
    while folder is not None and any(each.working() for each in _helpers):
        total = next((each.kernels for each in _helpers if each.kernels), None)
        compiled = sum(1 for _ in folder.rglob("*.nbi"))
        yield (compiled if total is None else min(compiled, total)), total
        time.sleep(_LOOK)


def _marker(what: str) -> Path | None:
    folder = kernel_cache.folder()
    if folder is None:
        return None
    import llvmlite.binding as llvm  # what numba's index tells processors apart by

    features = llvm.get_host_cpu_features().flatten()
    machine = f"{sys.version_info[:2]} {llvm.get_host_cpu_name()} {features}"
    return folder / f"{what}-{hashlib.sha256(machine.encode()).hexdigest()[:16]}.ready"
