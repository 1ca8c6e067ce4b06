"""Break one formula and see whether the ledger notices: a check must be able to fail."""

import importlib
import math
from collections.abc import Callable

import jaxtyping
import pytest

from headgauge import claims


def _each(value, change):
    if isinstance(value, tuple):
        return tuple(change(part, index) for index, part in enumerate(value))
    return change(value, 0)


def nan(original: Callable) -> Callable:
    """The same shapes, but nothing in them."""
    return lambda *args, **kwargs: _each(original(*args, **kwargs), lambda v, _: v * math.nan)


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
    "nan": nan,
    "loose": times(100.0),
    "tight": times(0.1),
    "wide": widened(100.0),
}


def _owner(target: str) -> tuple[object, str]:
    """What has the name: a module or a class."""
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


@pytest.fixture
def ledger_notices(monkeypatch):
    """Whether the claim disagrees once a function of theory or dynamics is broken in this way.

    Shapes are not checked meanwhile, which takes most of the time: they are where the check runs as
    it is (`test_ledger`), and in the tests of theory and particles.
    """
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)

    def call(claim_id: str, target: str, how: str | Callable) -> bool:
        owner, name = _owner(target)
        monkeypatch.setattr(owner, name, broken(getattr(owner, name), how))
        try:
            return not next(claims.run([claims.find(claim_id)])).agrees
        except ValueError:  # refused on the way: noticed too
            return True

    return call
