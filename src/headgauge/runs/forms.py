"""Whether what a JSON file holds has the form of a type: the one look at it before it is used."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from headgauge.atomic import encodes
from headgauge.errors import InputError

_LARGEST = 2**63  # what a column can hold
_NAMES = {
    NoneType: "null",
    bool: "true or false",
    int: "a whole number from 0 on",
    float: "a number",
    str: "text",
    list: "a list",
    tuple: "a list",
    dict: "an object",
}


def check_form(path: Path, value: Any, form: Any, at: str = "", remedy: str = "") -> None:
    """An InputError that names the file and the first field in it that is not of the form."""
    wrong = next(_misfits(value, form, at), None)
    if wrong is not None:
        what = remedy or "choose another folder or remove it"
        raise InputError(f"{path} is damaged: {wrong}: {what}")


def _misfits(value: Any, form: Any, at: str) -> Iterator[str]:
    """What does not fit, field by field; `form` is made of TypedDicts and plain types."""
    kind, parts = get_origin(form) or form, get_args(form)
    if form is Any:
        return
    if kind in (Union, UnionType):
        fitting = [part for part in parts if _is_a(value, get_origin(part) or part)]
        if fitting:
            yield from _misfits(value, fitting[0], at)
        else:
            yield _said(at, value, " or ".join(_name(part) for part in parts))
    elif kind is Literal:
        if value not in parts:
            yield _said(at, value, " or ".join(repr(word) for word in parts))
    elif not _is_a(value, kind):
        yield _said(at, value, _name(form))
    elif is_typeddict(form):
        hints = get_type_hints(form)
        for name, part in hints.items():
            if name in value:
                yield from _misfits(value[name], part, _in(at, name))
            elif name in form.__required_keys__:
                yield f"{_in(at, name)} is missing"
    elif kind is dict:
        for name, each in value.items():
            yield from _misfits(name, parts[0], f"a name in {at}")
            yield from _misfits(each, parts[1], _in(at, name))
    elif kind in (list, tuple):
        yield from _misfits_of_list(value, parts, at)


def _misfits_of_list(values: list[Any], parts: tuple[Any, ...], at: str) -> Iterator[str]:
    several = len(parts) == 1 or parts[-1] is ...
    if not several and len(values) != len(parts):
        yield f"{at} has {len(values)} entries, not {len(parts)}"
        return
    for place, each in enumerate(values):
        yield from _misfits(each, parts[0 if several else place], f"{at}[{place}]")


def _is_a(value: Any, kind: Any) -> bool:
    """JSON has no tuples, and true is no number."""
    if kind is Literal:
        return isinstance(value, str)
    if is_typeddict(kind) or kind is dict:
        return isinstance(value, Mapping)
    if kind in (list, tuple):
        return isinstance(value, list | tuple)
    if kind in (int, float) and isinstance(value, bool):
        return False
    if kind is int:
        return isinstance(value, int) and 0 <= value < _LARGEST
    if kind is float:
        return isinstance(value, int | float) and abs(value) < math.inf
    if kind is str:
        return isinstance(value, str) and encodes(value)
    return isinstance(value, kind)


def _name(form: Any) -> str:
    return _NAMES.get(get_origin(form) or form, "an object")


def _said(at: str, value: Any, wanted: str) -> str:
    plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    there = ascii(value)[:40] if plain else _NAMES.get(type(value), "an object")
    return f"{at or 'it'} is {there}, not {wanted}"


def _in(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name
