"""Another rule in the place of a model's softmax.

    with swap(model, "ssmax", s=0.2, layers=[3, 4], heads=[0, 1]):
        model.generate(…)
    with swap(model, headgauge.normalizers.get("entmax", alpha=1.3)):
        model(input_ids)
    with swap(model, {"L18H7": "sparsemax", (3, 5): headgauge.normalizers.get("ssmax", s=0.2)}):
        headgauge.scan(model)

A rule gets the logits that the model's softmax gets, after softcap and bias, and n counts the keys
that a query sees: its past in the cache, its window, its own document, never padding. A sink of the
model's own is one more logit of each row, which n does not count; the rule `sink` takes its place.
For rules that read cosines, queries and keys are made of length one.

Blocks may stand inside one another: the inner one is in force for the heads it names. They hold in
the thread that opened them. A backward pass belongs inside the block wherever gradient
checkpointing computes layers again.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn

from headgauge.errors import InputError, wholes
from headgauge.models.facts import LoadedModel
from headgauge.models.head_names import named_heads
from headgauge.models.head_rules import Assigned, HeadRules, by_head, together
from headgauge.models.hooks import Hooks, uncompiled
from headgauge.models.interface import begin_to_serve, check_served, ruled
from headgauge.models.structure import (
    asks_interface,
    attention_modules,
    check_readable,
    head_count,
    unwrapped,
)
from headgauge.normalizers import Normalizer, get

Rule = str | Normalizer
ByHead = Mapping[Any, Rule]


@contextmanager
def swap(
    model: nn.Module | LoadedModel,
    rule: Rule | ByHead,
    *,
    layers: Iterable[int] | int | None = None,
    heads: Iterable[Any] | int | None = None,
    **parameters: Any,
) -> Iterator[None]:
    """The model under another rule, in all its heads or in those of some layers, for as long as
    the block lasts.

    `rule` is a name with its parameters, a `Normalizer`, or a mapping from heads such as L18H7 or
    (18, 7) to those. `heads` are numbers, which hold in every layer, or such heads.
    """
    body = model_of(model)
    if isinstance(rule, Mapping):
        if layers is not None or heads is not None or parameters:
            raise InputError("a mapping says which heads get which rule: leave the rest out")
        chosen = _from_mapping(body, rule)
    else:
        chosen = one_rule(body, rule, layers, heads, parameters)
    with Hooks() as hooks:
        modules = {name: body.get_submodule(name) for name in chosen}
        put = [(modules[name], HeadRules(assigned)) for name, assigned in chosen.items()]
        hooks.enter_context(ruled(put))
        for module in modules.values():
            hooks.before(module, begin_to_serve)
            hooks.after(module, check_served)
        hooks.enter_context(uncompiled())
        yield


def model_of(model: nn.Module | LoadedModel) -> nn.Module:
    """The model itself, or an InputError that says why its attention cannot be reached."""
    body = unwrapped(model.model if isinstance(model, LoadedModel) else model)
    if not isinstance(body, nn.Module):
        raise InputError(f"{type(model).__name__} is no model: load one with headgauge.load")
    if not attention_modules(body):
        raise InputError(f"{type(body).__name__} has no attention module that could be changed")
    check_readable(body)
    return body


def one_rule(
    model: nn.Module,
    rule: Rule,
    layers: Iterable[int] | int | None,
    heads: Iterable[Any] | int | None,
    parameters: Mapping[str, Any],
) -> dict[str, list[Assigned]]:
    """One rule for the chosen modules, by their names."""
    found: dict[str, list[Assigned]] = {}
    for name, mine in chosen_heads(model, layers, heads).items():
        module = model.get_submodule(name)
        count = head_count(module) if mine is None else len(mine)
        found[name] = [Assigned(by_head(as_rule(rule, parameters), count), mine)]
    return found


def chosen_heads(
    model: nn.Module, layers: Iterable[int] | int | None, heads: Iterable[Any] | int | None
) -> dict[str, tuple[int, ...] | None]:
    """The attention modules by name, each with its chosen heads; None: all."""
    names = list(attention_modules(model))
    several = [heads] if isinstance(heads, (int, str)) else heads
    several = None if several is None else list(several)
    if several is not None and any(isinstance(each, (str, tuple)) for each in several):
        if layers is not None:
            raise InputError("heads such as L18H7 name their layers: leave layers out")
        found: dict[str, tuple[int, ...] | None] = {}
        for each in several:  # in the order of their parameters
            ((layer, head),) = named_heads("swap", [each])
            _check_layer(layer, names)
            before = found.get(names[layer]) or ()
            found[names[layer]] = tuple(dict.fromkeys((*before, head)))
    else:
        numbers = wholes("heads", several)
        mine = None if numbers is None else tuple(dict.fromkeys(numbers))
        wanted = wholes("layers", layers)
        for layer in wanted or ():
            _check_layer(layer, names)
        found = {names[layer]: mine for layer in (wanted or range(len(names)))}
    for name, mine in found.items():
        check_reached(model, name, names.index(name), mine or ())
    return found


def _from_mapping(model: nn.Module, rules: ByHead) -> dict[str, list[Assigned]]:
    names = list(attention_modules(model))
    found: dict[str, dict[int, Normalizer]] = {}
    for given, rule in rules.items():
        ((layer, head),) = named_heads("swap", [given])
        _check_layer(layer, names)
        check_reached(model, names[layer], layer, (head,))
        found.setdefault(names[layer], {})[head] = by_head(as_rule(rule, {}), 1)
    return {name: together(each) for name, each in found.items()}


def as_rule(rule: Rule, parameters: Mapping[str, Any]) -> Normalizer:
    """The rule with its parameters."""
    if isinstance(rule, Normalizer):
        if parameters:
            names = ", ".join(parameters)
            raise InputError(f"{rule.name} has its parameters already: leave {names} out")
        return rule
    return get(rule, **parameters)


def check_reached(model: nn.Module, name: str, layer: int, heads: Iterable[int]) -> None:
    """Refuse a module outside transformers' interface, and heads that it does not have."""
    module = model.get_submodule(name)
    if not asks_interface(module):
        raise InputError(
            f"layer {layer} ({name}) computes its attention outside transformers' interface: "
            "another rule cannot be put there"
        )
    count = head_count(module)
    for head in heads:
        if head < 0 or (count is not None and head >= count):
            last = "" if count is None else f" to {count - 1}"
            raise InputError(f"layer {layer} ({name}) has heads 0{last}, not {head}")


def _check_layer(layer: int, names: list[str]) -> None:
    if not 0 <= layer < len(names):
        raise InputError(f"there are layers 0 to {len(names) - 1}, not {layer}")
