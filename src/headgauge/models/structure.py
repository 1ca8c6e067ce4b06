"""What a model is made of: its attention modules and layers, and whether it can be looked into.

A module counts as attention if the code of its `forward` asks transformers' attention interface for
a function, or if its class is named for attention and holds no other such module (`BertAttention`
wraps `BertSelfAttention`; the inner one counts). A layer is the member of a ModuleList that holds
an attention module.
"""

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from headgauge.errors import InputError

IMPLEMENTATIONS = ("sdpa", "eager")
_PARALLEL = (nn.DataParallel, nn.parallel.DistributedDataParallel)


def attention_modules(model: nn.Module) -> dict[str, nn.Module]:
    """The attention modules by name, in the order in which the model holds them."""
    candidates = {
        name: module
        for name, module in model.named_modules()
        if name and (asks_interface(module) or _named_for_attention(module))
    }
    return {
        name: module
        for name, module in candidates.items()
        if asks_interface(module) or not any(other.startswith(f"{name}.") for other in candidates)
    }


def asks_interface(module: nn.Module) -> bool:
    """Whether a module's forward asks transformers' attention interface for a function."""
    forward = getattr(type(module), "forward", None)
    code = getattr(inspect.unwrap(forward), "__code__", None) if callable(forward) else None
    return "ALL_ATTENTION_FUNCTIONS" in getattr(code, "co_names", ())


def layer_of(name: str, modules: dict[str, nn.Module]) -> str:
    """The layer that holds an attention module: its outermost ancestor inside a ModuleList."""
    parts = name.split(".")
    for depth in range(1, len(parts)):
        if isinstance(modules[".".join(parts[:depth])], nn.ModuleList):
            return ".".join(parts[: depth + 1])
    return name


def all_layers(model: nn.Module) -> list[str]:
    """The layers that hold attention, with those between them that hold none (as in a hybrid)."""
    modules = dict(model.named_modules())
    found: dict[str, None] = {}
    for name in attention_modules(model):
        layer = layer_of(name, modules)
        above = layer.rpartition(".")[0]
        beside = modules[above] if layer != name else None
        several = [f"{above}.{each}" for each, _ in beside.named_children()] if beside else [layer]
        found |= dict.fromkeys(several)
    return list(found)


def encoder_attention(model: nn.Module) -> set[str]:
    """The attention modules of the encoder of an encoder-decoder."""
    loose: Any = model
    if not getattr(getattr(loose, "config", None), "is_encoder_decoder", False):
        return set()
    encoder = {id(module) for module in loose.get_encoder().modules()}
    return {name for name, module in attention_modules(model).items() if id(module) in encoder}


def stream_layers(model: nn.Module) -> list[str]:
    """The layers of the residual stream; of an encoder-decoder the decoder's, which predicts."""
    modules, encoder = dict(model.named_modules()), encoder_attention(model)
    names = (name for name in attention_modules(model) if name not in encoder)
    return list(dict.fromkeys(layer_of(name, modules) for name in names))


def eager_function(module: nn.Module) -> Callable[..., Any]:
    """The function that the module's own file uses for plain ("eager") attention.

    Each modeling file has its own, and hands it over only as the interface's default.
    """
    for kind in type(module).__mro__:
        code = inspect.unwrap(vars(kind)["forward"]) if "forward" in vars(kind) else None
        scope = getattr(code, "__globals__", {})
        for name in getattr(getattr(code, "__code__", None), "co_names", ()):
            if name.endswith("eager_attention_forward") and callable(scope.get(name)):
                return scope[name]
    raise InputError(
        f"{type(module).__name__} has no eager attention function in its file; "
        'set the model to "sdpa" first: model.set_attn_implementation("sdpa")'
    )


def head_count(module: nn.Module) -> int | None:
    """How many heads a module says it has; None if it does not say."""
    for place in (module, getattr(module, "config", None)):
        for name in ("num_heads", "num_attention_heads", "n_heads", "n_head"):
            if isinstance(found := getattr(place, name, None), int):
                return found
    return None


def without_cache(model: nn.Module) -> dict[str, bool]:
    """Keys and values would only be kept for a next token that never comes."""
    takes = "use_cache" in inspect.signature(model.forward).parameters
    return {"use_cache": False} if takes else {}


def unwrapped(model: Any) -> Any:
    """A model without the wrapper of torch.compile or DataParallel."""
    while isinstance(model, _PARALLEL) or hasattr(model, "_orig_mod"):
        model = model.module if isinstance(model, _PARALLEL) else model._orig_mod
    return model


def readable(model: Any) -> nn.Module:
    """A transformers model that reads text, without the wrapper of torch.compile or DataParallel.

    An InputError says what it is otherwise.
    """
    name = type(model).__name__
    model = unwrapped(model)
    if not isinstance(model, nn.Module) or not hasattr(model, "config"):
        raise InputError(f"{name} is no transformers model: it has no config")
    wanted = getattr(model, "main_input_name", "input_ids")
    if wanted != "input_ids":
        raise InputError(f"{name} reads {wanted}, not text: only models of text can be scanned")
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


def _named_for_attention(module: nn.Module) -> bool:
    name = type(module).__name__.lower()
    return "attention" in name or "attn" in name
