"""A log of any length in a few parts, one line read after the other and none kept.

A part is so many lines that follow one another. Of every number it has the smallest and the
largest, so that a spike of one step is seen among a million, and the last. When all parts are
taken, neighbours become one: a log that grows for ever needs no more memory.
"""

from collections import Counter, deque
from typing import NamedTuple

import numpy as np
import polars as pl
from jaxtyping import Float, Int

from headgauge.runs.training_schema import HEAD_NUMBERS
from headgauge.training.log.batches import Batch
from headgauge.training.log.line_reading import Lines
from headgauge.training.log.lines import Alarm, Header

_ALARMS, _NOTES = 10_000, 200  # that are kept: the first, the last
_OF_STEP = ("loss", "cost")
Place = tuple[str, int | None, int | None]  # alarm, layer, head


class Raised(NamedTuple):
    """An alarm as it was raised or cleared."""

    step: int
    alarm: str
    layer: int | None
    head: int | None
    value: float | None
    state: str


class Extremes(NamedTuple):
    """Of some numbers in each part: NaN where there is none, infinite where one was not finite."""

    low: Float[np.ndarray, "parts numbers"]
    high: Float[np.ndarray, "parts numbers"]
    last: Float[np.ndarray, "parts numbers"]


class Thinned:
    """What a log says in at most `points` parts; `lines` is how many it has, if that is known."""

    def __init__(self, header: Header, points: int, lines: int = 0):
        self.header = header
        self.heads = sum(layer["heads"] for layer in header["layers"])
        self.lines, self.width = 0, max(1, -(-lines // points))
        self._points = points + points % 2
        size = self._points, len(_OF_STEP) + len(HEAD_NUMBERS) * self.heads
        self._low, self._high, self._last = (np.full(size, np.nan) for _ in range(3))
        self._now = np.full(size[1], np.nan)
        self._steps = np.zeros((self._points, 2), np.int64)  # the first and the last of each part
        self.every = header["every"]
        self.loss: float | None = None  # the last that was told, be it NaN
        self.closed, self.cut = False, False  # the log was ended; something follows its last line
        self.present: dict[Place, Raised] = {}  # alarms that were raised and not cleared
        self.alarms: list[Raised] = []
        self.counts: Counter[str] = Counter()  # how often each alarm was raised
        self.notes: deque[tuple[int, str]] = deque(maxlen=_NOTES)

    def read(self, lines: Lines) -> None:
        """Take all that is fresh."""
        for batch in lines.batches():
            self._add(np.array(batch.step), self._rows(batch))
            self.every = batch.every[-1]
            told = [each for each in batch.loss if each is not None]
            self.loss = told[-1] if told else self.loss
            for step, alarm in batch.alarms:
                self._hear(step, alarm)
            self.notes.extend(batch.notes)
        self.closed, self.cut = lines.closed, lines.cut

    def _add(
        self, steps: Int[np.ndarray, " lines"], rows: Float[np.ndarray, "lines numbers"]
    ) -> None:
        """Lines that follow those before."""
        places = self.lines + np.arange(len(rows))
        while places[-1] // self.width >= self._points:
            self._halve()
        parts = places // self.width
        starts = np.flatnonzero(np.diff(parts, prepend=-1))
        ends, at = np.append(starts[1:], len(rows)) - 1, parts[starts]
        self._low[at] = np.fmin(self._low[at], np.fmin.reduceat(rows, starts))
        self._high[at] = np.fmax(self._high[at], np.fmax.reduceat(rows, starts))
        final = np.array([_last(rows[a : b + 1]) for a, b in zip(starts, ends, strict=True)])
        self._last[at] = _first_known(final, self._last[at])
        self._now = _first_known(_last(final), self._now)
        new = places[starts] % self.width == 0
        self._steps[at[new], 0] = steps[starts[new]]
        self._steps[at, 1] = steps[ends]
        self.lines += len(rows)

    def _rows(self, batch: Batch) -> Float[np.ndarray, "lines numbers"]:
        """NaN means that nothing was seen, so that what is not a number stands as infinite."""
        rows = np.full((len(batch.step), self._low.shape[1]), np.nan)
        columns = {name: self._columns(name) for name in batch.heads} | {"loss": 0, "cost": 1}
        told = {name: pl.Series(getattr(batch, name), dtype=pl.Float64) for name in _OF_STEP}
        for name, seen in (batch.heads | told).items():
            numbers = seen.to_numpy()
            if np.isnan(numbers).sum() > seen.null_count():
                numbers = seen.fill_nan(np.inf).to_numpy()
            rows[:, columns[name]] = numbers.reshape(rows[:, columns[name]].shape)
        return rows

    def _halve(self) -> None:
        """Neighbours become one, and half of the parts are free."""
        half = self._points // 2
        for held, merge in ((self._low, np.fmin), (self._high, np.fmax), (self._last, None)):
            pairs = held[0::2], held[1::2]
            held[:half] = merge(*pairs) if merge else _first_known(pairs[1], pairs[0])
            held[half:] = np.nan
        taken = self._steps[1::2, 1] > 0
        self._steps[:half, 1] = np.where(taken, self._steps[1::2, 1], self._steps[0::2, 1])
        self._steps[:half, 0] = self._steps[0::2, 0].copy()
        self._steps[half:] = 0
        self.width *= 2

    def _hear(self, step: int, told: Alarm) -> None:
        place = told["alarm"], told["layer"], told["head"]
        value = None if told["value"] is None else float(told["value"])
        each = Raised(step, *place, value, told["state"])
        if each.state == "raised":
            self.present[place] = each
            self.counts[each.alarm] += 1
        else:
            self.present.pop(place, None)
        if len(self.alarms) < _ALARMS:
            self.alarms.append(each)

    @property
    def parts(self) -> int:
        return -(-self.lines // self.width)

    @property
    def steps(self) -> Int[np.ndarray, "parts 2"]:
        """The first and the last logged step of each part."""
        return self._steps[: self.parts]

    def of_step(self, name: str) -> Extremes:
        """The loss, or the cost."""
        place = _OF_STEP.index(name)
        return self._extremes(slice(place, place + 1))

    def broken(self) -> list[int]:
        """The parts in which a loss was not finite."""
        loss = self.of_step("loss")
        return np.flatnonzero(np.isinf(loss.low[:, 0]) | np.isinf(loss.high[:, 0])).tolist()

    def of_heads(self, name: str) -> Extremes:
        """A measure, a column for each head: layer after layer."""
        return self._extremes(self._columns(name))

    def over_heads(self, name: str) -> Float[np.ndarray, "3 parts"]:
        """The smallest and the largest of all heads in each part, and between them the median over
        heads of the last; NaN where no head has a finite one."""
        found = [np.where(np.isfinite(each), each, np.nan) for each in self.of_heads(name)]
        low, high, last = (np.ma.masked_invalid(each) for each in found)
        told = low.min(1), np.ma.median(last, axis=1), high.max(1)
        return np.array([np.ma.filled(each, np.nan) for each in told])

    def lost(self, name: str) -> bool:
        """Whether a head's number was not finite at any time."""
        low, high, _ = self.of_heads(name)
        return bool(np.isinf(low).any() or np.isinf(high).any())

    def now(self, name: str) -> Float[np.ndarray, " heads"]:
        """A measure of each head when it was last seen."""
        return self._now[self._columns(name)]

    def latest(self, name: str) -> float:
        """The loss or the cost when it was last told."""
        return float(self._now[_OF_STEP.index(name)])

    def measures(self) -> list[str]:
        """Those that any head has a number of."""
        return [name for name in HEAD_NUMBERS if not np.isnan(self.now(name)).all()]

    def marks(self) -> list[tuple[str, str, int, int]]:
        """Alarm, state, first step and how many heads: what was raised or cleared, once a part."""
        found: dict[tuple[str, str, int], list[int]] = {}
        for each in self.alarms:
            part = int(np.searchsorted(self.steps[:, 1], each.step))
            found.setdefault((each.alarm, each.state, part), []).append(each.step)
        return [(name, state, held[0], len(held)) for (name, state, _), held in found.items()]

    def places(self) -> list[tuple[int, int]]:
        """Layer and head, in the order of the columns."""
        layers = enumerate(self.header["layers"])
        return [(layer, head) for layer, held in layers for head in range(held["heads"])]

    def _columns(self, name: str) -> slice:
        first = len(_OF_STEP) + HEAD_NUMBERS.index(name) * self.heads
        return slice(first, first + self.heads)

    def _extremes(self, columns: slice) -> Extremes:
        held = self._low, self._high, self._last
        return Extremes(*(each[: self.parts, columns] for each in held))


def _first_known(wanted: np.ndarray, else_: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(wanted), else_, wanted)


def _last(rows: Float[np.ndarray, "lines numbers"]) -> Float[np.ndarray, " numbers"]:
    """Of each column the last number that is there."""
    found = rows[-1]
    if len(rows) > 1 and np.isnan(found).any():
        there = ~np.isnan(rows[::-1])
        found = rows[::-1][there.argmax(0), np.arange(rows.shape[1])]
    return found
