"""A command from a settings dataclass: an option for each of its fields (`headgauge.options`)."""

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from headgauge.errors import InputError
from headgauge.options import Option, options

Settings = TypeVar("Settings")
_LARGEST = 1_000_000


def command(settings: type[Settings], run: Callable[[Settings], None]) -> Callable[..., None]:
    """A function with an option for each field, for typer."""
    known = options(settings)
    hints = get_type_hints(settings)
    parameters = [
        _parameter(each.name, known[each.name], hints[each.name], each.default)
        for each in fields(settings)  # pyright: ignore[reportArgumentType]
        if each.name in known
    ]

    def called(**given: Any) -> None:
        for name, said in known.items():
            if said.listed and given[name] == said.shows:
                del given[name]  # it keeps its default
            elif said.names:
                given[name] = names(given[name])
            elif said.listed:
                given[name] = numbers(_flags(name, said)[0], given[name], said.least or 0)
        run(settings(**given))

    called.__doc__ = run.__doc__
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    called.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    return called


def _parameter(name: str, said: Option, hint: Any, default: Any) -> inspect.Parameter:
    hint = hint if said.typed is None else said.typed
    if said.listed:
        hint, default = str | None, said.shows
    shown: Any = typer.Option(*_flags(name, said), help=said.help, rich_help_panel=said.group)
    if said.argument:
        shown = typer.Argument(help=said.help)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(name, kind, default=default, annotation=Annotated[hint, shown])


def _flags(name: str, said: Option) -> tuple[str, ...]:
    return said.flags or (f"--{name.replace('_', '-')}",)


def numbers(option: str, given: str, least: int = 0) -> tuple[int, ...]:
    """Whole numbers and ranges such as 0,4-7, in order and once each."""
    found: set[int] = set()
    for part in given.split(","):
        first, dash, last = part.strip().partition("-")
        try:
            start = int(first)
            stop = int(last) if dash else start
        except ValueError:
            raise InputError(
                f"{option} wants numbers and ranges such as 1,2,8-16, got {given!r}"
            ) from None
        if start < least or stop < start:
            raise InputError(f"{option} wants numbers of {least} or more, got {part.strip()!r}")
        if stop > _LARGEST:  # before a range of a trillion is written out
            raise InputError(f"{option} wants numbers up to {_LARGEST}, got {part.strip()!r}")
        found.update(range(start, stop + 1))
    return tuple(sorted(found))


def names(given: str) -> tuple[str, ...]:
    """Names such as value,hidden, in the order given and once each."""
    return tuple(dict.fromkeys(part.strip() for part in given.split(",") if part.strip()))
