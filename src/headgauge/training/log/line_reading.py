"""The lines of a log as they are read, while it grows or when it is finished."""

import json
import os
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, BinaryIO, cast

from headgauge import __version__
from headgauge.errors import LARGEST, InputError
from headgauge.runs.json_files import check_form
from headgauge.runs.training_schema import LOG
from headgauge.training.log.batches import Batch, batch_of
from headgauge.training.log.lines import (
    FORMAT,
    KIND,
    REMEDY,
    Around,
    Header,
    Line,
    check_header,
    misfit,
)
from headgauge.training.log.usual_lines import is_usual, usual_batch

_ROWS, _LINES = 1 << 16, 512  # of heads, of the log, that are handled at once
_LAST = 100  # bytes that have all of the line that closes a log
_WORDS = (b'"nan"', b'"inf"', b'"-inf"')


class Lines:
    """The lines of a log, read once each: `fresh` gives those that came since the last look.

    `cut` says that something follows the last whole line.
    """

    def __init__(self, path: Path):
        self.path, self.number, self.cut = path, 0, False
        self.offset, self._step, self.closed = 0, -1, False
        try:
            with path.open("rb") as file:
                raw = file.readline()
                self._identity = _identity(file)
        except (FileNotFoundError, NotADirectoryError):
            what = f"it has no {LOG}" if path.parent.is_dir() else "there is no such folder"
            when = "a training begins it with the first step it logs"
            raise InputError(f"{path.parent} is no training log: {what}; {when}") from None
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from None
        self.header = self._read_header(raw)
        self.heads = [layer["heads"] for layer in self.header["layers"]]
        self.offset, self.number = len(raw), 1

    def was_replaced(self) -> bool:
        """Whether the file is another, or shorter, than the one that was read: a training was taken
        up, and what it undid is gone."""
        try:
            with self.path.open("rb") as file:
                shorter = os.fstat(file.fileno()).st_size < self.offset
                return shorter or _identity(file) != self._identity
        except OSError:
            return True

    def count(self) -> int:
        """How many steps the file has, counted without reading them."""
        with self.path.open("rb") as file:
            ends = sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b""))
        return ends - 1 - is_closed(self.path)

    def fresh(self) -> Iterator[Line]:
        """The lines that are whole and were not given before."""
        for raws in self._raws(1):
            yield from self._taken(raws)

    def batches(self) -> Iterator[Batch]:
        """The same, many at once."""
        size = min(max(_ROWS // sum(self.heads), 1), _LINES)
        for raws in self._raws(size):
            usual = None if self.closed else usual_batch(raws, self.heads)
            if usual and all(a < b for a, b in pairwise([self._step, *usual.step])):
                self.offset += sum(map(len, raws))
                self.number += len(raws)
                self._step = usual.step[-1]
                yield usual
            elif lines := self._taken(raws):
                yield batch_of(lines, self.heads, str(self.path))

    def _raws(self, size: int) -> Iterator[list[bytes]]:
        """Whole lines from the offset on, which whoever takes them moves."""
        try:
            with self.path.open("rb") as file:
                if _identity(file) != self._identity:
                    return  # replaced since it was asked; the next look begins anew
                file.seek(self.offset)
                while raws := list(islice(file, size)):
                    self.cut = not raws[-1].endswith(b"\n")
                    if whole := raws[: len(raws) - self.cut]:
                        yield whole
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror or error}") from None

    def _taken(self, raws: Sequence[bytes]) -> list[Line]:
        found = []
        for raw in raws:
            line = self._read(raw)
            self.offset += len(raw)
            self.number += 1
            found += [] if line is None else [line]
        return found

    def _read_header(self, raw: bytes) -> Header:
        found = _object(raw)
        if found is None or found.get("kind") != KIND:
            raise InputError(f"{self.path} has no header of a training log in its first line")
        if found.get("format") != FORMAT:
            raise InputError(
                f"{self.path} has format {ascii(found.get('format'))[:20]} of headgauge "
                f"{ascii(found.get('headgauge'))[:20]}, and headgauge {__version__} reads format "
                f"{FORMAT}: read it with that version"
            )
        check_header(self.path, found)
        return cast(Header, found)

    def _read(self, raw: bytes) -> Line | None:
        found = _object(raw)
        if found is None:
            raise self._damage("it is no JSON object")
        if self.closed:
            raise self._damage("it follows the one that closed the log")
        if "closed" in found:
            self.closed = True
            return None
        self._check(found)
        if any(word in raw for word in _WORDS):
            found = _with_floats(found)
        return cast(Line, {"spectra": None, "alarms": [], "clipped": [], "notes": []} | found)

    def _check(self, found: dict[str, Any]) -> None:
        more = any(found.get(name) for name in ("spectra", "alarms", "clipped", "notes"))
        if more or not is_usual(found) or type(found.get("heads")) is not dict:
            check_form(self.path, found, Around, f"line {self.number + 1}", REMEDY)
        if not self._step < found["step"] <= LARGEST:
            raise self._damage(f"step {found['step']} comes after step {self._step}")
        self._step = found["step"]
        if wrong := misfit(found, self.heads):
            raise self._damage(wrong)

    def _damage(self, said: str) -> InputError:
        return InputError(f"{self.path} is damaged in line {self.number + 1}: {said}: {REMEDY}")


def is_closed(path: Path) -> bool:
    """Whether a log was ended, told from its last line."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LAST))
        return b'\n{"closed":' in file.read()


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _with_floats(value: Any) -> Any:
    """The same with numbers in place of the texts for what is not finite."""
    if isinstance(value, dict):
        return {
            name: part if name == "notes" else _with_floats(part) for name, part in value.items()
        }
    if isinstance(value, list):
        return [_with_floats(part) for part in value]
    return float(value) if value in ("nan", "inf", "-inf") else value


def _identity(file: BinaryIO) -> tuple[int, int]:
    found = os.fstat(file.fileno())
    return found.st_dev, found.st_ino
