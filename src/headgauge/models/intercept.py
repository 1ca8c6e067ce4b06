"""Watch a model's attention while its own, unmodified functions compute the output.

    with intercept(model, observer) as seen:
        model(input_ids)

For the time of the block the entries "sdpa" and "eager" of transformers' `AttentionInterface` are
wrapped: the wrapper calls the original with the same arguments, returns its result and hands q, k,
v and the rest to `observer`. The entries keep their names, and the model its configuration and its
mask functions, because modeling files branch on the name: DeepSeek-V3.2 turns its sparse selection
into a mask only under "eager" and "sdpa", and GPT-2 may leave the interface under "eager". A new
name would run another model. Everything is put back when the block ends, however it ends; modules
of other models pass through, and so do calls from other threads than the block's: a model may serve
others meanwhile.

What computes attention outside the interface is seen by the softmax tap. Each call from q, k, v is
checked against the model's output; where they disagree, or where there is NaN or infinity, the
observer does not get it.
"""

import inspect
import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from headgauge.errors import InputError
from headgauge.models.attention_modules import attention_modules, eager_function, head_count
from headgauge.models.calls import AttentionCall, ObservedCall, SoftmaxCall
from headgauge.models.readable import IMPLEMENTATIONS, check_readable, uncompiled
from headgauge.models.softmax_tap import SoftmaxTap, by_head
from headgauge.threads import here_only, in_turn

Observer = Callable[[ObservedCall], object]

# How far Σ weights·v may be from the model's output, relative to its largest entry: rounding stays
# far below, a forgotten mask or bias far above.
TOLERANCE = {torch.float64: 1e-8, torch.float32: 1e-3}
TOLERANCE_HALF = 5e-2

# The interface's order after the module; all else goes by name.
_POSITIONAL = ("query", "key", "value", "attention_mask")
_CONTEXT_ARGUMENTS = ("key_value_states", "encoder_hidden_states")
_in_use = threading.Lock()


@dataclass
class _Running:
    """An attention module inside its forward: what its keys are made of, what was tapped so far."""

    name: str
    heads: int | None
    context: Tensor | None
    tapped: list[tuple[Tensor, Tensor]] = field(default_factory=list)


