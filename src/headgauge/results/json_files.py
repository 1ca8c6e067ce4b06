"""JSON as a run writes it: plain values, nothing of the machine, the same bytes for the same."""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from headgauge.atomic import whole_file
from headgauge.errors import InputError

# From the root, a drive, the home folder or `file://`; not the slash of a URL, `org/name` or `a/b`.
_PATH = re.compile(
    r"(?:file://|(?<![\w:/.~\\]))(?:[A-Za-z]:|~\w*)?[/\\][^\s'\"`,;:()<>|/\\][^\s'\"`,;:()<>|]*"
)


def plain(value: Any) -> Any:
    """What JSON gives back for a value: tuples as lists, keys as text, paths as their last part.

    JSON has no nan and no infinity; they become the texts "nan", "inf" and "-inf".
    """
    if isinstance(value, dict):
        return {without_paths(str(key)): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, str):
        return without_paths(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    raise TypeError(f"no JSON value: {value!r} of type {type(value).__name__}")


def without_paths(text: str) -> str:
    """A text with the last part in place of each path of this machine."""
    if "\n" not in text and _is_path(text):
        return _last(text)
    text = text.replace(str(Path.home()), "~")
    return _PATH.sub(lambda found: _last(found[0]), text)


def _is_path(text: str) -> bool:
    return Path(text).is_absolute() or bool(re.match(r"[A-Za-z]:[\\/]|~\w*[\\/]", text))


def _last(path: str) -> str:
    kind = PureWindowsPath if "\\" in path else PurePosixPath
    return kind(path).name


def json_text(value: Mapping[str, Any]) -> str:
    """The text of a file, with the keys in the order they come."""
    return json.dumps(plain(dict(value)), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(json_text(value), encoding="utf-8", newline="\n")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file. That there is none is left to the caller; damage is an InputError."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise InputError(f"{path} is damaged: no JSON object")
    return value
