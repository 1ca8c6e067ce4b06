"""Steps of a training with the monitor and without, in turns in one run.

A logged step, one that is not logged and a plain one take turns on the same model, and the share is
what a logged step costs above a plain one, spread over the steps from one logged step to the next:
2 % of a step drowns in what steps differ by when whole runs are timed. Runs of the example at
every=5 are timed too and stand beside. The spectra of the weights come once in two thousand steps
and have a line of their own.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.table import Table

import headgauge
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
Seconds = dict[str, list[float]]


@dataclass(frozen=True)
class Cost:
    """One row: milliseconds, and the share of all steps' time with the spread of the rounds."""

    what: str
    milliseconds: float
    plain_milliseconds: float
    share: float | None = None
    least: float | None = None
    most: float | None = None
    goal: float | None = None

    @property
    def ratio(self) -> float:
        return self.milliseconds / self.plain_milliseconds

    @property
    def met(self) -> bool | None:
        return None if self.goal is None or self.share is None else self.share <= self.goal


def run(rounds: int) -> Iterator[Cost]:
    ids = torch.randint(256, (BATCH, LENGTH), generator=torch.Generator().manual_seed(0))
    example = small_model(0, LENGTH)
    yield from costs(f"example, {BATCH} × {LENGTH} tokens", example, ids, 6 * rounds, rounds)
    ids = torch.randint(
        100, 40_000, (1, DEFAULT_LENGTH), generator=torch.Generator().manual_seed(0)
    )
    default: Any = models.load("default").model
    yield from costs(f"default model, 1 × {DEFAULT_LENGTH} tokens", default, ids, rounds)


def costs(name: str, model: Any, ids: torch.Tensor, rounds: int, on_end: int = 0) -> Iterator[Cost]:
    """Of one model: a plain step, a logged one, one that is not, and what follows from these."""
    model.train()
    optimiser = torch.optim.AdamW(model.parameters(), 1e-6)

    def step() -> None:
        model(input_ids=ids, labels=ids, use_cache=False).loss.backward()
        optimiser.step()
        optimiser.zero_grad()

    seconds = _in_turns(model, step, rounds)
    plain = 1e3 * statistics.median(seconds["plain"])
    for way, each in seconds.items():
        yield Cost(f"{name}: {way}", 1e3 * statistics.median(each), plain)
    for every, goal in LIMITS.items():
        yield _share(f"{name}: every={every}", seconds, "logged", "plain", every, goal)
    what = f"{name}: spectra, every={SPECTRA_EVERY}"
    yield _share(what, seconds, "with spectra", "logged", SPECTRA_EVERY)
    if on_end:
        yield _on_end(name, model, step, on_end)


def _share(
    what: str, seconds: Seconds, way: str, before: str, every: int, goal: float | None = None
) -> Cost:
    """What a way adds to another, of the time of `every` plain steps: round by round, so that a
    busy moment is in both."""
    turns = zip(seconds[way], seconds[before], seconds["plain"], strict=True)
    shares = sorted((with_it - without) / (every * plain) for with_it, without, plain in turns)
    plain = 1e3 * every * statistics.median(seconds["plain"])
    middle, quarter = statistics.median(shares), len(shares) // 4
    spread = shares[quarter], shares[-1 - quarter]
    return Cost(what, plain * (1 + middle), plain, middle, *spread, goal)


def _in_turns(model: Any, step: Callable[[], None], rounds: int) -> Seconds:
    """Seconds of a step by each way."""
    seconds: Seconds = {name: [] for name in WAYS}
    for turn in range(rounds + 1):
        for name, options in WAYS.items():
            spent = _seconds(model, step, options)
            seconds[name] += [spent] if turn else []  # the first round fills the caches
    return seconds


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


def _on_end(name: str, model: Any, step: Callable[[], None], rounds: int) -> Cost:
    """Steps on end at every=5 with their logs, against as many plain ones."""
    ways = {"plain": None, "logged": {"every": 5, "spectra_every": None}}
    seconds: Seconds = {way: [] for way in ways}
    for _ in range(rounds):
        for way, options in ways.items():
            seconds[way].append(_seconds(model, step, options, ON_END))
    return _share(f"{name}: {ON_END} steps on end, every=5", seconds, "logged", "plain", 1)


def setting() -> str:
    """What was measured, for the line above the table."""
    return "forward, backward and AdamW in fp32, without and with a monitor of budget=None"


def table(title: str, caption: str, results: list[Cost]) -> Table:
    drawn = Table(title=title, caption=caption)
    drawn.add_column("what")
    for heading in ("ms", "times plain", "share of all steps", "quartiles", "limit", "met"):
        drawn.add_column(heading, justify="right")
    for each in results:
        known = each.share is not None
        drawn.add_row(
            each.what,
            f"{each.milliseconds:.1f}",
            f"{each.ratio:.3f}",
            f"{each.share:.2%}" if known else "",
            f"{each.least:.2%} to {each.most:.2%}" if known else "",
            "" if each.goal is None else f"≤ {each.goal:.0%}",
            {True: "yes", False: "no", None: ""}[each.met],
        )
    return drawn
