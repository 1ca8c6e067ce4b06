"""A log as it is read: its lines as tables, thinned, in words."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from headgauge.atomic import check_name, one_line
from headgauge.errors import InputError
from headgauge.runs import frame_schema, tables
from headgauge.runs.training_schema import HEAD_NUMBERS, LOG, TRAINING_TABLES
from headgauge.shown import Shown
from headgauge.training.log import words
from headgauge.training.log.line_reading import Lines
from headgauge.training.log.lines import Header, Line
from headgauge.training.log.tables import FRAMES
from headgauge.training.log.thinning import Thinned

_PARTS = ".tables"  # where a log's tables are made, part by part
_POINTS = 300  # of a line on a page: more than it has pixels to tell apart
_LEAST = 20  # and even of a model with thousands of heads
_NUMBERS = 1_000_000  # that a page holds: about six megabytes of them


class TrainingLog(Shown):
    """A log, finished or still growing. `header` is its first line.

    Frames are read from its lines when they are asked for, and hold what has come until then;
    `thinned` reads once.
    """

    def __init__(self, folder: Path, header: Header):
        self.folder, self.header = folder, header
        self._thinned: dict[int, Thinned] = {}

    @staticmethod
    def load(folder: str | Path) -> "TrainingLog":
        """The log in a folder; its lines are looked at when they are needed."""
        check_name(Path(folder))
        return TrainingLog(Path(folder), Lines(Path(folder, LOG)).header)

    @staticmethod
    def is_in(folder: str | Path) -> bool:
        return os.path.isfile(Path(folder, LOG))

    def lines(self) -> Iterator[Line]:
        """Every whole line but the header, in order."""
        return Lines(self.folder / LOG).fresh()

    def steps(self) -> pl.DataFrame:
        """`LoggedStepRow` of `runs.training_schema`."""
        return self._frame("steps")

    def heads(self) -> pl.DataFrame:
        """`TrainedHeadRow`: every head at every logged step."""
        return self._frame("heads")

    def alarms(self) -> pl.DataFrame:
        """`AlarmRow`: what was raised and cleared."""
        return self._frame("alarms")

    def thinned(self, points: int | None = None) -> Thinned:
        """All of it in at most so many parts, extremes kept; without a number as many as a page
        can show. However long the log is, it takes little memory."""
        if points is None:
            heads = sum(layer["heads"] for layer in self.header["layers"])
            held = _NUMBERS // (3 * len(HEAD_NUMBERS) * heads)
            points = max(min(held, _POINTS), _LEAST)
        if points < 1:
            raise InputError(f"a log cannot be thinned to {points} points: give 1 or more")
        if points not in self._thinned:
            lines = Lines(self.folder / LOG)
            made = Thinned(lines.header, points, lines.count())
            made.read(lines)
            self._thinned[points] = made
        return self._thinned[points]

    def caption(self) -> str:
        """What was trained and how far, in a line for a figure or the head of a page."""
        return words.caption(self.thinned())

    def stands(self) -> list[str]:
        """What the numbers stand on, and what is left out of them."""
        return words.stands(self.thinned())

    def finding(self) -> str:
        """How the loss went, which alarms there were, which are left, in a paragraph."""
        return words.finding(self.thinned())

    def notes(self) -> list[str]:
        """What the monitor said, the last of it."""
        return [f"step {step}: {note}" for step, note in self.thinned().notes]

    def __repr__(self) -> str:
        return f"<training log: {self.header['model']}, {len(self.header['layers'])} layers>"

    def write_tables(self) -> None:
        """Its tables as parquet files beside it, with little of the log in memory at once."""
        parts = self.folder / _PARTS
        written: dict[str, list[Path]] = {name: [] for name in TRAINING_TABLES}
        shutil.rmtree(parts, ignore_errors=True)
        try:
            with one_line(parts):
                parts.mkdir()
            for name in TRAINING_TABLES:  # also of a log without lines
                _write_part(parts, name, pl.DataFrame(schema=_schema(name)), written[name])
            for name, frame in self._frames(*TRAINING_TABLES):
                _write_part(parts, name, frame, written[name])
            for name, paths in written.items():
                tables.join_tables(paths, self.folder / f"{name}.parquet")
        finally:
            shutil.rmtree(parts, ignore_errors=True)

    def _frame(self, name: str) -> pl.DataFrame:
        frames = [frame for _, frame in self._frames(name)]
        return pl.concat([pl.DataFrame(schema=_schema(name)), *frames])

    def _frames(self, *names: str) -> Iterator[tuple[str, pl.DataFrame]]:
        """Tables by name, part after part."""
        lines = Lines(self.folder / LOG)
        for batch in lines.batches():
            for name in names:
                yield name, FRAMES[name](batch, lines.heads)


def _write_part(parts: Path, name: str, frame: pl.DataFrame, written: list[Path]) -> None:
    place = parts / f"{name}-{len(written)}.parquet"
    with one_line(place):
        tables.write_table(place, tables.checked(name, frame, TRAINING_TABLES[name]))
    written.append(place)


def _schema(name: str) -> dict[str, Any]:
    return frame_schema(TRAINING_TABLES[name])
