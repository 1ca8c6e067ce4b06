"""What takes long in a check is done once for all that break the check elsewhere."""

import functools
import hashlib
import importlib
import inspect
import io
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from headgauge.claims import sampling

# The same for the same arguments.
COSTLY = {
    "claims.discussion": "_accepted _sharp_row",
    "claims.dynamics": "states_at",
    "claims.dynamics_clocks": "states_at",
    "claims.dynamics_speed": "_published_stack _uniform_start states_at",
    "claims.dynamics_synchrony": "states_at",
    "claims.expected_distance": "enumerations moments_are_exact",
    "claims.limits": "_cap_broken",
    "claims.rules": "_price _stability _without_a_lead",
    "claims.sensitivity": "_mean_is_its_integral",
    "claims.separability": "_law_is_its_integral",
    "claims.separability_bounds": "_exact_radius_check _moments_are_exact _put_together"
    " _random_radius_check _simulated_radius_check _tails_are_sharp",
    "particles.equiangular": "solve_many",
    "particles.rates": "final_rates initial_velocity",
    "theory.normalization.expected_distance": "exact",
    "theory.normalization.finite_difference": "mean_over_directions sensitivity worst_sensitivity",
    "theory.normalization.general_normalizer": "spectral_norm",
    "theory.normalization.sensitivity": "spectral_norm",
    "theory.normalization.separability": "separability minimum_separation",
}
Name = tuple[str, str]


def name_of(code: Any) -> Name:
    return code.co_filename, code.co_qualname


class _Arguments(pickle.Pickler):
    """Arguments as bytes, the same for the same ones; torch's own way of writing tensors is not."""

    def persistent_id(self, obj: Any) -> Any:
        return (tuple(obj.shape), obj.numpy().tobytes()) if isinstance(obj, Tensor) else None


def key_of(arguments: Any) -> bytes:
    written = io.BytesIO()
    _Arguments(written).dump(arguments)
    return hashlib.sha256(written.getbuffer()).digest()


class Remembered:
    """A costly function. What it gave is kept, with the names of all functions that had a part in
    it, and serves as long as the broken one has no part in anything it gave."""

    now_broken: Name | None = None
    under_way: list[set[Name]] = []  # noqa: RUF012  (one for all of them)

    def __init__(self, function: Callable) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.kept: dict[bytes, tuple[Any, set[Name]]] = {}
        self.known: set[Name] = set()

    def __call__(self, *args, **kwargs):
        if self.now_broken in self.known:  # as it is: to watch it takes longer
            return self.function(*args, **kwargs)
        key = key_of((args, kwargs))
        if key in self.kept:
            value, parts = self.kept[key]
        else:
            value, parts = self.traced(*args, **kwargs)
            self.known |= parts
            if self.now_broken not in parts and not any(map(_stands_in, parts)):
                self.kept[key] = value, parts
        for outer in self.under_way:
            outer |= parts
        return value

    def traced(self, *args, **kwargs) -> tuple[Any, set[Name]]:
        """What the function gives, and all that ran for it."""
        parts, before = set(), sys.gettrace()
        self.under_way.append(parts)
        sys.settrace(lambda frame, event, _: self.under_way[-1].add(name_of(frame.f_code)))
        try:
            value = self.function(*args, **kwargs)
            return list(value) if inspect.isgenerator(value) else value, parts
        finally:
            sys.settrace(before)
            self.under_way.pop()


def _stands_in(name: Name) -> bool:
    """Whether it is a test's own function, in the place of something broken."""
    file = Path(name[0])
    return file.parent == Path(__file__).parent and file != Path(__file__)


@functools.cache
def _costly() -> dict[str, Remembered]:
    names = [f"headgauge.{home}.{name}" for home, some in COSTLY.items() for name in some.split()]
    homes = [name.rpartition(".") for name in names]
    return {
        f"{home}.{name}": Remembered(getattr(importlib.import_module(home), name))
        for home, _, name in homes
    }


DRAWN: dict[Any, tuple[Tensor, Tensor]] = {}


def _drawn_once(draw: sampling.Draws, *shape: int, normal: Callable = sampling.Draws.normal):
    key = shape, draw.source.get_state().numpy().tobytes()
    if key not in DRAWN:
        DRAWN[key] = normal(draw, *shape), draw.source.get_state()
    values, after = DRAWN[key]
    draw.source.set_state(after)
    return values.clone()


def remember(monkeypatch: pytest.MonkeyPatch, broken: Any) -> None:
    """Let the costly functions remember, while this one is broken."""
    monkeypatch.setattr(sampling.Draws, "normal", _drawn_once)
    function = inspect.unwrap(broken)
    if inspect.isfunction(function):  # of anything else nobody sees where it has a part
        monkeypatch.setattr(Remembered, "now_broken", name_of(function.__code__))
        for name, kept in _costly().items():
            monkeypatch.setattr(name, kept)
