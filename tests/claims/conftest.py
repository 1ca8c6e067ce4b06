"""Break one formula and see whether the ledger notices: a check must be able to fail."""

import importlib
import math
from collections.abc import Callable

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


BREAKS = {"nan": nan, "loose": times(100.0), "tight": times(0.1), "wide": widened(100.0)}


@pytest.fixture
def ledger_notices(monkeypatch):
    """Whether the claim disagrees once `name` of theory's `module` is broken in this way."""

    def call(claim_id: str, target: str, how: str) -> bool:
        module_name, _, name = target.rpartition(".")
        module = importlib.import_module(f"headgauge.theory.{module_name}")
        monkeypatch.setattr(module, name, BREAKS[how](getattr(module, name)))
        return not next(claims.run([claims.find(claim_id)])).agrees

    return call
