"""Two ways of doing one thing, timed in turns."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """One row of the table. `goal` is the ratio theirs/ours that ours has to reach."""

    what: str
    theirs_name: str
    ours_name: str
    theirs_seconds: float
    ours_seconds: float
    goal: float | None

    @property
    def ratio(self) -> float:
        return self.theirs_seconds / self.ours_seconds

    @property
    def met(self) -> bool | None:
        return None if self.goal is None else self.ratio >= self.goal


def compare(
    what: str,
    theirs: tuple[str, Callable[[], object]],
    ours: tuple[str, Callable[[], object]],
    goal: float | None,
    rounds: int,
) -> Comparison:
    """Median seconds of both, taken alternately so that a busy moment hits both alike.

    One call of each comes first and is not counted: it compiles and fills the caches.
    """
    theirs[1]()
    ours[1]()
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for call, kept in zip((theirs[1], ours[1]), seconds, strict=True):
            start = time.perf_counter()
            call()
            kept.append(time.perf_counter() - start)
    medians = [statistics.median(kept) for kept in seconds]
    return Comparison(what, theirs[0], ours[0], medians[0], medians[1], goal)
