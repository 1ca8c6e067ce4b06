"""Rules by their names: `RULES` has them all, in the order of the documentation."""

import difflib
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from headgauge.errors import InputError
from headgauge.normalizers import entmax, lssa, sa_softmax, scaled_softmax, unnormalized
from headgauge.normalizers.base import Facts, Normalizer

RULES: dict[str, type[Normalizer]] = {
    rule.name: rule
    for rule in (
        scaled_softmax.Softmax,
        scaled_softmax.SSMax,
        entmax.Sparsemax,
        entmax.Entmax,
        entmax.ASEntmax,
        sa_softmax.SASoftmax,
        sa_softmax.SASoftmaxNormalized,
        unnormalized.SoftmaxOne,
        unnormalized.Sink,
        unnormalized.Sigmoid,
        unnormalized.ReLU,
        unnormalized.Softpick,
        scaled_softmax.TopK,
        scaled_softmax.AdaptiveTemperature,
        lssa.LSSA,
        lssa.LSSAR,
        scaled_softmax.LogLengthSu,
        scaled_softmax.LogLengthQwen,
        scaled_softmax.LogLengthYarn,
    )
}


def names() -> list[str]:
    """The names `get` knows, in the order of the documentation."""
    return list(RULES)


def get(name: str, **parameters: Any) -> Normalizer:
    """The rule of this name: `get("softmax", temperature=2.0)`, `get("topk", k=16)`."""
    check_parameters(name, parameters)
    try:
        return rule_class(name)(**parameters)
    except TypeError as error:
        shown = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
        raise InputError(f"{name}: a value in {shown} has a type it cannot have") from error


def check_parameters(name: str, given: Iterable[str]) -> None:
    """Refuse a parameter that the rule of this name does not have."""
    known = [field.name for field in fields(rule_class(name))]
    for parameter in given:
        if parameter not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InputError(
                f"{name} has no parameter {parameter!r}{_meant(parameter, known)}; {takes}"
            )


def describe(name: str) -> Facts:
    """Formula, source, parameters and properties of a rule."""
    return rule_class(name).facts()


def rule_class(name: str) -> type[Normalizer]:
    """The class of the rule of this name."""
    if not isinstance(name, str):
        raise InputError(f"the name of a normalizer is a string; got {name!r}")
    if name not in RULES:
        there = ", ".join(names())
        raise InputError(
            f"there is no normalizer {name!r}{_meant(name, names())}; there are {there}"
        )
    return RULES[name]


def _meant(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word.lower(), known, n=3)
    return f" (did you mean {' or '.join(close)}?)" if close else ""
