"""manifest.json in a run's folder: begun, taken up, changed, read."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from headgauge import __version__
from headgauge.atomic import WRITING, check_name, locked
from headgauge.errors import InputError
from headgauge.runs.json_files import check_form, plain, read_json, write_json
from headgauge.runs.manifest import FORMAT, Manifest, first_manifest

MANIFEST = "manifest.json"
_RENAMED = {"save_rows": "keep_rows"}  # settings of runs from before, and their names now
_DROPPED = {"block_rows"}  # those that say nothing of a run
_SHOWN, _LONGEST = 3, 40  # differences, and characters of a value


def find_manifest(path: Path) -> Manifest | None:
    """The manifest in a folder, looked through once; None where there is none."""
    check_name(path)
    try:
        found = read_json(path / MANIFEST)
    except (FileNotFoundError, NotADirectoryError):
        return None
    found["format"] = _readable(path, found.get("format"))
    check_form(path / MANIFEST, found, Manifest)
    known = {k: v for k, v in found["settings"].items() if k not in _DROPPED}
    found["settings"] = {_RENAMED.get(k, k): v for k, v in known.items()}
    return cast(Manifest, found)


def _readable(path: Path, written: Any) -> int:
    """The format of a run that this version reads; of another, what it is and what to do."""
    number = 1 if written == "headgauge run 1" else written  # the first was a text at first
    if type(number) is not int:
        has, remedy = "no format number", "choose another folder, or make the run again"
    elif number < FORMAT:
        has, remedy = f"format {number}", "make the run again, in a new folder"
    elif number > FORMAT:
        has, remedy = f"format {number}", "update headgauge"
    else:
        return number
    raise InputError(
        f"{path / MANIFEST} has {has}, and headgauge {__version__} reads format {FORMAT}: {remedy}"
    )


def begin_or_take_up(path: Path, settings: Mapping[str, Any]) -> Manifest:
    """The manifest of the run in a folder, which has these settings; a first one if there is none.

    Two that begin in one folder at once do so one after the other, and the second sees the first.
    """
    asked = plain(dict(settings))
    with locked(path):
        found = find_manifest(path)
        if found is None:
            _refuse_foreign(path)
            found = first_manifest(asked)
        elif other := differences(found["settings"], asked):
            raise InputError(
                f"{path} holds a run with other settings: {other}; choose another --out "
                "or remove it"
            )
        else:
            found["times"]["resumed"] += 1
        write_json(path / MANIFEST, cast(dict[str, Any], found))
    return found


@contextmanager
def changed_manifest(path: Path) -> Iterator[Manifest]:
    """The manifest of a run as it stands, to be changed and written while nobody else can: two
    processes at work in one folder lose nothing of each other's."""
    with locked(path):
        found = find_manifest(path)
        if found is None:
            raise InputError(f"{path / MANIFEST} is gone: has someone removed the run meanwhile?")
        yield found
        write_json(path / MANIFEST, cast(dict[str, Any], found))


def begun_settings(path: str | Path) -> dict[str, Any] | None:
    """The settings of the run that was begun in a folder; None if there is none."""
    found = find_manifest(Path(path)) if os.path.isdir(path) else None
    return None if found is None else found["settings"]


def _refuse_foreign(path: Path) -> None:
    foreign = sorted(place.name for place in path.iterdir() if not place.name.startswith(WRITING))
    if foreign:
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise InputError(
            f"{path} holds no run but other files ({foreign[0]!r}{more}): choose another --out or "
            "an empty folder"
        )


def differences(
    there: Mapping[str, Any], here: Mapping[str, Any], then: str = "there", now: str = "here"
) -> str:
    """How two nested settings differ, by dotted name: "length is 512 there, 1024 here; text.name is
    …; and 2 more". Nothing is said of those that do not."""
    old, new = _flat(there), _flat(here)
    said = [
        f"{name} is {_said(name, old)} {then}, {_said(name, new)} {now}"
        for name in {**new, **old}
        if (name in old) != (name in new) or old.get(name) != new.get(name)
    ]
    more = len(said) - _SHOWN
    return "; ".join(said[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict) and value:
            flat |= _flat(value, f"{above}{name}.")
        else:
            flat[above + name] = value
    return flat


def _said(name: str, values: dict[str, Any]) -> str:
    if name not in values:
        return "not set"
    text = json.dumps(values[name], ensure_ascii=False)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
