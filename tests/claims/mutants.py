"""What stands in the place of a function: gross breaks by name, and plausible slips."""

import functools
import importlib
import inspect
import math
from collections.abc import Callable
from typing import Any

Slip = Callable[[Callable], Callable]


def instead(formula: Callable) -> Slip:
    """Another formula altogether."""
    return lambda original: formula


def with_argument(name: str, change: Callable) -> Slip:
    """The right formula of something else."""

    def slip(original: Callable) -> Callable:
        signature = inspect.signature(original)

        def call(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            bound.arguments[name] = change(bound.arguments[name])
            return original(*bound.args, **bound.kwargs)

        return functools.wraps(original)(call)

    return slip


def power(exponent: float, part: int | None = None) -> Slip:
    """The right letters with a wrong exponent; of a tuple only the part of that number."""
    return _changed(lambda value: value**exponent, part)


def scaled(factor: float, part: int) -> Slip:
    """A wrong factor on one part of a tuple."""
    return _changed(lambda value: value * factor, part)


def _changed(change: Callable, part: int | None) -> Slip:
    def slip(original: Callable) -> Callable:
        def call(*args, **kwargs):
            value = original(*args, **kwargs)
            if part is None:
                return change(value)
            return tuple(change(each) if k == part else each for k, each in enumerate(value))

        return call

    return slip


def _each(value, change):
    if isinstance(value, tuple):
        return tuple(change(part, index) for index, part in enumerate(value))
    return change(value, 0)


def times(factor: float) -> Callable[[Callable], Callable]:
    def change(original: Callable) -> Callable:
        return lambda *args, **kwargs: _each(original(*args, **kwargs), lambda v, _: v * factor)

    return change


def widened(factor: float) -> Callable[[Callable], Callable]:
    """A lower and an upper bound that still hold, and say next to nothing."""

    def change(original: Callable) -> Callable:
        return lambda *args, **kwargs: _each(
            original(*args, **kwargs), lambda v, index: v * factor if index else v / factor
        )

    return change


BREAKS = {
    "double": times(2.0),
    "half": times(0.5),
    "nan": times(math.nan),  # the same shapes, but nothing in them
    "loose": times(100.0),
    "tight": times(0.1),
    "wide": widened(100.0),
}


def owner_of(target: str) -> tuple[Any, str]:
    """What below `headgauge` has the name, a module or a class, and the last part of it."""
    home, _, name = f"headgauge.{target}".rpartition(".")
    try:
        return importlib.import_module(home), name
    except ModuleNotFoundError:
        module, _, inside = home.rpartition(".")
        return getattr(importlib.import_module(module), inside), name


def broken(original, how: str | Callable):
    """A function that gives something else, or another number; `how` by name or as it is."""
    change = BREAKS[how] if isinstance(how, str) else how
    return change(original) if callable(original) else change(lambda: original)()
