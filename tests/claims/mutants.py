"""Plausible slips in a formula: what `ledger_notices` takes in place of a name."""

import functools
import inspect
from collections.abc import Callable

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
