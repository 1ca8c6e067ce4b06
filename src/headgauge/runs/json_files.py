"""JSON as a run writes it (plain values, nothing of the machine, the same bytes for the same), and
the one look at what was read: whether it has the form of a type."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from headgauge.atomic import encodes, whole_file
from headgauge.errors import LARGEST, InputError

# From the root, a drive, the home folder or `file://`; not the slash of a URL, `org/name` or `a/b`.
_PATH = re.compile(
    r"(?:file://|(?<![\w:/.~\\]))(?:[A-Za-z]:|~\w*)?[/\\][^\s'\"`,;:()<>|/\\][^\s'\"`,;:()<>|]*"
)
# What JSON has: its name for a reader, and whether a value is one. True is no number.
_KINDS: dict[Any, tuple[str, Callable[[Any], bool]]] = {
    NoneType: ("null", lambda value: value is None),
    bool: ("true or false", lambda value: isinstance(value, bool)),
    int: ("a whole number from 0 on", lambda value: type(value) is int and 0 <= value <= LARGEST),
    float: ("a number", lambda value: type(value) in (int, float) and abs(value) < math.inf),
    str: ("text", lambda value: isinstance(value, str) and encodes(value)),
    list: ("a list", lambda value: isinstance(value, list | tuple)),
    dict: ("an object", lambda value: isinstance(value, Mapping)),
}


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
    known = Path(text).is_absolute() or re.match(r"[A-Za-z]:[\\/]|~\w*[\\/]", text)
    if known and "\n" not in text:
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


def _last(path: str) -> str:
    return (PureWindowsPath if "\\" in path else PurePosixPath)(path).name


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


def check_form(path: Path, value: Any, form: Any, at: str = "", remedy: str = "") -> None:
    """An InputError that names the file and the first field in it that is not of the form."""
    wrong = next(_misfits(value, form, at), None)
    if wrong is not None:
        what = remedy or "choose another folder or remove it"
        raise InputError(f"{path} is damaged: {wrong}: {what}")


def _misfits(value: Any, form: Any, at: str) -> Iterator[str]:
    """What does not fit, field by field; `form` is made of TypedDicts and plain types."""
    kind, parts = _kind(form), get_args(form)
    inside = f"{at}." if at else ""
    if kind is Any:
        return
    if kind is Union:
        fitting = [part for part in parts if _is_a(value, part)]
        if fitting:
            yield from _misfits(value, fitting[0], at)
        else:
            yield _misfit(at, value, " or ".join(map(_name, parts)))
    elif not (value in parts if kind is Literal else _is_a(value, form)):
        yield _misfit(at, value, _name(form))
    elif is_typeddict(form):
        for name, part in get_type_hints(form).items():
            if name in value:
                yield from _misfits(value[name], part, inside + name)
            elif name in form.__required_keys__:
                yield f"{inside}{name} is missing"
    elif kind is dict:
        for name, each in value.items():
            yield from _misfits(name, parts[0], f"a name in {at}")
            yield from _misfits(each, parts[1], inside + name)
    elif kind is list:
        several = len(parts) == 1 or parts[-1] is ...
        if not several and len(value) != len(parts):
            yield f"{at} has {len(value)} entries, not {len(parts)}"
            return
        for place, each in enumerate(value):
            yield from _misfits(each, parts[0 if several else place], f"{at}[{place}]")


def _kind(form: Any) -> Any:
    """Any, Literal, Union or one of `_KINDS`; JSON has no tuples."""
    outer = dict if is_typeddict(form) else get_origin(form) or form
    return {tuple: list, UnionType: Union}.get(outer, outer)


def _is_a(value: Any, form: Any) -> bool:
    kind = str if _kind(form) is Literal else _kind(form)
    return _KINDS[kind][1](value)


def _name(form: Any) -> str:
    words = get_args(form) if _kind(form) is Literal else ()
    return " or ".join(map(repr, words)) or _KINDS[_kind(form)][0]


def _misfit(at: str, value: Any, wanted: str) -> str:
    shown = isinstance(value, str | int | float) and not isinstance(value, bool)
    there = ascii(value)[:40] if shown else _KINDS[_kind(type(value))][0]
    return f"{at or 'it'} is {there}, not {wanted}"
