"""Which modules of a model are its attention, in order, and what each would call.

A module counts if the code of its `forward` asks transformers' attention interface for a function,
or if its class is named for attention and holds no other such module (`BertAttention` wraps
`BertSelfAttention`; the inner one counts).
"""

import inspect
import sys
from collections.abc import Callable
from typing import Any

from torch import nn

from headgauge.errors import InputError


def attention_modules(model: nn.Module) -> dict[str, nn.Module]:
    """The attention modules by name, in the order in which the model holds them."""
    candidates = {
        name: module
        for name, module in model.named_modules()
        if name and (_asks_interface(type(module)) or _named_for_attention(type(module)))
    }
    return {
        name: module
        for name, module in candidates.items()
        if _asks_interface(type(module))
        or not any(other.startswith(f"{name}.") for other in candidates)
    }


def eager_function(module: nn.Module) -> Callable[..., Any]:
    """The function that the module's own file uses for plain ("eager") attention.

    Each modeling file has its own, and hands it over only as the interface's default.
    """
    for kind in type(module).__mro__:
        forward = vars(kind).get("forward")
        if forward is None:
            continue
        code = inspect.unwrap(forward)
        scope = getattr(code, "__globals__", {})
        for name in getattr(getattr(code, "__code__", None), "co_names", ()):
            if name.endswith("eager_attention_forward") and callable(scope.get(name)):
                return scope[name]
    for kind in type(module).__mro__:
        function = getattr(sys.modules.get(kind.__module__), "eager_attention_forward", None)
        if function is not None:
            return function
    raise InputError(
        f"{type(module).__name__} has no eager attention function in its file; "
        'set the model to "sdpa" first: model.set_attn_implementation("sdpa")'
    )


def head_count(module: nn.Module) -> int | None:
    """How many heads a module says it has; None if it does not say."""
    places = (module, getattr(module, "config", None))
    names = ("num_heads", "num_attention_heads", "n_heads", "n_head")
    for place in places:
        for name in names:
            if isinstance(found := getattr(place, name, None), int):
                return found
    return None


def _asks_interface(kind: type) -> bool:
    code = getattr(inspect.unwrap(kind.forward), "__code__", None) if _has_forward(kind) else None
    return "ALL_ATTENTION_FUNCTIONS" in getattr(code, "co_names", ())


def _has_forward(kind: type) -> bool:
    return callable(getattr(kind, "forward", None))


def _named_for_attention(kind: type) -> bool:
    name = kind.__name__.lower()
    return "attention" in name or "attn" in name
