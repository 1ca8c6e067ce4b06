"""Processes side by side: their answers, and how they end."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from headgauge.cli.building import numbers
from headgauge.errors import InputError
from headgauge.workers import as_they_finish

START = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # however the tests were started
from headgauge.cli import process
from headgauge.workers import as_they_finish

def run():
    for _ in as_they_finish(time.sleep, [(0,), (0,), (600,), (600,)], 2):
        print("one is done", flush=True)
process.main(run)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_call_is_done_and_a_mistake_stays_one(jobs: int):
    assert sorted(as_they_finish(len, [("a",), ("bc",), ("",)], jobs)) == [0, 1, 2]
    with pytest.raises(InputError, match=r"--n wants numbers and ranges such as .*, got 'x'"):
        list(as_they_finish(numbers, [("--n", "x")] * 2, jobs))


def test_one_that_dies_is_told_in_one_line():
    with pytest.raises(InputError, match="one of 2 processes died") as told:
        list(as_they_finish(os._exit, [(1,)] * 2, 2))
    assert "\n" not in str(told.value)
    assert list(as_they_finish(len, [("a",)] * 2, 2)) == [1, 1]


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGKILL, -signal.SIGKILL, ""),
        (signal.SIGINT, 130, "headgauge: interrupted; repeat the command to start again\n"),
    ],
    ids=["killed", "interrupted"],
)
def test_they_end_with_the_one_that_started_them(number: signal.Signals, code: int, said: str):
    """Ctrl-C reaches the whole group, SIGKILL one process alone."""
    parent = subprocess.Popen(
        [sys.executable, "-c", START],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert parent.stdout is not None
    for _ in range(2):
        parent.stdout.readline()
    below = psutil.Process(parent.pid).children(recursive=True)
    assert len(below) >= 2
    (os.killpg if number == signal.SIGINT else os.kill)(parent.pid, number)
    out, err = parent.communicate(timeout=30)  # which ends when nobody has the pipes any more
    assert (parent.returncode, out, err) == (code, "", said)
    assert not psutil.wait_procs(below, timeout=5)[1]
