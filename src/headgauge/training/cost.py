"""What the monitor costs, and how often it may log within its budget."""

import math
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter

import torch

_KEPT = 9  # of the latest costs, and four times as many steps
_WARM = 2  # steps at the start, which load and compile what later ones have


class Clock:
    """Own time and steps' time, in seconds; a step's time is without our own."""

    def __init__(self, device: torch.device):
        self._device = device
        self._own, self._last, self._seen = 0.0, perf_counter(), 0
        self._steps: deque[float] = deque(maxlen=4 * _KEPT)

    @contextmanager
    def ours(self) -> Iterator[None]:
        """Time spent here is the monitor's, on the device as well."""
        self._wait()
        begun = perf_counter()
        try:
            yield
        finally:
            self._wait()
            self._own += perf_counter() - begun

    def step(self) -> float:
        """A step has ended; our own time in it."""
        now, own = perf_counter(), self._own
        self._seen += 1
        if self._seen > _WARM:
            self._steps.append(max(0.0, now - self._last - own))
        self._last, self._own = now, 0.0
        return own

    @property
    def typical(self) -> float:
        """Seconds of a step without us; 0 before any is known."""
        return median(self._steps) if self._steps else 0.0

    def _wait(self) -> None:
        if self._device.type == "cuda":  # which works on after python has gone on
            torch.cuda.synchronize(self._device)


class Interval:
    """Every how many steps something is done that may cost a share of the time of all steps."""

    def __init__(self, every: int, budget: float | None):
        self.every, self._asked, self._budget = every, every, budget
        self._costs: deque[float] = deque(maxlen=_KEPT)
        self._paid = 0

    def paid(self, seconds: float) -> None:
        """What it cost this time; the first time it loads what it needs, which does not count."""
        self._paid += 1
        if self._paid > 1:
            self._costs.append(seconds)

    def share(self, step: float) -> float | None:
        """Of the time of all steps, with `step` seconds each; None before it is known."""
        if not self._costs or step <= 0:
            return None
        return median(self._costs) / (self.every * step)

    def adapt(self, step: float) -> str | None:
        """Keep the share within the budget; what to say where that changes something."""
        share = self.share(step)
        if share is None or self._budget is None:
            return None
        needed = math.ceil(share * self.every / self._budget / self._asked) * self._asked
        # Back only when it is far cheaper: a number near the line would go to and fro.
        if not (needed > self.every or needed <= self.every // 2):
            return None
        before, self.every = self.every, max(needed, self._asked)
        cost = 1000 * median(self._costs)
        than = "above" if share > self._budget else "well within"
        return (
            f"every {self.every} steps from here: it costs {cost:.3g} ms, {share:.2%} of the time "
            f"of {before} steps, {than} its budget of {self._budget:.2%}"
        )
