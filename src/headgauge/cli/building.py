"""A command from a settings dataclass: an option for each of its fields (`headgauge.options`)."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from headgauge.cli import lists
from headgauge.options import options

Settings = TypeVar("Settings")


def command(settings: type[Settings], run: Callable[[Settings], None]) -> Callable[..., None]:
    """A function with an option for each field, for typer."""
    known = options(settings)
    hints = get_type_hints(settings)
    parameters = []
    for each in fields(settings):  # pyright: ignore[reportArgumentType]
        if each.name not in known:
            continue
        said, default = known[each.name], each.default
        hint = hints[each.name] if said.typed is None else said.typed
        if said.listed:
            hint, default = (str, said.shows) if said.shows is not None else (str | None, None)
        flags = said.flags or (f"--{each.name.replace('_', '-')}",)
        shown: Any = typer.Option(*flags, help=said.help, rich_help_panel=said.group)
        if said.argument:
            shown = typer.Argument(help=said.help)
        parameters.append(
            inspect.Parameter(
                each.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=default,
                annotation=Annotated[hint, shown],
            )
        )

    def called(**given: Any) -> None:
        run(settings(**read(settings, given)))

    called.__doc__ = run.__doc__
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    called.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    return called


def read(settings: type, given: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed, with lists taken apart; a list that was not given keeps its default."""
    found = dict(given)
    for name, said in options(settings).items():
        if said.listed and name in given:
            if given[name] in (None, said.shows):
                del found[name]
            elif said.names:
                found[name] = lists.names(given[name])
            else:
                flag = (said.flags or (f"--{name.replace('_', '-')}",))[0]
                found[name] = lists.numbers(flag, given[name], said.least or 0)
    return found
