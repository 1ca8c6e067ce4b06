"""A rule that becomes part of a model, its parameters trained like all others.

    install(model, "ssmax")                     # s and b of every head, from "no change"
    optimiser = torch.optim.AdamW(model.parameters())
    …
    save_rule(model, "ssmax.safetensors")       # beside the model's own weights
    load_rule(another, "ssmax.safetensors")
    uninstall(model)

Each attention module gets a child, `installed_rules`, so that the parameters stand in the model's
`parameters()` and `state_dict()` under its name. They begin where the rule is softmax, or nearest
to it (`Fit.unchanged`), unless a number is given. They are float32 whatever the model is: a
learned scale moves by less than bfloat16 can tell, and the gradient of a sink is a sum that
cancels. A parameter that an optimiser has moved out of its limits acts as if it stood on them.
"""

import weakref
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor, nn

from headgauge.errors import InputError
from headgauge.models.facts import LoadedModel
from headgauge.models.head_rules import Assigned
from headgauge.models.interface import INSTALLED, acquire, begin_to_serve, check_served, release
from headgauge.models.structure import attention_modules, head_count
from headgauge.models.swapping import Rule, as_rule, chosen_heads, model_of
from headgauge.normalizers import RULES, Normalizer


class InstalledRule(nn.Module):
    """The rule of some heads of an attention module, with one number per head for each parameter
    that may differ between heads; the others (`fixed`) are the same for all of them."""

    def __init__(
        self,
        name: str,
        heads: tuple[int, ...],
        fixed: Mapping[str, Any],
        learned: Mapping[str, Tensor],
        trainable: bool,
    ) -> None:
        super().__init__()
        self.name, self.heads, self.fixed = name, heads, dict(fixed)
        for key, start in learned.items():
            setattr(self, key, nn.Parameter(start, requires_grad=trainable))
        self._hold()

    def assigned(self) -> Assigned:
        """The rule with its parameters as they are now."""
        fits = RULES[self.name].fits()
        values: dict[str, Any] = {}
        for key, parameter in self._parameters.items():
            assert parameter is not None
            value: Tensor = parameter.unsqueeze(-1)
            ends = (fits[key].least, fits[key].most) if key in fits else (None, None)
            if ends != (None, None):
                # The value of the limit, the gradient as if there were none: it can come back.
                value = value.detach().clamp(*ends) + (value - value.detach())
            values[key] = value
        return Assigned(RULES[self.name](**self.fixed, **values), self.heads)

    def release(self) -> None:
        """Transformers' interface is no longer needed for this rule."""
        self._held()

    def _hold(self) -> None:
        acquire()
        self._held = weakref.finalize(self, release)
        self._held.atexit = False

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_held"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # of a copy, which needs the interface as well
        self._hold()


def install(
    model: nn.Module | LoadedModel,
    rule: Rule,
    *,
    layers: Iterable[int] | int | None = None,
    heads: Iterable[Any] | int | None = None,
    trainable: bool = True,
    **parameters: Any,
) -> None:
    """Give the model's heads, or those of some layers, a rule whose parameters are the model's.

    `layers` and `heads` choose as in `swap`. `trainable=False` keeps the parameters as they are.
    """
    body = model_of(model)
    chosen = chosen_heads(body, layers, heads)
    made: dict[str, InstalledRule] = {}
    for name, mine in chosen.items():
        module = body.get_submodule(name)
        mine = mine if mine is not None else tuple(range(_count(module, name)))
        check_free(module, name, mine)
        whole = as_rule(rule, _beginning(rule, module, mine) | parameters)
        made[name] = _installed(whole, mine, trainable, body)
    for name, each in made.items():
        put(body.get_submodule(name), each)


def uninstall(model: nn.Module | LoadedModel) -> None:
    """The model as it was before any rule was installed."""
    body = model_of(model)
    found = installed(body)
    if not found:
        raise InputError(f"{type(body).__name__} has no rule installed")
    for name, several in found.items():
        for each in several:
            each.release()
        module = body.get_submodule(name)
        delattr(module, INSTALLED)
        for hooks in (module._forward_pre_hooks, module._forward_hooks):
            for key in [
                key for key, hook in hooks.items() if hook in (begin_to_serve, check_served)
            ]:
                del hooks[key]


def _beginning(rule: Rule, module: nn.Module, heads: tuple[int, ...]) -> dict[str, Any]:
    """The parameters at which a rule that is named changes nothing, or least."""
    if not isinstance(rule, str) or rule not in RULES:
        return {}
    own = getattr(module, "sinks", None)
    if RULES[rule].is_sink and isinstance(own, Tensor) and own.ndim == 1:
        return {"sink": own.detach().float()[list(heads)]}  # whose place it takes
    fits = RULES[rule].fits()
    return {key: fit.unchanged for key, fit in fits.items() if fit.unchanged is not None}


def _installed(
    rule: Normalizer, heads: tuple[int, ...], trainable: bool, model: nn.Module
) -> InstalledRule:
    device = next(model.parameters()).device
    fixed: dict[str, Any] = {}
    learned: dict[str, Tensor] = {}
    for each in fields(rule):
        value = getattr(rule, each.name)
        if each.name not in rule.per_row() or value is None:
            if trainable and each.name in rule.fits():
                raise InputError(
                    f"{rule.name}: {each.name} has no number that training could begin at: give "
                    f"{each.name}=…, or trainable=False"
                )
            fixed[each.name] = value
            continue
        start = torch.as_tensor(value, dtype=torch.float32, device=device).detach().flatten()
        if len(start) not in (1, len(heads)):
            raise InputError(
                f"{rule.name}: {each.name} must be a number or {len(heads)}, one for each head, "
                f"got {len(start)}"
            )
        learned[each.name] = start.expand(len(heads)).clone()
    return InstalledRule(rule.name, heads, fixed, learned, trainable)


def put(module: nn.Module, rule: InstalledRule) -> None:
    """A rule among those of an attention module."""
    there: Any = module._modules.get(INSTALLED)
    if there is None:
        module.add_module(INSTALLED, nn.ModuleList([rule]))
        module.register_forward_pre_hook(begin_to_serve)
        module.register_forward_hook(check_served)
    else:
        there.append(rule)


def installed(model: nn.Module) -> dict[str, list[InstalledRule]]:
    """The rules of a model's attention modules, by their names."""
    found = {name: each._modules.get(INSTALLED) for name, each in attention_modules(model).items()}
    return {name: list(each) for name, each in found.items() if each is not None}  # type: ignore


def _count(module: nn.Module, name: str) -> int:
    count = head_count(module)
    if count is None:
        raise InputError(f"{name} does not say how many heads it has: name them with heads=")
    return count


def check_free(module: nn.Module, name: str, heads: tuple[int, ...]) -> None:
    """Refuse heads that have a rule already."""
    there: Any = module._modules.get(INSTALLED) or ()
    for each in there:
        both = sorted({*each.heads} & {*heads})
        if both:
            raise InputError(
                f"head {both[0]} of {name} has {each.name} installed: uninstall it before another"
            )
