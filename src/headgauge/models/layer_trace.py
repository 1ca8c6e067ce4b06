"""What runs inside a model's layers, in order: a short pass with everything kept, layer by layer.

A layer is the member of a ModuleList that holds an attention module. Of an encoder-decoder the
decoder's layers are traced: its stream is the one that is predicted from.
"""

import inspect
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from headgauge.errors import InputError
from headgauge.models.attention_modules import attention_modules
from headgauge.models.calls import ObservedCall
from headgauge.models.intercept import intercept
from headgauge.models.vectors import _encoder_modules, _layer_of
from headgauge.threads import here_only


@dataclass(frozen=True, eq=False)
class ModuleRun:
    """A module that ran in a layer; its first input and output where they look like the stream."""

    name: str
    module: nn.Module
    given: Tensor | None
    made: Tensor | None
    after: bool  # once the attention had mixed the tokens


@dataclass(eq=False)
class LayerTrace:
    """One run of a layer: what entered, every module in the order of finishing, what left."""

    layer: str
    entering: Tensor
    runs: list[ModuleRun] = field(default_factory=list)
    attention: str | None = None  # the first attention that ran
    leaving: Tensor | None = None

    def inside(self, run: ModuleRun) -> bool:
        """Whether a module is a part of the attention."""
        return run.name.startswith(f"{self.attention}.")

    @property
    def left(self) -> Tensor:
        assert self.leaving is not None
        return self.leaving


def stream_layers(model: nn.Module) -> dict[str, tuple[str, ...]]:
    """The layers of the (decoder's) residual stream by name, each with its attention modules."""
    modules = dict(model.named_modules())
    encoder = _encoder_modules(model)
    found: dict[str, tuple[str, ...]] = {}
    for name in attention_modules(model):
        if name not in encoder:
            layer = _layer_of(name, modules)
            found[layer] = (*found.get(layer, ()), name)
    return found


def trace_layers(
    model: nn.Module, inputs: Mapping[str, Tensor], observer: Callable[[LayerTrace], object]
) -> None:
    """Run the model on a few tokens and hand over the trace of each layer as it ends."""
    with torch.no_grad(), ExitStack() as hooks:
        tracer = _Tracer(model, observer, hooks)
        hooks.enter_context(intercept(model, tracer.mixed))
        model(**inputs, **without_cache(model))


class _Tracer:
    def __init__(
        self, model: nn.Module, observer: Callable[[LayerTrace], object], hooks: ExitStack
    ) -> None:
        self._hooks = hooks
        self._observer = observer
        self._now: LayerTrace | None = None
        modules = dict(model.named_modules())
        for layer, attentions in stream_layers(model).items():
            self._hook(modules[layer], layer, attentions)

    def mixed(self, call: ObservedCall) -> None:
        """The attention has computed its sums."""
        if self._now is not None and self._now.attention is None:
            self._now.attention = call.module

    def _hook(self, layer: nn.Module, layer_name: str, attentions: tuple[str, ...]) -> None:
        def begin(module: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
            self._now = LayerTrace(layer_name, stream_given(layer_name, args, kwargs).clone())

        def end(module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> None:
            trace, self._now = self._now, None
            if trace is not None:
                trace.leaving = stream_made(layer_name, output).clone()
                self._observer(trace)

        self._keep(layer.register_forward_pre_hook(here_only(begin), with_kwargs=True))
        for name, module in layer.named_modules(prefix=layer_name):
            if module is not layer:
                ran = self._recorder(name, name in attentions)
                self._keep(module.register_forward_hook(here_only(ran), with_kwargs=True))
        self._keep(layer.register_forward_hook(here_only(end), with_kwargs=True))

    def _recorder(self, name: str, attends: bool) -> Callable[..., None]:
        def ran(module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> None:
            trace = self._now
            if trace is None:
                return
            if attends and trace.attention is None:
                trace.attention = name  # not to be seen inside: mixed by now at the latest
            given = args[0] if args else kwargs.get("hidden_states")
            trace.runs.append(
                ModuleRun(
                    name,
                    module,
                    _kept(given, trace.entering),
                    _kept(first_tensor(output), trace.entering),
                    trace.attention is not None,
                )
            )

        return ran

    def _keep(self, hook: Any) -> None:
        self._hooks.callback(hook.remove)


def stream_given(layer: str, args: Any, kwargs: Mapping[str, Any]) -> Tensor:
    """The stream that enters a layer."""
    found = args[0] if args else kwargs.get("hidden_states")
    if not isinstance(found, Tensor) or found.ndim != 3:
        what = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
        raise InputError(
            f"{layer} gets {what}, not a stream of shape (1, tokens, dim): scan without depth"
        )
    return found


def stream_made(layer: str, output: Any) -> Tensor:
    """The stream that leaves it."""
    found = first_tensor(output)
    if found is None:
        raise InputError(f"{layer} returns no tensor, so it has no stream: scan without depth")
    return found


def first_tensor(output: Any) -> Tensor | None:
    """A module's output, or the first of several."""
    found = output[0] if isinstance(output, (tuple, list)) and output else output
    return found if isinstance(found, Tensor) else None


def without_cache(model: nn.Module) -> dict[str, bool]:
    """Keys and values would only be kept for a next token that never comes."""
    takes = "use_cache" in inspect.signature(model.forward).parameters
    return {"use_cache": False} if takes else {}


def _kept(found: Any, stream: Tensor) -> Tensor | None:
    """A copy, because some layers add in place; None for what is no stream.

    OPT's layers read the tokens of all windows as one list.
    """
    if not isinstance(found, Tensor) or not found.is_floating_point():
        return None
    same = found.numel() == stream.numel() and found.shape[-1] == stream.shape[-1]
    return found.detach().clone().view_as(stream) if same else None
