"""The attention calls of a training, seen where transformers' interface makes them.

While a watcher is armed the entries of the interface are wrapped, and at no other time: a step that
is not logged runs as if there were no monitor. Of a step each attention module counts once, at its
first call, which is that of the first micro-batch. Calls in eval mode do not count, nor do those
inside a backward pass, where gradient checkpointing computes layers again.
"""

import sys
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from headgauge.errors import InputError
from headgauge.models.attention_rows import attention_of
from headgauge.models.call_masks import implementations, kind_of
from headgauge.models.head_rules import HeadRules
from headgauge.models.interface import watched
from headgauge.models.structure import asks_interface, attention_modules, head_count, unwrapped
from headgauge.training.attention import Call

Seen = Callable[[int, Call, bool], None]  # layer, call, whether it counts for the log

_COMPILED = (
    "the model is compiled: to see its attention would leave the compiled code on logged steps and "
    "change digits; train it without torch.compile to watch it"
)
_watched: "weakref.WeakSet[nn.Module]" = weakref.WeakSet()  # modules that have a monitor


class Watching:
    """What a monitor sees of its model; `seen` is called with each call that it asked for."""

    def __init__(self, model: Any, seen: Seen):
        self.model = watchable(model)
        self.modules = {
            name: module
            for name, module in attention_modules(self.model).items()
            if asks_interface(module)
        }
        self.layers = list(self.modules)
        self.shapes: dict[int, tuple[int, int]] = {}  # heads and key heads, of each layer seen
        self.other_rules: set[int] = set()
        self._names = {id(module): name for name, module in self.modules.items()}
        self._seen, self._armed = seen, ExitStack()
        self._wants, self._counted, self._all = False, set[int](), False
        self._settled = False
        _claim([self.model, *self.modules.values()])

    def arm(self, log: bool, everything: bool) -> None:
        """From here on: calls for the log, or every call of the step (for QK-clip)."""
        self.disarm()
        self._wants, self._all = log, everything
        if (log or everything) and self.modules:
            refuse_compiled(self.model)
            self._armed.enter_context(watched(self, _entries(self.model)))

    def disarm(self) -> None:
        self._armed.close()
        self._wants = self._all = False
        self._counted.clear()

    @property
    def counted(self) -> set[int]:
        """The layers that were seen for the log since it was armed."""
        return set(self._counted)

    def heads(self) -> list[int]:
        """Of every layer; of one that has not run what it says itself. No layer comes later."""
        self._settled = True
        for at, name in enumerate(self.layers):
            if at not in self.shapes:
                count = head_count(self.modules[name])
                known = next(iter(self.shapes.values()))
                self.shapes[at] = known if count is None else (count, count)
        return [self.shapes[at][0] for at in range(len(self.layers))]

    def release(self) -> None:
        """The model may have another monitor."""
        self.disarm()
        for module in (self.model, *self.modules.values()):
            _watched.discard(module)

    def watches(self, module: nn.Module) -> bool:
        """Whether a call of the interface is asked for."""
        name = self._names.get(id(module))
        return name is not None and module.training and self.asks(name)

    def asks(self, layer: str) -> bool:
        """Whether a call of this layer, made now in training mode, is asked for."""
        if not (self._wants or self._all) or torch._C._current_graph_task_id() != -1:
            return False
        return (
            self._all or layer not in self.layers or self.layers.index(layer) not in self._counted
        )

    def see(
        self,
        implementation: str,
        attend: Callable[..., Any],
        rules: HeadRules | None,
        module: nn.Module,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Make a call of the interface as it would have been made, and look at it."""
        if _in_compiled_code():
            raise InputError(_COMPILED)
        made = attend(module, *args, **kwargs)
        name = self._names[id(module)]
        if rules is not None:
            self.other_rules.add(self.layers.index(name))
        else:
            fields = attention_of(implementation, module, args, kwargs)
            self.take(name, Call.of(fields, made[0]))
        return made

    def take(self, layer: str, call: Call) -> None:
        """A call that was asked for."""
        if layer not in self.layers:
            if self._settled:
                raise InputError(f"layer {layer} was not there on the first logged step")
            self.layers.append(layer)
        at = self.layers.index(layer)
        heads = call.heads
        if self.shapes.setdefault(at, heads) != heads:
            raise InputError(f"{layer} had {self.shapes[at][0]} heads and has {heads[0]} now")
        first = self._wants and at not in self._counted
        self._seen(at, call, first)
        if first:
            self._counted.add(at)
        if not self._all and len(self._counted) == len(self.modules) > 0:
            self._armed.close()  # all that the log asks for is there


def watchable(model: Any) -> nn.Module:
    """The model without wrappers, or a line that says why it cannot be watched."""
    name = type(model).__name__
    if isinstance(model, nn.DataParallel):
        raise InputError(
            "DataParallel runs copies of the model, which cannot be watched: use "
            "DistributedDataParallel"
        )
    refuse_compiled(model)
    body = unwrapped(model)
    if not isinstance(body, nn.Module):
        raise InputError(f"{name} is no model: give the torch module that is trained")
    if next(body.parameters(), None) is None:
        raise InputError(f"{name} has no parameters: give the model that is trained")
    attention = attention_modules(body)
    inside = [each for each in attention.values() if asks_interface(each)]
    if type(body).__module__.startswith("transformers.") and not inside:
        raise InputError(
            f"{name} computes its attention outside transformers' interface and cannot be watched"
        )
    if inside:
        _entries(body)
    return body


def refuse_compiled(model: Any) -> None:
    """Inside compiled code nothing is seen, and to leave it on logged steps would change digits."""
    parts = model.modules() if isinstance(model, nn.Module) else ()
    compiled = (
        hasattr(each, "_orig_mod") or each._compiled_call_impl is not None for each in parts
    )
    if "torch._dynamo" in sys.modules and any(compiled):
        raise InputError(_COMPILED)


def _in_compiled_code() -> bool:
    """Whether this runs for compiled code that had to stop here: compiled after the monitor began,
    and so in a way that nothing of the model tells."""
    frame = sys._getframe() if "torch._dynamo" in sys.modules else None
    while frame is not None:
        code, frame = frame.f_code, frame.f_back
        if code.co_name == "compile_wrapper" and code.co_filename.endswith("eval_frame.py"):
            return True
    return False


def _entries(model: nn.Module) -> list[str]:
    """The entries of the interface to wrap."""
    names = sorted(implementations(model))
    for name in names:
        if kind_of(name) is None or name.startswith("paged|"):
            raise InputError(
                f"attention implementation {name!r} is not known, and what it does with its mask "
                'is not either: use model.set_attn_implementation("sdpa")'
            )
    return names or ["sdpa"]


def _claim(modules: list[nn.Module]) -> None:
    for module in modules:
        if module in _watched:
            raise InputError(
                f"this {type(module).__name__} has a monitor already: close it before another"
            )
    for module in modules:
        _watched.add(module)


def device_of(model: nn.Module) -> torch.device:
    first: Tensor = next(model.parameters())
    return first.device
