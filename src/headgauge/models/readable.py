"""Whether a model can be looked into, and the model itself inside what is wrapped around it."""

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import nn

from headgauge.errors import InputError
from headgauge.models.attention_modules import attention_modules

IMPLEMENTATIONS = ("sdpa", "eager")
_PARALLEL = (nn.DataParallel, nn.parallel.DistributedDataParallel)


def readable(model: Any) -> nn.Module:
    """A transformers model that reads text, without the wrapper of torch.compile or DataParallel.

    An InputError says what it is otherwise.
    """
    name = type(model).__name__
    while isinstance(model, _PARALLEL) or hasattr(model, "_orig_mod"):
        model = model.module if isinstance(model, _PARALLEL) else model._orig_mod
    if not isinstance(model, nn.Module) or not hasattr(model, "config"):
        raise InputError(f"{name} is no transformers model: it has no config")
    wanted = getattr(model, "main_input_name", "input_ids")
    if wanted != "input_ids":
        raise InputError(f"{name} reads {wanted}, not text: only models of text can be scanned")
    if not attention_modules(model):
        raise InputError(f"{name} has no attention module that could be measured")
    check_readable(model)
    return model


def check_readable(model: nn.Module) -> None:
    """Refuse what hides its masks, as flash and flex attention do, and what has no weights here."""
    for name, weight in model.named_parameters():
        if weight.is_meta:
            raise InputError(
                f"{name} is on the meta device, without numbers: load the model's weights, and "
                "onto a device rather than offloaded"
            )
    configs = (getattr(module, "config", None) for module in model.modules())
    used = {str(getattr(config, "_attn_implementation", None)) for config in configs}
    for name in sorted(used - {"None", *IMPLEMENTATIONS}):
        raise InputError(
            f"cannot look into attention implementation {name!r}; "
            'use model.set_attn_implementation("sdpa") or "eager"'
        )


def uncompiled() -> AbstractContextManager[Any]:
    """Compiled modules run as they are written meanwhile: inside compiled code nothing is seen."""
    if "torch._dynamo" in sys.modules and hasattr(torch.compiler, "set_stance"):
        return torch.compiler.set_stance("force_eager")
    return nullcontext()
