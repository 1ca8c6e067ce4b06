"""A training's log: a folder that grows line by line and can be read meanwhile.

    DIR/log.jsonl          the log (`lines` has its form)
    DIR/heads.parquet, …   its tables (`runs.training_schema`), once it is closed
    DIR/log-before-1.jsonl what a training that was taken up again has done over

A log that was not closed is taken up by a training of the same model; lines from the step on at
which that begins are moved to a file of their own, so that steps only grow.
"""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from headgauge.atomic import folder_to_write, locked, one_line, whole_file
from headgauge.errors import InputError
from headgauge.runs.manifest import now
from headgauge.runs.manifest_file import MANIFEST, differences
from headgauge.runs.training_schema import LOG, TRAINING_TABLES
from headgauge.training.log.line_reading import Lines, is_closed
from headgauge.training.log.lines import header_text, line_text, misfit
from headgauge.training.log.reading import TrainingLog

if sys.platform != "win32":
    import fcntl


def check_log_folder(folder: Path) -> None:
    """Refuse a folder in which no log can be begun or taken up; it is made if there is none."""
    folder_to_write(folder)
    path = folder / LOG
    if not path.exists():
        for name in (MANIFEST, *(f"{table}.parquet" for table in TRAINING_TABLES)):
            if (folder / name).exists():
                raise InputError(
                    f"{folder} holds another run ({name}): choose another folder for the log"
                )
    elif is_closed(path):
        raise InputError(f"{folder} holds a finished log: choose another folder")


class LogWriter:
    """Writes a log, whole lines that are there for others at once.

    writer = LogWriter("runs/mine", {"model": "Llama", "layers": [{"module": …}], "every": 50})
    writer.write({"step": 50, "loss": 3.2, "heads": {"entropy": [[2.1, 1.7], …]}})
    writer.close()
    """

    def __init__(self, folder: str | Path, header: Mapping[str, Any]):
        self.folder = Path(folder)
        text = header_text(header)
        check_log_folder(self.folder)
        self._path, self._notes = self.folder / LOG, []
        self._every, self._last, self._done = int(header.get("every") or 1), -1, 0
        self._heads = [layer["heads"] for layer in header["layers"]]
        with locked(self.folder):  # two that begin at once do so one after the other
            there = self._path.exists()
            if not there:
                with whole_file(self._path) as temporary:
                    temporary.write_text(text + "\n", encoding="utf-8", newline="\n")
            self._open()
            if there:
                self._take_up(header)

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a logged step; its step must be beyond the last."""
        step = record["step"]
        if self._notes and step <= self._last:
            self._notes.append(self._set_aside(step))
        if step <= self._last:
            raise InputError(f"{self._path}: step {step} comes after step {self._last}")
        if wrong := misfit(record, self._heads):
            raise InputError(f"{self._path}: step {step} cannot be logged: {wrong}")
        notes = [*self._notes, *(record.get("notes") or [])]
        self._append(line_text({**record, "notes": notes}, self._every))
        self._last, self._notes = step, []
        self._done += 1

    def close(self, finished: bool = True) -> None:
        """End the log and write its tables. One that is not finished can be taken up again."""
        if self._file.closed:
            return
        if finished:
            TrainingLog.load(self.folder).write_tables()
            self._append(f'{{"closed":"{now()}","lines":{self._done}}}')
        self._file.close()

    def __enter__(self) -> "LogWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self.close(finished=kind is None)

    def _open(self) -> None:
        with one_line(self._path):
            self._file = self._path.open("ab", buffering=0)
            if sys.platform != "win32":  # where a lock would keep readers out
                try:
                    fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    self._file.close()
                    raise InputError(
                        f"{self.folder} is being written by another training: choose another folder"
                    ) from None
                except OSError:  # a file system that knows no locks gives none
                    pass

    def _append(self, text: str) -> None:
        with one_line(self._path):
            raw = (text + "\n").encode()
            while raw:
                raw = raw[self._file.write(raw) or 0 :]

    def _take_up(self, header: Mapping[str, Any]) -> None:
        """Go on with the log of the same model, if it was not finished."""
        try:
            self._find_end(header)
        except InputError:
            self._file.close()
            raise

    def _find_end(self, header: Mapping[str, Any]) -> None:
        lines = Lines(self._path)
        there: Mapping[str, Any] = lines.header
        for name in ("model", "layers"):
            if there[name] != header.get(name):
                raise InputError(
                    f"{self.folder} holds the log of another model: choose another folder"
                )
        for batch in lines.batches():
            self._last = batch.step[-1]
            self._done += len(batch.step)
        self._notes = [f"taken up again after step {max(self._last, 0)}"]
        names = ("every", "budget", "alarms", "settings")
        here = {name: header[name] for name in names if name in header}
        if other := differences({name: there[name] for name in here}, here, "before", "now"):
            self._notes[0] += f": {other}"
        if lines.cut:
            with one_line(self._path), self._path.open("r+b") as file:
                file.truncate(lines.offset)
            self._notes.append("a line that was cut off is left out")

    def _set_aside(self, step: int) -> str:
        """Keep what the log has from a step on under another name, and go on before it."""
        place = next(
            path
            for number in range(1, sys.maxsize)
            if not (path := self.folder / f"log-before-{number}.jsonl").exists()
        )
        with whole_file(place) as temporary:
            shutil.copyfile(self._path, temporary)
        self._file.close()
        lines = Lines(place)
        with whole_file(self._path) as temporary, place.open("rb") as whole:
            end = lines.offset
            self._last, self._done = -1, 0
            for line in lines.fresh():
                if line["step"] >= step:
                    break
                end, self._last = lines.offset, line["step"]
                self._done += 1
            with temporary.open("wb") as file:
                for raw in whole:
                    if file.tell() >= end:
                        break
                    file.write(raw)
        self._open()
        return f"what was logged from step {step} on before is in {place.name}"
