"""log.jsonl, line by line: a header, a line per logged step, at last one that says it is closed.

    {"kind": "headgauge training log", "format": 1, "model": …, "layers": [{"module": …, "heads": 6,
     "kv_heads": 2}, …], …}
    {"step": 50, "loss": 3.2, "every": 50, "cost": .01, "heads": {"entropy": [[…], …], …},
     "spectra": null, "alarms": […], "clipped": […], "notes": […]}
    {"closed": "2025-01-31T12:00:00Z", "lines": 20}

`heads` and `spectra` have a list for each layer and in it a number for each head, null where there
is none. Numbers that are not finite are the texts "nan", "inf" and "-inf": JSON has no others.
Steps only grow. A line is there once its end is: what follows the last one is being written still,
or was cut off.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from headgauge import __version__
from headgauge.errors import LARGEST, InputError
from headgauge.runs.json_files import check_form, plain
from headgauge.runs.manifest import NotFinite
from headgauge.runs.training_schema import LOG, ROW_MEASURES, SPECTRA, AlarmState

KIND, FORMAT = "headgauge training log", 1
_WORDS = (b'"nan"', b'"inf"', b'"-inf"')
_REMEDY = "begin a log in a new folder"
Rows = list[list[float | None]]  # a list for each layer, a number for each head


class Layer(TypedDict):
    """An attention module that is watched."""

    module: str
    heads: int
    kv_heads: int


class Header(TypedDict):
    """The first line."""

    kind: str
    format: int
    headgauge: str  # the version that wrote it
    model: str  # its class
    layers: list[Layer]
    every: int
    budget: float | None
    alarms: dict[str, Any]  # by name: the lines that raise and clear it
    settings: dict[str, Any]


class Alarm(TypedDict):
    """A change in an alarm's state; without layer and head it is the whole model's."""

    alarm: str
    layer: int | None
    head: int | None
    value: float | NotFinite | None
    state: AlarmState


class Clipped(TypedDict):
    """A head whose logits were shrunk."""

    layer: int
    head: int
    factor: float | NotFinite


class Line(TypedDict):
    """A logged step."""

    step: int
    loss: float | None
    every: int
    cost: float | None
    heads: dict[str, Rows]
    spectra: dict[str, Rows] | None
    alarms: list[Alarm]
    clipped: list[Clipped]
    notes: list[str]


class _Around(TypedDict):
    """A line but for the numbers of its heads, which are looked at by shape."""

    step: int
    loss: float | NotFinite | None
    every: int
    cost: float | NotFinite | None
    heads: dict[str, Any]
    spectra: dict[str, Any] | None
    alarms: NotRequired[list[Alarm]]
    clipped: NotRequired[list[Clipped]]
    notes: NotRequired[list[str]]


def header_text(header: Mapping[str, Any]) -> str:
    made = {"kind": KIND, "format": FORMAT, "headgauge": __version__}
    given = {name: value for name, value in header.items() if name not in made}
    made |= {"model": "", "every": 1, "budget": None, "alarms": {}, "settings": {}} | given
    check_form(Path(LOG), plain(made), Header, "header", "say it otherwise")
    return _json(made)


def line_text(record: Mapping[str, Any], every: int) -> str:
    """A logged step as its line; what a record leaves out is none of it."""
    around = {"step": record["step"], "loss": None, "every": every, "cost": None}
    around |= {name: record[name] for name in around if record.get(name) is not None}
    last = {name: record.get(name) or [] for name in ("alarms", "clipped", "notes")}
    numbers = f'"heads":{_numbers(record["heads"])},"spectra":{_numbers(record.get("spectra"))}'
    return f"{_json(around)[:-1]},{numbers},{_json(last)[1:]}"


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(plain(dict(value)), ensure_ascii=False, separators=(",", ":"))


def _numbers(measures: Mapping[str, Iterable[Iterable[Any]]] | None) -> str:
    """Numbers of heads with six digits, more than any of them has meaning: half the file."""
    if measures is None:
        return "null"
    said = []
    for name, rows in measures.items():
        lists = ("[" + ",".join(map(_number, row)) + "]" for row in rows)
        said.append(f'"{name}":[{",".join(lists)}]')
    return "{" + ",".join(said) + "}"


def _number(value: Any) -> str:
    if value is None:
        return "null"
    text = f"{value:.6g}"
    return text if text[-1].isdigit() else f'"{text}"'


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
                self._identity = _identity(path)
        except (FileNotFoundError, NotADirectoryError):
            raise InputError(f"{path.parent} is no training log: it has no {LOG}") from None
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from None
        self.header = self._read_header(raw)
        self._heads = [layer["heads"] for layer in self.header["layers"]]
        self.offset, self.number = len(raw), 1

    def was_replaced(self) -> bool:
        """Whether the file is another, or shorter, than the one that was read: a training was taken
        up, and what it undid is gone."""
        try:
            return _identity(self.path) != self._identity or self.path.stat().st_size < self.offset
        except OSError:
            return True

    def count(self) -> int:
        """About how many lines the file has, counted without reading them."""
        with self.path.open("rb") as file:
            return sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 20), b"")) - 1

    def fresh(self) -> Iterator[Line]:
        """The lines that are whole and were not given before."""
        try:
            with self.path.open("rb") as file:
                file.seek(self.offset)
                for raw in file:
                    self.cut = not raw.endswith(b"\n")
                    if self.cut:
                        return
                    line = self._read(raw)
                    self.offset += len(raw)
                    self.number += 1
                    if line is not None:
                        yield line
        except OSError as error:
            raise InputError(f"cannot read {self.path}: {error.strerror or error}") from None

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
        check_form(self.path, found, Header, "header", _REMEDY)
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
        return cast(Line, {"alarms": [], "clipped": [], "notes": []} | found)

    def _check(self, found: dict[str, Any]) -> None:
        """Its form. A million lines are read, so the usual one is looked at quickly."""
        usual = not (found.get("alarms") or found.get("clipped") or found.get("notes"))
        step, every, heads = found.get("step"), found.get("every"), found.get("heads")
        quick = type(step) is int is type(every) and type(heads) is dict and "spectra" in found
        if not (usual and quick) or type(found.get("loss", "")) is not float:
            check_form(self.path, found, _Around, f"line {self.number + 1}", _REMEDY)
        if not self._step < found["step"] <= LARGEST:
            raise self._damage(f"step {found['step']} comes after step {self._step}")
        self._step = found["step"]
        if wrong := misfit(found, self._heads):
            raise self._damage(wrong)

    def _damage(self, said: str) -> InputError:
        return InputError(f"{self.path} is damaged in line {self.number + 1}: {said}: {_REMEDY}")


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def misfit(record: Mapping[str, Any], heads: list[int]) -> str | None:
    """What is wrong with the numbers that a record has of its heads, so many in each layer."""
    for part, known in (("heads", ROW_MEASURES), ("spectra", SPECTRA)):
        for name, rows in (record.get(part) or {}).items():
            if name not in known:
                return f"{ascii(name)[:40]} is no measure of {part}"
            try:
                fits = [*map(len, rows)] == heads
            except TypeError:
                fits = False
            if not fits:
                return f"{name} has other layers or heads than the header"
    return None


def _with_floats(value: Any) -> Any:
    """The same with numbers in place of the texts for what is not finite."""
    if isinstance(value, dict):
        return {
            name: part if name == "notes" else _with_floats(part) for name, part in value.items()
        }
    if isinstance(value, list):
        return [_with_floats(part) for part in value]
    return float(value) if value in ("nan", "inf", "-inf") else value


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino
