"""Every public function of theory/ with rows over no keys, vectors of no dimension and numbers that
are not whole: refused in words."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest
import torch

from headgauge.theory import normalization

KEYS, DIM = 5, 4
ROWS = torch.softmax(torch.arange(3.0 * KEYS).double().sin().reshape(3, KEYS), -1)
GIVEN: dict[str, Any] = {
    **dict.fromkeys(
        ("weights", "logits", "values", "slopes", "xi_values", "direction", "step", "square",
         "variance", "gap", "lipschitz_square", "cosine"), ROWS,
    ),
    **dict.fromkeys(("vectors", "keys"), torch.arange(60.0).cos().reshape(3, KEYS, DIM)),
    "selected": ROWS >= 0.2, "separable": torch.ones(3, 4, KEYS, dtype=torch.bool),
    "query": ROWS[:, :DIM].float(), "spread": ROWS[:, 0], "function": torch.exp,
    "n": 2, "length": KEYS, "dim": DIM, "heads": 2, "excess": 1, "peel": 1, "strata": 2, "draws": 5,
    "nodes": 40, "temperature": 0.5, "epsilon": 0.1, "r": 0.5, "separation": 0.3,
    "separability": 0.8, "coverage": 0.9, "level": 0.05, "alpha": 1.5, "density": 1.0, "s": 1.0,
    "lead": 1.5, "weight": 0.5, "lowest": 0.5, "highest": 2.0, "a": 1.0,
    **dict.fromkeys(("one", "two", "above", "below", "sharp", "mean", "normalizer", "largest",
                     "sink"), ROWS[:, 0]), "beta": 1.0, "c": 4.0, "h": 0.1,
}  # fmt: skip
# Of which one is refused by every function that takes it.
REFUSED: dict[str, list[Any]] = {
    "n": [1.5, -1, KEYS + 1, "2", None],
    "length": [0, -3],
    "dim": [0, -1, 2.5],
    "heads": [-1, 1.5],
    "excess": [-1, 0.5],
    "peel": [-1, 1.5],
    "strata": [-1, 0.5],
    "draws": [0, 1.5],
    "nodes": [0, 1.5],
    "alpha": [1.0, 3.0],
    "density": [0.0],
}
# For some a limit exists: an infinity, a NaN or words, but no bare error.
ZERO = ("temperature", "epsilon", "lead", "separation", "r", "s")
PUBLIC = {
    f"{module.name}.{name}": function
    for module in pkgutil.iter_modules(normalization.__path__)
    for name, function in vars(
        importlib.import_module(f"headgauge.theory.normalization.{module.name}")
    ).items()
    if inspect.isfunction(function)
    and not name.startswith("_")
    and function.__module__ == f"headgauge.theory.normalization.{module.name}"
}


def arguments(function: Callable[..., Any]) -> dict[str, Any]:
    return {name: GIVEN[name] for name in inspect.signature(function).parameters if name in GIVEN}


def without(axis: int, arguments: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The tensors of these names with nothing along an axis."""
    return {
        name: given.narrow(axis, 0, 0) if name in names else given
        for name, given in arguments.items()
    }


# Of several numbers each, whatever they stand for: there is nothing to refuse.
ELEMENTWISE = ("mean_bounds", "cantelli", "deviation_bound", "cap_probability")
OVER_KEYS = ("weights", "logits", "values", "slopes", "xi_values", "direction", "step", "selected",
             "separable")  # fmt: skip


pytestmark = pytest.mark.usefixtures("unchecked")


def refused(function: Callable[..., Any], given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"needs|must be") as caught:
        function(**given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", PUBLIC)
def test_what_cannot_be_measured_is_refused_in_words(name: str) -> None:
    function = PUBLIC[name]
    given = arguments(function)
    function(**given)  # what is right is taken
    if name.split(".")[1] not in ELEMENTWISE and {"vectors", "keys", *OVER_KEYS} & set(given):
        refused(function, without(-2, without(-1, given, OVER_KEYS), ("vectors", "keys")))
    if {"vectors", "keys"} & set(given):
        refused(function, without(-1, given, ("vectors", "keys", "query")))
    for label in set(given) & set(REFUSED):
        for wrong in REFUSED[label]:
            refused(function, given | {label: wrong})
    for label in set(given) & set(ZERO):
        try:
            function(**(given | {label: 0.0}))
        except ValueError as error:
            assert "needs" in str(error) or "must be" in str(error)  # noqa: PT017


def test_the_names_above_are_the_ones_there_are() -> None:
    """A parameter without a value here would pass by not being asked."""
    optional = {"missing", "generator", "tolerance", "sphere_radius"}
    taken = {name for each in PUBLIC.values() for name in inspect.signature(each).parameters}
    assert taken - optional == set(GIVEN)
    assert len(PUBLIC) > 60
