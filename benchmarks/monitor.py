"""Steps of a training with the monitor and without, in turns in one run.

A logged step, one that is not logged and a plain one take turns on the same model, and the share is
what a logged step costs above a plain one, spread over the steps from one logged step to the next:
2 % of a step drowns in what steps differ by when whole runs are timed. Runs of the example at
every=5 are timed too and stand beside. The spectra of the weights come once in two thousand steps
and have a line of their own.
"""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import torch

import headgauge
from benchmarks.timing import Share, in_turns
from examples.small_model import BATCH, LENGTH, small_model
from headgauge import models

LIMITS = {50: 0.02, 5: 0.10}  # of the time of the steps, by `every`
DEFAULT_LENGTH = 512
SPECTRA_EVERY = 2000
NEVER = 10**6
ON_END = 20
# By name: what the monitor of a step is asked for; None: there is none.
WAYS: dict[str, dict[str, int | None] | None] = {
    "plain": None,
    "not logged": {"every": NEVER, "spectra_every": None},
    "logged": {"every": 1, "spectra_every": None},
    "with spectra": {"every": 1, "spectra_every": 1},
}
Seconds = dict[str, tuple[float, ...]]


def run(rounds: int) -> Iterator[Share]:
    ids = torch.randint(256, (BATCH, LENGTH), generator=torch.Generator().manual_seed(0))
    example = small_model(0, LENGTH)
    yield from costs(f"example, {BATCH} × {LENGTH} tokens", example, ids, 6 * rounds, rounds)
    ids = torch.randint(
        100, 40_000, (1, DEFAULT_LENGTH), generator=torch.Generator().manual_seed(0)
    )
    default: Any = models.load("default").model
    yield from costs(f"default model, 1 × {DEFAULT_LENGTH} tokens", default, ids, rounds)


def costs(
    name: str, model: Any, ids: torch.Tensor, rounds: int, on_end: int = 0
) -> Iterator[Share]:
    """Of one model: a plain step, a logged one, one that is not, and what follows from these."""
    model.train()
    optimiser = torch.optim.AdamW(model.parameters(), 1e-6)

    def step() -> None:
        model(input_ids=ids, labels=ids, use_cache=False).loss.backward()
        optimiser.step()
        optimiser.zero_grad()

    seconds = in_turns(WAYS, rounds, partial(_seconds, model, step))
    for way, each in seconds.items():
        if way != "plain":
            yield Share(f"{name}: {way}", each, seconds["plain"], against="plain step")
    for every, limit in LIMITS.items():
        yield _share(f"{name}: every={every}", seconds, "logged", "plain", every, limit)
    what = f"{name}: spectra, every={SPECTRA_EVERY}"
    yield _share(what, seconds, "with spectra", "logged", SPECTRA_EVERY)
    if on_end:
        yield _on_end(name, model, step, on_end)


def _share(
    what: str, seconds: Seconds, way: str, before: str, every: int, limit: float | None = None
) -> Share:
    """What a way adds to another, of the time of `every` plain steps: round by round, so that a
    busy moment is in both."""
    turns = zip(seconds[way], seconds[before], seconds["plain"], strict=True)
    added, plain = zip(
        *((with_it - without, every * p) for with_it, without, p in turns), strict=True
    )
    steps = "plain step" if every == 1 else f"{every} plain steps"
    return Share(f"{what}, added", added, plain, limit, against=steps)


def _seconds(
    model: Any, step: Callable[[], None], options: dict[str, Any] | None, steps: int = 1
) -> float:
    """Of some steps, with a monitor that writes its log or without. It has logged once before the
    clock starts, so that what it loads at first does not count; closing it does not either."""
    with ExitStack() as held:
        ends: Callable[[], object] = int  # does nothing
        if options is not None:
            out = held.enter_context(tempfile.TemporaryDirectory())
            watched = headgauge.Monitor(model, budget=None, out=Path(out, "log"), **options)
            ends = held.enter_context(watched).step
            step()
            ends()
        began = time.perf_counter()
        for _ in range(steps):
            step()
            ends()
        return time.perf_counter() - began


def _on_end(name: str, model: Any, step: Callable[[], None], rounds: int) -> Share:
    """Steps on end at every=5 with their logs, against as many plain ones."""
    ways = {"plain": None, "logged": {"every": 5, "spectra_every": None}}
    seconds = in_turns(ways, rounds, partial(_seconds, model, step, steps=ON_END))
    return _share(f"{name}: {ON_END} steps on end, every=5", seconds, "logged", "plain", 1)


def setting() -> str:
    """What was measured, for the line above the table."""
    return "forward, backward and AdamW in fp32, without and with a monitor of budget=None"
