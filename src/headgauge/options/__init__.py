"""Options once: a settings dataclass carries each option's help; command and function come from it.

    @dataclass(frozen=True, kw_only=True)
    class Settings:
        length: int | None = option(None, "Tokens in a window (L).", group="What is read")

`cli.building.command` makes a command of the settings, with an option for each field; `@takes`
gives a Python function the same keywords, defaults and words. Modules with settings are light:
`--help` must not wait for torch.
"""

import inspect
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from functools import wraps
from typing import Any, TypeVar, get_type_hints

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Option:
    """What a field says of itself.

    `least` makes a text such as 1,2,8-16 a tuple of numbers from there on, `names` one such as
    value,hidden a tuple of words; `shows` is what the command shows as the default of such a list.
    """

    help: str
    group: str | None = None
    flags: tuple[str, ...] = ()
    least: int | None = None
    names: bool = False
    shows: str | None = None
    argument: bool = False
    typed: Any = None  # of the command, where Python takes more
    command_only: bool = False  # no keyword of the Python function

    @property
    def listed(self) -> bool:
        return self.names or self.least is not None


def option(default: Any, help: str, **more: Any) -> Any:
    """A field with its help; `more` as in `Option`. A list of words shows its default as typed."""
    if more.get("names") and default is not None:
        more = {"shows": ",".join(default)} | more
    return field(default=default, metadata={"option": Option(help, **more)})


def options(settings: type) -> dict[str, Option]:
    """By the name of its field; a field without help is none."""
    found = {each.name: each.metadata.get("option") for each in fields(settings)}
    return {name: known for name, known in found.items() if known is not None}


def keywords(settings: Any) -> dict[str, Any]:
    """What was asked for, but for what only the command has."""
    return {each.name: getattr(settings, each.name) for each in _of_python(settings)}


def _of_python(settings: Any) -> list[Field[Any]]:
    commands = {name for name, said in options(settings).items() if said.command_only}
    return [each for each in fields(settings) if each.name not in commands]


def takes(settings: type) -> Callable[[Function], Function]:
    """The function's `**options` are the fields of the settings: its signature and words say so."""

    def made(function: Function) -> Function:
        known, hints = options(settings), get_type_hints(settings)
        own = inspect.signature(function, eval_str=True)
        kept = [each for each in own.parameters.values() if each.kind is not each.VAR_KEYWORD]
        added = [
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=each.default,
                annotation=hints[each.name],
            )
            for each in _of_python(settings)
            if each.name not in own.parameters
        ]
        allowed = {each.name for each in added}

        @wraps(function)
        def called(*args: Any, **given: Any) -> Any:
            for name in given:
                if name not in allowed and name not in own.parameters:
                    raise TypeError(
                        f"{function.__name__}() got an unexpected keyword argument {name!r}; "
                        f"there are {', '.join(sorted(allowed))}"
                    )
            return function(*args, **given)

        lines = [
            f"    {each.name}: {known[each.name].help}" for each in added if each.name in known
        ]
        called.__doc__ = f"{inspect.getdoc(function)}\n\nOptions:\n" + "\n".join(lines)
        called.__signature__ = own.replace(parameters=[*kept, *added])  # pyright: ignore
        return called  # pyright: ignore[reportReturnType]

    return made
