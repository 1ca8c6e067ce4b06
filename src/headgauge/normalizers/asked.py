"""A rule as users write it: its name, its numbers, and which of them are to be fitted.

    softmax:temperature=fit,ssmax:s=fit/head:b=0.1,entmax:alpha=1.5,sparsemax,topk:k=16

Commas stand between rules, colons before parameters. `fit` asks for one number for the whole model,
`fit/layer` and `fit/head` for one for each; which parameters can be fitted, and where to look for
them, the rules say themselves (`Normalizer.fits`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Any, Literal, get_args

from torch import Tensor

from headgauge.errors import InputError
from headgauge.normalizers.base import Normalizer
from headgauge.normalizers.named import check_parameters, get, rule_class
from headgauge.normalizers.rows import Number, PerRow

Scope = Literal["model", "layer", "head"]
_FITS: dict[str, Scope] = {
    "fit": "model",
    "fit/model": "model",
    "fit/layer": "layer",
    "fit/head": "head",
}


@dataclass(frozen=True)
class AskedRule:
    """A rule of `RULES` with the parameters given as numbers, and for those to be fitted the scope
    that shares a number; the others keep their defaults."""

    name: str
    parameters: dict[str, Number] = field(default_factory=dict)
    fitted: dict[str, Scope] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a name, a parameter or a value that the rule does not have."""
        check_parameters(self.name, [*self.parameters, *self.fitted])
        for label, value in self.parameters.items():
            if isinstance(value, Tensor):
                raise InputError(
                    f"{self.name}: {label} is a tensor of shape {tuple(value.shape)}; a rule asked "
                    "for takes plain numbers"
                )
        get(self.name, **self.parameters)
        can = rule_class(self.name).fits()
        for label, scope in self.fitted.items():
            if label not in can:
                others = f"only {', '.join(can)} can" if can else "none of its parameters can"
                raise InputError(f"{self.name}: {label} cannot be fitted; {others}")
            if label in self.parameters:
                raise InputError(f"{self.name}: {label} is given twice")
            if scope not in get_args(Scope):
                raise InputError(f"{self.name}: {label} is fitted by model, layer or head")

    @classmethod
    def of(cls, rule: Normalizer) -> "AskedRule":
        """A rule made in Python, all its parameters as numbers."""
        given = {label: value for label, value in vars(rule).items() if value is not None}
        return cls(rule.name, {label: _plain(value) for label, value in given.items()})

    @property
    def text(self) -> str:
        """As one writes it, parameters in the rule's own order; `asked_rules` reads it back."""
        words = {label: _shown(value) for label, value in self.parameters.items()}
        for label, scope in self.fitted.items():
            words[label] = "fit" if scope == "model" else f"fit/{scope}"
        order = [each.name for each in fields(rule_class(self.name)) if each.name in words]
        return ":".join([self.name, *(f"{label}={words[label]}" for label in order)])

    def rule(self, **values: PerRow) -> Normalizer:
        """The rule itself, with the fitted parameters filled in."""
        for label in self.fitted:
            if label not in values:
                raise InputError(f"{self.text}: {label} needs a number: nothing is fitted here")
        for label in values:
            if label not in self.fitted:
                raise InputError(f"{self.text}: {label} was not to be fitted")
        return get(self.name, **self.parameters, **values)

    def same(self, other: "AskedRule") -> bool:
        """Whether both mean the same rule: a default that was written out is still the default."""
        return self._meant() == other._meant()

    def _meant(self) -> tuple[Any, ...]:
        defaults = rule_class(self.name).facts().parameters
        return self.name, defaults | self.parameters | self.fitted

    def __hash__(self) -> int:
        return hash(self.text)


def asked_rules(given: str | Sequence[str | Normalizer]) -> tuple[AskedRule, ...]:
    """The rules in a text, or in a sequence of texts and rules made in Python."""
    found: list[AskedRule] = []
    for each in [given] if isinstance(given, str | Normalizer) else given:
        rules = _from_text(each) if isinstance(each, str) else [_from_python(each)]
        for rule in rules:
            twin = next((one for one in found if rule.same(one)), None)
            if twin is not None:
                again = rule.text if rule == twin else f"{twin.text} and {rule.text}"
                raise InputError(f"the same rule twice: {again}")
            found.append(rule)
    return tuple(found)


def _from_python(given: Any) -> AskedRule:
    if not isinstance(given, Normalizer):
        raise InputError(f"a rule is a text such as ssmax:s=0.2 or a Normalizer; got {given!r}")
    return AskedRule.of(given)


def _from_text(text: str) -> list[AskedRule]:
    rules = [each.strip() for each in text.split(",")]
    if "" in rules:
        raise InputError(
            f"no rule between two commas in {text!r}" if any(rules) else "no rule was given"
        )
    return [_one(each) for each in rules]


def _one(text: str) -> AskedRule:
    name, *parts = (part.strip() for part in text.split(":"))
    rule = rule_class(name)
    numbers: dict[str, Number] = {}
    fitted: dict[str, Scope] = {}
    for part in parts:
        label, equals, value = (word.strip() for word in part.partition("="))
        if not (label and equals and value):
            labels = [each.name for each in fields(rule)]
            example = ":".join([name, *(f"{each}=…" for each in labels)])
            raise InputError(
                f"{part!r} in {text!r} is no parameter with a value; {name} is written {example}"
            )
        check_parameters(name, [label])
        if label in numbers or label in fitted:
            raise InputError(f"{name}: {label} is given twice")
        if value in _FITS:
            fitted[label] = _FITS[value]
        else:
            numbers[label] = _number(name, label, value, label in rule.fits())
    return AskedRule(name, numbers, fitted)


def _number(name: str, label: str, value: str, can_be_fitted: bool) -> Number:
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:  # also an integer of more digits than python reads
            continue
    wanted = "a number, fit, fit/layer or fit/head" if can_be_fitted else "a number"
    raise InputError(f"{name}: {label} must be {wanted}; got {value!r}")


def _plain(value: Any) -> Any:
    """Of numpy's numbers python's own; a tensor stays one, and is refused by name."""
    if isinstance(value, Tensor):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def _shown(value: Number) -> str:
    """The shortest text that reads back as the same number: 2 for 2.0."""
    return repr(value).removesuffix(".0")
