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
        return {plain(str(key)): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, str):
        # The name of a file need not be UTF-8, and JSON must be.
        return without_paths(value.encode("utf-8", "replace").decode())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    raise TypeError(f"no JSON value: {value!r} of type {type(value).__name__}")


def without_paths(text: str) -> str:
    """A text with the last part in place of each path of this machine."""
    if "\n" not in text and _is_path(text):
        return _last(text)
    return _PATH.sub(lambda found: _last(found[0]), _home_as_tilde(text))


def _home_as_tilde(text: str) -> str:
    """The home folder may have blanks in its name, which no other path of a text is allowed."""
    try:
        home = Path.home()
    except RuntimeError:  # neither HOME nor an entry among the users
        return text
    if not home.is_absolute() or home == home.parent:
        return text
    alone = rf"(?:(?<=file://)|(?<![\w:/.~\\])){re.escape(str(home))}(?![\w.-])"
    return re.sub(alone, "~", text)


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
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InputError(f"{path} is damaged: no JSON object")
    return value
