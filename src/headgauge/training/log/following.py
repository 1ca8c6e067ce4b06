"""A log that is looked at again and again while it grows in another process."""

import time
from pathlib import Path

from headgauge.atomic import check_name
from headgauge.runs.training_schema import LOG
from headgauge.training.log.line_reading import Lines
from headgauge.training.log.thinning import Thinned

_POINTS = 240  # more than a terminal has columns


class Followed:
    """A log in a folder: every look reads only what was appended since the last, and keeps as much
    whether it has a hundred lines or a million."""

    def __init__(self, folder: str | Path):
        check_name(Path(folder))
        given = Path(folder)
        self._path = given if given.name == LOG and given.is_file() else given / LOG
        self._begin()

    def _begin(self) -> None:
        self._lines = Lines(self._path)
        self.log = Thinned(self._lines.header, _POINTS)

    def look(self) -> Thinned:
        """What the log says now. One that a training has taken up at an earlier step is read
        anew."""
        if self._lines.was_replaced():
            self._begin()
        self.log.read(self._lines)
        return self.log

    def seconds_ago(self) -> float:
        """Since something was last written to it."""
        return max(0.0, time.time() - self._path.stat().st_mtime)
