"""Kernels compiled ahead: by real processes, and life without them."""

import sys

import pytest

from headgauge import first_calls, first_use
from headgauge.first_use import start  # of the module there is none while tests run


@pytest.fixture(autouse=True)
def _none_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_use, "_helpers", [])


def test_processes_say_how_many_kernels_there_are_and_leave_a_mark() -> None:
    marker = first_use._marker("scan")
    assert marker is not None
    marker.unlink(missing_ok=True)
    start("scan")
    seen = list(first_use.waiting())
    for each in first_use._helpers:
        each.listener.join()
        each.process.wait()
    assert marker.exists()
    totals = {total for _, total in seen if total is not None}
    assert totals == {len(first_calls.kernels_in(first_calls.calls("scan")[0]))}
    first_use._helpers.clear()
    start("scan")  # all is there
    assert not first_use._helpers


@pytest.mark.parametrize("interpreter", ["no such program", sys.executable])
def test_where_they_cannot_run_nobody_waits(
    monkeypatch: pytest.MonkeyPatch, interpreter: str
) -> None:
    monkeypatch.setattr(sys, "executable", interpreter)
    start("no such command")
    for each in first_use._helpers:
        each.listener.join()
        each.process.wait()
    assert not list(first_use.waiting())