class Interception:
    """What was seen so far; `intercept` makes one."""

    def __init__(
        self, model: nn.Module, observer: Observer, not_finite: Observer | None = None
    ) -> None:
        self.modules = attention_modules(model)
        self.observed: Counter[str] = Counter()
        self.distrusted: dict[str, float] = {}
        self._observer = observer
        self._not_finite = not_finite
        self._ran: Counter[str] = Counter()
        self._thread = threading.get_ident()
        self._names = {id(module): name for name, module in model.named_modules()}
        self._layers = {name: index for index, name in enumerate(self.modules)}
        self._stack: list[_Running] = []
        self.tap = SoftmaxTap(self._tapped_softmax, self._tapped_sdpa)

    @property
    def unseen(self) -> list[str]:
        """Attention modules that ran and could not be seen, or whose weights did not add up."""
        return [name for name in self.modules if self._ran[name] and not self.observed[name]]

    @property
    def idle(self) -> list[str]:
        """Attention modules that did not run at all."""
        return [name for name in self.modules if not self._ran[name]]

    def knows(self, module: nn.Module) -> bool:
        """Whether a call of a module, made here and now, is one to be seen."""
        return threading.get_ident() == self._thread and id(module) in self._names

    def enter_module(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        """Before an attention module runs: where we are, and whose keys it reads."""
        bound = inspect.signature(module.forward).bind_partial(*args, **kwargs).arguments
        bound |= bound.get("kwargs", {})
        context = next((bound[k] for k in _CONTEXT_ARGUMENTS if bound.get(k) is not None), None)
        self._stack.append(_Running(self._names[id(module)], head_count(module), context))

    def leave_module(self, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        running = self._stack[-1]
        try:
            if output is not None:
                self._report_softmax(running)
        finally:
            self._stack.pop()
            self._ran[running.name] += 1

    def interface_call(
        self, module: nn.Module, implementation: str, arguments: dict[str, Any], output: Tensor
    ) -> None:
        """A call that went through the interface."""
        name = self._names[id(module)]
        mask = arguments.get("attention_mask")
        causal = arguments.get("is_causal")
        causal = bool(getattr(module, "is_causal", True) if causal is None else causal)
        self._report(
            name,
            query=arguments["query"],
            key=arguments["key"],
            value=arguments["value"],
            scaling=arguments.get("scaling"),
            mask=mask,
            # Eager attention knows no causality of its own; sdpa's applies to more than one query.
            causal=implementation == "sdpa" and causal and arguments["query"].shape[2] > 1,
            softcap=arguments.get("softcap"),
            sinks=arguments.get("s_aux"),
            bias=arguments.get("position_bias"),
            output=output,
            dropout=arguments.get("dropout") or 0.0,
        )

    def _tapped_sdpa(self, arguments: dict[str, Any], output: Tensor) -> None:
        if self._stack:
            self._report(
                self._stack[-1].name,
                query=arguments["query"],
                key=arguments["key"],
                value=arguments["value"],
                scaling=arguments["scale"],
                mask=arguments["attn_mask"],
                causal=bool(arguments["is_causal"]),
                softcap=None,
                sinks=None,
                bias=None,
                output=output.transpose(1, 2),
                dropout=arguments["dropout_p"],
            )

    def _tapped_softmax(self, logits: Tensor, weights: Tensor) -> None:
        if self._stack:
            self._stack[-1].tapped.append((logits.detach(), weights.detach()))

    def _report_softmax(self, running: _Running) -> None:
        """Hand over the one softmax of a module that ran.

        Several, or one of another shape, are no rows of weights over the keys (Nyströmformer's
        landmarks, Longformer's bands): such a module counts as unseen.
        """
        if len(running.tapped) != 1:
            return
        logits, weights = (by_head(each, running.heads) for each in running.tapped[0])
        if logits is not None and weights is not None:
            with self.tap.muted():
                self._observe(SoftmaxCall(*self._where(running.name), logits, weights))

    def _report(self, name: str, *, dropout: float, scaling: float | None, **parts: Any) -> None:
        query: Tensor = parts["query"]
        parts = {k: v.detach() if isinstance(v, Tensor) else v for k, v in parts.items()}
        parts["mask"], parts["bias"] = _four_axes(parts["mask"]), _four_axes(parts["bias"])
        scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
        with torch.no_grad():
            call = AttentionCall(*self._where(name), scaling=scale, **parts)
            # Dropout makes the output random: there is nothing to compare with.
            error = 0.0 if dropout else call.reconstruction_error()
        tolerance = TOLERANCE.get(query.dtype, TOLERANCE_HALF)
        if any(call.finite) and not error <= tolerance:
            self._distrust(name, error)
        else:
            self._observe(call)

    def _where(self, name: str) -> tuple[str, int, int, Tensor | None]:
        layer = self._layers.setdefault(name, len(self._layers))
        context = self._stack[-1].context if self._stack else None
        return name, layer, self.observed[name], context

    def _distrust(self, name: str, error: float) -> None:
        self.distrusted[name] = max(error, self.distrusted.get(name, 0.0))

    def _observe(self, call: ObservedCall) -> None:
        observer: Observer | None = self._observer
        if not all(call.finite):
            self._distrust(call.module, math.inf)
            observer = self._not_finite
        if observer is not None:
            with torch.no_grad():
                observer(call)
            self.observed[call.module] += 1


@contextmanager
def intercept(
    model: nn.Module, observer: Observer, not_finite: Observer | None = None
) -> Iterator[Interception]:
    """Call `observer` with every attention call of the model inside the `with` block.

    Calls with NaN or infinity in a head (`call.finite` tells which) go to `not_finite` or nowhere.
    One block at a time: a second one is refused, and a scan in another thread waits for its end.
    """
    check_readable(model)
    with ExitStack() as stack:
        stack.enter_context(in_turn(wait=False))
        if not _in_use.acquire(blocking=False):
            raise InputError("an interception is already running: end it before starting another")
        stack.callback(_in_use.release)
        seen = Interception(model, observer, not_finite)
        enter, leave = here_only(seen.enter_module), here_only(seen.leave_module)
        for module in seen.modules.values():
            before = module.register_forward_pre_hook(enter, with_kwargs=True)
            stack.callback(before.remove)
            after = module.register_forward_hook(leave, with_kwargs=True, always_call=True)
            stack.callback(after.remove)
        _wrap_interface(seen, stack)
        stack.enter_context(uncompiled())
        stack.enter_context(seen.tap)
        yield seen


def _wrap_interface(seen: Interception, stack: ExitStack) -> None:
    from transformers import AttentionInterface

    # `register` is public; taking an entry out again is not, and "eager" has none by default.
    entries = AttentionInterface._global_mapping
    for name in IMPLEMENTATIONS:
        original = entries.get(name)
        AttentionInterface.register(name, _wrapper(seen, name, original))
        if original is None:
            stack.callback(entries.pop, name, None)
        else:
            stack.callback(AttentionInterface.register, name, original)


def _wrapper(
    seen: Interception, implementation: str, original: Callable[..., Any] | None
) -> Callable[..., Any]:
    def watched(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
        function = original if original is not None else eager_function(module)
        if not seen.knows(module):
            return function(module, *args, **kwargs)
        with seen.tap.muted():
            result = function(module, *args, **kwargs)
            arguments = dict(zip(_POSITIONAL, args, strict=False)) | kwargs
            seen.interface_call(module, implementation, arguments, result[0])
        return result

    return watched


def _four_axes(tensor: Tensor | None) -> Tensor | None:
    while tensor is not None and tensor.ndim < 4:
        tensor = tensor.unsqueeze(0)
    return tensor
