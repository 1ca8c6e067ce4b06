"""A figure, measured round by round, beside what it is held to."""

import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Rounds = float | Iterable[float]
_FEW = 8  # rounds below which their spread is all of them


@dataclass(frozen=True)
class Result:
    """One row of the table: ours and what it is measured against, in `unit`, a number per round.

    The figure is ours / theirs where it is to be at most something and theirs / ours where it is to
    be at least that, round by round, so that a busy moment is in both; ours itself where `theirs`
    is empty. One number stands for all rounds of the other side. `limit` is what it is held to,
    `target` what it aims at.
    """

    what: str
    against: str
    ours: tuple[float, ...]
    theirs: tuple[float, ...] = ()
    limit: float | None = None
    target: float | None = None
    direction: Literal["at most", "at least"] = "at most"
    unit: str = "s"

    def figures(self) -> list[float]:
        """The figure of every round."""
        if not self.theirs:
            return list(self.ours)
        count = max(len(self.ours), len(self.theirs))
        ours, theirs = (
            each * count if len(each) == 1 else each for each in (self.ours, self.theirs)
        )
        pairs = zip(ours, theirs, strict=True)
        return [a / b if self.direction == "at most" else b / a for a, b in pairs]

    @property
    def figure(self) -> float:
        """The median of the rounds."""
        return statistics.median(self.figures())

    @property
    def spread(self) -> tuple[float, float] | None:
        """The middle half of the rounds, of few rounds all; None of one."""
        ordered = sorted(self.figures())
        left_out = len(ordered) // 4 if len(ordered) >= _FEW else 0
        return (ordered[left_out], ordered[-1 - left_out]) if len(ordered) > 1 else None

    @property
    def ours_seconds(self) -> float:
        return statistics.median(self.ours)

    @property
    def theirs_seconds(self) -> float | None:
        return statistics.median(self.theirs) if self.theirs else None

    @property
    def met(self) -> str:
        """What the median reaches: "target", "limit" or "no"; "" where nothing is asked."""

        def reached(bound: float) -> bool:
            return self.figure <= bound if self.direction == "at most" else self.figure >= bound

        asked = {"target": self.target, "limit": self.limit}
        asked = {name: bound for name, bound in asked.items() if bound is not None}
        return next(
            (name for name, bound in asked.items() if reached(bound)), "no" if asked else ""
        )


class Comparison(Result):
    """Theirs / ours, at least `goal`."""

    def __init__(
        self,
        what: str,
        theirs_name: str,
        ours_name: str,
        theirs_seconds: Rounds,
        ours_seconds: Rounds,
        goal: float | None = None,
        target: float | None = None,
    ) -> None:
        what = what if ours_name == "headgauge" else f"{what}: {ours_name}"
        ours, theirs = _tuple(ours_seconds), _tuple(theirs_seconds)
        super().__init__(what, theirs_name, ours, theirs, goal, target, "at least")


class Share(Result):
    """Ours / theirs, at most `goal`."""

    def __init__(
        self,
        what: str,
        seconds: Rounds,
        plain_seconds: Rounds,
        goal: float | None = None,
        target: float | None = None,
        against: str = "the plain pass",
    ) -> None:
        super().__init__(what, against, _tuple(seconds), _tuple(plain_seconds), goal, target)


def _tuple(rounds: Rounds) -> tuple[float, ...]:
    return (float(rounds),) if isinstance(rounds, int | float) else tuple(rounds)


def seconds(call: Callable[[], object]) -> float:
    """Of one call."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def in_turns(
    ways: Mapping[str, Any], rounds: int, once: Callable[[Any], float] = seconds
) -> dict[str, tuple[float, ...]]:
    """Seconds of each way in each round, one after the other, so that a busy moment hits all alike.

    One round comes first and is not counted: it compiles and fills the caches.
    """
    taken = [{name: once(way) for name, way in ways.items()} for _ in range(rounds + 1)]
    return {name: tuple(each[name] for each in taken[1:]) for name in ways}


def compare(
    what: str,
    theirs: tuple[str, Callable[[], object]],
    ours: tuple[str, Callable[[], object]],
    goal: float | None,
    rounds: int,
    target: float | None = None,
) -> Comparison:
    """Two ways of doing one thing, in turns."""
    taken = in_turns({"theirs": theirs[1], "ours": ours[1]}, rounds)
    return Comparison(what, theirs[0], ours[0], taken["theirs"], taken["ours"], goal, target)
