"""Normalisation rules: what turns a row of attention logits into weights.

    rule = headgauge.normalizers.get("entmax", alpha=1.5)
    weights = rule(logits, mask)

One file per family of rules. To add one, write it, put the class in `RULES` and an instance in
the list of the tests.
"""

import difflib
from dataclasses import fields
from typing import Any

from headgauge.errors import InputError
from headgauge.normalizers import entmax, lssa, sa_softmax, scaled_softmax, unnormalized
from headgauge.normalizers.base import Facts, Normalizer
from headgauge.normalizers.entmax import ASEntmaxScale
from headgauge.normalizers.jacobian import Jacobian

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

__all__ = [
    "RULES",
    "ASEntmaxScale",
    "Facts",
    "Jacobian",
    "Normalizer",
    "describe",
    "get",
    "names",
]


def names() -> list[str]:
    """The names `get` knows, in the order of the documentation."""
    return list(RULES)


def get(name: str, **parameters: Any) -> Normalizer:
    """The rule of this name: `get("softmax", temperature=2.0)`, `get("topk", k=16)`."""
    rule = _rule(name)
    known = [field.name for field in fields(rule)]
    for parameter in parameters:
        if parameter not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InputError(
                f"{name} has no parameter {parameter!r}{_meant(parameter, known)}; {takes}"
            )
    try:
        return rule(**parameters)
    except TypeError as error:
        shown = ", ".join(f"{key}={value!r}" for key, value in parameters.items())
        raise InputError(f"{name}: a value in {shown} has a type it cannot have") from error


def describe(name: str) -> Facts:
    """Formula, source, parameters and properties of a rule."""
    return _rule(name).facts()


def _rule(name: str) -> type[Normalizer]:
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
