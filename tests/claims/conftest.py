"""Break one formula and see whether the ledger notices: a check must be able to fail."""

import importlib
import math
from collections.abc import Callable
from typing import Any

import jaxtyping
import pytest
import torch
from torch import Tensor

from headgauge import claims
from headgauge.claims import sampling


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


DRAWN: dict[Any, tuple[Tensor, Tensor]] = {}


def remembered(*shape: int, source: torch.Generator, normal: Callable = sampling.normal) -> Tensor:
    """The same numbers, drawn once for all that break a check: a third of its time."""
    key = shape, source.get_state().numpy().tobytes()
    if key not in DRAWN:
        DRAWN[key] = normal(*shape, source=source), source.get_state()
    values, after = DRAWN[key]
    source.set_state(after)
    return values.clone()


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Shapes are not checked while something is broken, which takes most of the time: they are
    where the check runs as it is (`test_ledger`), and in the tests of theory and particles."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    monkeypatch.setattr(sampling, "normal", remembered)
    return monkeypatch


@pytest.fixture
def ledger_notices(breaking):
    """Whether the claim disagrees once a function of theory or particles is broken in this way."""

    def call(claim_id: str, target: str, how: str | Callable) -> bool:
        owner, name = _owner(target)
        breaking.setattr(owner, name, broken(getattr(owner, name), how))
        try:
            return not next(claims.run([claims.find(claim_id)])).agrees
        except ValueError:  # refused on the way: noticed too
            return True

    return call
