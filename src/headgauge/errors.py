"""The one error that means "the caller asked for something impossible"."""

import operator
from collections.abc import Iterable
from typing import Any

LARGEST = 2**63 - 1  # what torch, numpy and the tables can all hold
THREADS = 1024  # far beyond that the system refuses threads, and their library ends the process


class InputError(ValueError):
    """A user's mistake, told in one line: what was wrong, with its shape or name, and what to do.

    The command line prints the line alone and ends with exit code 2; from Python it is an
    ordinary `ValueError`.
    """


def whole(what: str, given: Any) -> int:
    """A whole number of whatever type, or a line that says what was given instead."""
    try:
        return operator.index(given)
    except TypeError:
        raise InputError(f"{what} must be a whole number, got {given!r}") from None


def number(what: str, given: Any) -> float:
    """A number of whatever type, or a line that says what was given instead."""
    try:
        if not isinstance(given, str):
            return float(given)
    except (TypeError, ValueError, RuntimeError):
        pass
    raise InputError(f"{what} must be a number, got {given!r}")


def wholes(what: str, given: Any) -> tuple[int, ...] | None:
    """Whole numbers, one or several, in the order given; None where nothing was."""
    if given is None:
        return None
    several = list(given) if isinstance(given, Iterable) else [given]
    if not several:
        raise InputError(f"{what} needs at least one number, got none")
    return tuple(whole(what, each) for each in several)


def check_whole(what: str, given: Any, least: int, most: int) -> None:
    """Refuse what is no whole number from `least` to `most`."""
    number = whole(what, given)
    if not least <= number <= most:
        shown = number if number.bit_length() < 128 else f"one of {number.bit_length()} bits"
        raise InputError(f"{what} must be in {least} to {most}, got {shown}")
