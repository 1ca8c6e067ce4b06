"""Installed rules in a file beside a model's weights.

A safetensors file with the learned numbers, one tensor for each parameter of each attention module,
and in its header the rule, the heads and the other parameters of each.
"""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from headgauge.atomic import whole_file
from headgauge.errors import InputError
from headgauge.models.facts import LoadedModel
from headgauge.models.installing import InstalledRule, check_free, installed, put
from headgauge.models.structure import attention_modules
from headgauge.models.swapping import check_reached, model_of
from headgauge.normalizers import RULES

_FORMAT = "headgauge rules 1"


def save_rule(model: nn.Module | LoadedModel, path: str | Path) -> None:
    """Write the model's installed rules, with their parameters, into a file."""
    body = model_of(model)
    found = installed(body)
    if not found:
        raise InputError(f"{type(body).__name__} has no rule installed that could be saved")
    rules: list[dict[str, Any]] = []
    tensors: dict[str, Tensor] = {}
    for name, several in found.items():
        for each in several:
            told = {"module": name, "rule": each.name, "heads": each.heads, "fixed": each.fixed}
            for key, value in each.named_parameters():
                tensors[f"{len(rules)}.{key}"] = value.detach().cpu().contiguous()
            rules.append(told)
    if not Path(path).parent.is_dir():
        raise InputError(f"there is no folder {Path(path).parent} to save the rule in")
    with whole_file(Path(path)) as temporary:
        save_file(tensors, temporary, {"format": _FORMAT, "rules": json.dumps(rules)})


def load_rule(model: nn.Module | LoadedModel, path: str | Path, *, trainable: bool = True) -> None:
    """Install what `save_rule` wrote, in the same modules of the same shape."""
    body = model_of(model)
    rules, tensors = _read(Path(path))
    names = list(attention_modules(body))
    device = next(body.parameters()).device
    made: list[tuple[nn.Module, InstalledRule]] = []
    for index, told in enumerate(rules):
        name, heads = told["module"], tuple(told["heads"])
        if name not in names:
            raise InputError(f"{path} has a rule for {name}, which {type(body).__name__} has not")
        check_reached(body, name, names.index(name), heads)
        module = body.get_submodule(name)
        check_free(module, name, heads)
        if told["rule"] not in RULES:
            raise InputError(f"{path} has a rule {told['rule']!r} that is not known here")
        mine = {
            key: tensors[f"{index}.{key}"].to(device)
            for key in RULES[told["rule"]].per_row()
            if f"{index}.{key}" in tensors
        }
        try:
            rule = InstalledRule(told["rule"], heads, told["fixed"], mine, trainable)
            rule.assigned()
        except TypeError as error:
            raise InputError(f"{path}: {told['rule']} has other parameters here") from error
        made.append((module, rule))
    for module, rule in made:
        put(module, rule)


def _read(path: Path) -> tuple[list[dict[str, Any]], dict[str, Tensor]]:
    try:
        with safe_open(path, "pt") as opened:
            told = opened.metadata() or {}
            tensors = {key: opened.get_tensor(key) for key in opened.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (OSError, SafetensorError) as error:
        raise InputError(f"{path} was cut or is no safetensors: {error}") from None
    if told.get("format") != _FORMAT:
        raise InputError(f"{path} has no rule in it: it was not written by save_rule")
    return json.loads(told["rules"]), tensors
