import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
import torch

import headgauge
from headgauge import threads
from headgauge.errors import InputError
from headgauge.threads import in_turn, one_thread


def fail_inside(seen: list[int]) -> None:
    with one_thread():
        seen.append(torch.get_num_threads())
        raise ZeroDivisionError


def test_the_threads_come_back_after_an_error_too():
    before, seen = torch.get_num_threads(), []
    torch.set_num_threads(before + 1)
    try:
        with pytest.raises(ZeroDivisionError):
            fail_inside(seen)
        assert seen == [1]
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


def _says(work: Callable[[], object]) -> str:
    try:
        work()
    except InputError as error:
        return str(error)
    return "nothing"


def _in_a_fork(work: Callable[[], object]) -> str:
    """What the work says in a child of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, _says(work).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        said = told.read()
    os.waitpid(child, 0)
    return said


def _take_turn() -> None:
    with in_turn(wait=False):
        pass


@contextmanager
def _held_elsewhere() -> Iterator[None]:
    """Another thread's turn."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with in_turn():
            held.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(60)
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_fork_after_a_run_says_what_to_do(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(threads, "_begun", False)
    assert _in_a_fork(threads.begin) == "nothing"
    with _held_elsewhere():
        assert _in_a_fork(_take_turn) == "nothing"
    threads.begin()
    runs: tuple[Callable[[], object], ...] = (
        headgauge.scan,
        headgauge.paper.reproduce,
        headgauge.simulation.simulate,
    )
    for run in runs:
        said = _in_a_fork(run)
        assert "forked" in said
        assert "'spawn'" in said
        assert "\n" not in said
    assert _says(threads.begin) == "nothing"


def test_a_turn_is_one_threads_who_may_come_again():
    said: list[str] = []

    def ask() -> None:
        thread = threading.Thread(target=lambda: said.append(_says(_take_turn)))
        thread.start()
        thread.join()

    with in_turn(), in_turn(wait=False):
        ask()
    ask()
    assert "another thread" in said[0]
    assert said[1] == "nothing"
