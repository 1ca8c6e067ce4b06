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
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from headgauge import __version__
from headgauge.errors import InputError
from headgauge.runs.json_files import check_form, plain
from headgauge.runs.manifest import NotFinite
from headgauge.runs.training_schema import LOG, ROW_MEASURES, SPECTRA, AlarmState

KIND, FORMAT = "headgauge training log", 1
REMEDY = "begin a log in a new folder"
_NO_MORE = '{"alarms":[],"clipped":[],"notes":[]}'
_MOST_HEADS = 1_000_000  # beyond is damage
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


class Around(TypedDict):
    """A line but for the numbers of its heads, which are looked at by shape."""

    step: int
    loss: float | NotFinite | None
    every: int
    cost: float | NotFinite | None
    heads: dict[str, Any]
    spectra: NotRequired[dict[str, Any] | None]
    alarms: NotRequired[list[Alarm]]
    clipped: NotRequired[list[Clipped]]
    notes: NotRequired[list[str]]


def header_text(header: Mapping[str, Any]) -> str:
    made = {"kind": KIND, "format": FORMAT, "headgauge": __version__}
    given = {name: value for name, value in header.items() if name not in made}
    made |= {"model": "", "every": 1, "budget": None, "alarms": {}, "settings": {}} | given
    check_header(Path(LOG), plain(made), "say it otherwise")
    return _json(made)


def check_header(path: Path, header: Mapping[str, Any], remedy: str = REMEDY) -> None:
    """An InputError that says what is wrong with a header."""
    check_form(path, header, Header, "header", remedy)
    heads = [layer["heads"] for layer in header["layers"]]
    if not heads or min(heads) < 1 or sum(heads) > _MOST_HEADS:
        raise InputError(f"{path} is damaged: its header names no heads that can be: {remedy}")


def line_text(record: Mapping[str, Any], every: int) -> str:
    """A logged step as its line; what a record leaves out is none of it. It is made while a
    training waits, so that most of it goes past `plain`."""
    step, often = int(record["step"]), int(record.get("every") or every)
    loss, cost = (_number(record.get(name), "r") for name in ("loss", "cost"))
    front = f'{{"step":{step},"loss":{loss},"every":{often},"cost":{cost}'
    numbers = f'"heads":{_numbers(record["heads"])},"spectra":{_numbers(record.get("spectra"))}'
    last = {name: record.get(name) or [] for name in ("alarms", "clipped", "notes")}
    more = _json(last) if any(last.values()) else _NO_MORE
    return f"{front},{numbers},{more[1:]}"


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


def _number(value: Any, form: str = ".6g") -> str:
    if value is None:
        return "null"
    text = repr(float(value)) if form == "r" else f"{value:{form}}"
    return text if text[-1].isdigit() else f'"{text}"'


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
