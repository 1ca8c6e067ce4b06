"""Which device serves, whether it is there before work is begun that would fail on it, how exact it
is and how much room it has."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

from headgauge.errors import InputError


def check_device(device: str, double: bool = False) -> None:
    """An InputError of one line if torch cannot use the device here, in double precision or not."""
    try:
        torch.zeros(1, device=device, dtype=torch.float64 if double else None).tolist()
    except (RuntimeError, AssertionError, TypeError, ImportError) as error:
        lines = (line.strip() for line in str(error).splitlines())
        reason = next((line for line in lines if line), repr(error))
        # torch quotes the name as it stands, and lists its backends in a thousand characters.
        told = "".join(letter for letter in reason[:200] if letter.isprintable())
        raise InputError(f"no device {device!r} here: {told}") from None


def most_exact(device: torch.device) -> torch.dtype:
    """float64, but on Apple's GPUs, which have none."""
    return torch.float32 if device.type == "mps" else torch.float64


_IN_CACHE = 48 << 20  # on the CPU: pieces that leave the cache cost more than they save


def chosen(device: str, double: bool = False) -> str:
    """The device that is meant: by "auto" CUDA, else MPS if it has what is needed, else the CPU."""
    if device != "auto":
        return device
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if not double and torch.backends.mps.is_available() and _mps_ranks() else "cpu"


@cache
def _mps_ranks() -> bool:
    """Whether torch has running extrema there, without which there are no curves."""
    try:
        ones = torch.ones(2, device="mps")
        return torch.equal(ones.cummax(0).values, ones.cummin(0).values)
    except RuntimeError:  # NotImplementedError is one
        return False


def room(device: torch.device) -> int:
    """Bytes that one piece of work may take there: a quarter of what is free."""
    if device.type == "cuda":
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return (torch.cuda.mem_get_info(device)[0] + cached) // 4
    if device.type == "mps":
        free = torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
        return max(free // 4, _IN_CACHE)
    return _IN_CACHE


@contextmanager
def whole_products(device: torch.device) -> Iterator[None]:
    """Products in the precision of their factors, whatever a training around has allowed."""
    with torch.autocast(device.type, enabled=False), _whole_single():
        yield


@contextmanager
def _whole_single() -> Iterator[None]:
    try:
        before = torch.get_float32_matmul_precision()
    except RuntimeError:  # set for one backend, by which it is then asked for alone
        backends: Any = torch.backends
        with _whole_of(backends.cuda.matmul), _whole_of(backends.mkldnn.matmul):
            yield
        return
    try:
        torch.set_float32_matmul_precision("highest")
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@contextmanager
def _whole_of(matmul: Any) -> Iterator[None]:
    before = matmul.fp32_precision
    try:
        matmul.fp32_precision = "ieee"
        yield
    finally:
        matmul.fp32_precision = "none"  # what holds for all backends
        if matmul.fp32_precision != before:
            matmul.fp32_precision = before
